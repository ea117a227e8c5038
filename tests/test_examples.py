"""The examples: they run as they stand, offline, and what they leave behind can be shown and judged."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from pixie_otel import AgentSpan, EmbeddingSpan, LLMSpan, RetrieverSpan, ToolSpan, Trace, read_traces, root
from pixie_otel.exporters.otlp_receiver import OtlpReceiver

ROOT = Path(__file__).parents[1]
BOT = ROOT / "examples" / "support_bot"
QUESTIONS = ("How many days does a refund take?", "Where is my order A-1042?", "Do you ship to every country?")
REPLIES = (
    "A refund takes five business days from the day on which the parcel is back.",
    "Your order A-1042 is shipped and arrives on Thursday.",
    "We ship to every country in Europe; a parcel is there after two to four days.",
)


def environment(**more: str) -> dict[str, str]:
    """Give an environment without settings of telemetry and without keys, and with a proxy that leads nowhere."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("OTEL_", "PIXIE_", "OPENAI_"))}
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
    return {**kept, **proxies, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "80", **more}


def run(folder: Path, *command: object, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=folder,
        env=environment(**more),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def check_traces(traces: list[Trace], service: str) -> None:
    """Check the trees of the three questions, and what is judged of them."""
    traces.sort(key=lambda trace: QUESTIONS.index(root(trace).eval_input[0].value["question"]))
    trees = []
    for trace, question, reply in zip(traces, QUESTIONS, REPLIES, strict=True):
        # FastAPI may put spans of its own above the bot's.
        (top,) = trace.roots
        (node,) = top.find_by_type(AgentSpan)
        assert (node.span.name, node.span.error, trace.problems) == ("answer", None, ())
        assert node.span.resource["service.name"] == service
        trees.append([child.span.name for child in node.children])
        judged = root(trace)
        assert [(item.name, item.value) for item in judged.eval_output or ()] == [("reply", reply)]
        given = {item.name: item.value for item in judged.eval_input}
        assert given["input"] == {"question": question}
        assert len(given["docs"]) == 2
        assert judged.retrieval_context
        (search,) = node.find_by_type(RetrieverSpan)
        assert [type(child.span) for child in search.children] == [EmbeddingSpan]

    plain = ["search", "docs", "ChatCompletion", "reply"]
    assert trees == [
        plain,
        ["search", "docs", "ChatCompletion", "lookup_order", "ChatCompletion", "reply"],
        plain,
    ]
    with_tool = traces[1]
    (tool,) = with_tool.roots[0].find_by_type(ToolSpan)
    assert tool.span.result == {"order": "A-1042", "status": "shipped", "arrives": "on Thursday"}
    assert [call.name for call in root(with_tool).tools_called or ()] == ["lookup_order"]
    first, last = with_tool.llm_calls
    assert isinstance(first, LLMSpan)
    assert (first.finish_reasons, last.finish_reasons) == (("tool_calls",), ("stop",))
    assert (first.provider, first.request_model) == ("openai", "gpt-4o-mini")
    assert first.input_tokens and last.output_tokens  # noqa: PT018 - both are there


def test_runs_in_plain_python(tmp_path: Path) -> None:
    """The bot answers three questions; their traces hold the whole tree, and pass when they are judged."""
    done = run(tmp_path, BOT / "run.py")

    assert (done.returncode, done.stderr) == (0, "")
    assert [line.strip() for line in done.stdout.splitlines()] == [
        *(text for pair in zip(QUESTIONS, REPLIES, strict=True) for text in pair),
        "",
        "What happened: pixie-otel show traces/",
    ]
    check_traces(list(read_traces(tmp_path / "traces")), "support-bot")
    shown = run(tmp_path, "-m", "pixie_otel", "show", "traces/")
    assert shown.returncode == 0
    assert "lookup_order [tool]" in shown.stdout
    judged = run(tmp_path, "-m", "pixie_otel", "eval", "traces/")
    assert judged.returncode == 0
    assert judged.stdout.startswith("PASSED: 3 of 3 judged cases passed\n")


def test_runs_inside_fastapi(tmp_path: Path) -> None:
    """Each request to the server is a trace of its own, with the same tree, with the same tree of the bot's."""
    process = subprocess.Popen(
        [sys.executable, str(BOT / "server.py"), "0"],
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    with process:
        try:
            assert process.stderr is not None
            address = next(
                word for line in process.stderr for word in line.split() if word.startswith("http://127.0.0.1:")
            )
            replies = tuple(ask(address, question) for question in QUESTIONS)
        finally:
            process.terminate()
        process.communicate()

    assert replies == REPLIES
    check_traces(list(read_traces(tmp_path / "traces")), "support-bot-api")
    judged = run(tmp_path, "-m", "pixie_otel", "eval", "traces/", "--service", "support-bot-api", "-q")
    assert (judged.returncode, judged.stdout) == (0, "PASSED: 3 of 3 judged cases passed\n")


def ask(address: str, question: str) -> str:
    """Ask the server."""
    body = json.dumps({"question": question}).encode()
    request = urllib.request.Request(f"{address}/ask", body, {"Content-Type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=60) as answer:
        reply = json.load(answer)["reply"]
        assert isinstance(reply, str)
        return reply


def test_what_is_recorded_is_what_is_written(tmp_path: Path) -> None:
    """The bot's spans that went by OTLP to a receiver are those of its file."""
    with OtlpReceiver(tmp_path / "received.jsonl", port=0) as receiver:
        done = run(tmp_path, BOT / "run.py", PIXIE_OTEL_ENDPOINT=receiver.endpoint, NO_PROXY="127.0.0.1")

    assert (done.returncode, done.stderr) == (0, "")
    check_traces(list(read_traces(tmp_path / "received.jsonl")), "support-bot")
    written, sent = ([trace.roots for trace in read_traces(tmp_path / name)] for name in ("traces", "received.jsonl"))
    assert written == sent


def documented(line_of: Callable[[str], bool]) -> list[str]:
    """Give the commands of the examples' README."""
    lines = (ROOT / "examples" / "README.md").read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.startswith("    ") and line_of(line)]


def test_the_commands_of_the_readme_run(tmp_path: Path) -> None:
    """Every command of the README that needs no other terminal ends with 0, in the order in which they stand there."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    commands = documented(lambda line: ("run.py" in line or "pixie-otel" in line) and "pip" not in line)
    assert len(commands) == 8
    for command in commands:
        if "record" in command or "support-bot-api" in command:
            continue
        words = command.replace("pixie-otel", "-m pixie_otel").removeprefix("python ").split()
        done = run(tmp_path, *words)
        assert done.returncode == 0, (command, done.stderr)


@pytest.mark.parametrize("name", ["bot.py", "run.py", "server.py", "pages.py", "model.py"])
def test_the_readme_names_every_file(name: str) -> None:
    """The README tells what each file of the bot is for."""
    assert (BOT / name).is_file()
    assert f"`{name}`" in (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
