"""The fixtures, in a pytest run of their own, as a user's project has it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

USERS = """
import openai
import pixie_otel as pixie
import pytest

pytestmark = pytest.mark.filterwarnings("error")


@pixie.observe(kind="agent")
def ask(question):
    client = openai.OpenAI()
    try:
        answer = client.chat.completions.create(model="gpt-4o-mini", messages=[{"role": "user", "content": question}])
    finally:
        client.close()
    return answer.choices[0].message.content


@pytest.mark.parametrize("reply", ["Paris.", "Rome."])
def test_one(captured_traces, openai_stub, reply):
    openai_stub.script([reply])
    assert ask("Where?") == reply
    (trace,) = captured_traces.get_all_traces().values()
    assert [node.span.name for node in trace.roots] == ["ask"]
    assert trace.llm_calls[0].output_messages[0].text == reply
    assert openai_stub.requests[0].body["messages"][0]["content"] == "Where?"


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_async(openai_stub):
    async with pixie.capture_traces() as traces:
        assert ask("Where?") == "Hello from the stub."
    (trace,) = traces.get_all_traces().values()
    assert len(trace.llm_calls) == 1


def test_none(captured_traces):
    assert not captured_traces.get_all_traces()
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={key: value for key, value in os.environ.items() if not key.startswith(("OTEL_", "PIXIE_", "OPENAI_"))},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_the_fixtures_capture_and_answer(tmp_path: Path) -> None:
    """A test with both fixtures sees its own trace with the stub's answer, and nothing of other tests."""
    (tmp_path / "test_users.py").write_text(USERS, encoding="utf-8")

    done = run(tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout
    assert not (tmp_path / "traces").exists()


def test_the_fixtures_are_told_of(tmp_path: Path) -> None:
    """`pytest --fixtures` lists both, with what they are for."""
    done = run(tmp_path, "--fixtures")

    assert "captured_traces -- " in done.stdout
    assert "openai_stub -- " in done.stdout
    assert "What is traced while the test runs" in done.stdout


def test_costs_a_run_without_it_nothing() -> None:
    """The plugin, which every pytest run loads, loads pytest and nothing else of the package or of telemetry."""
    program = (
        "import sys, pixie_otel.pytest_plugin\n"
        "ours = {name for name in sys.modules if name.startswith('pixie_otel')}\n"
        "print(sorted(ours | {'opentelemetry', 'openai', 'pydantic', 'msgspec'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True)

    assert done.stdout.strip() == "['pixie_otel', 'pixie_otel.pytest_plugin']"


def test_the_stub_is_what_clients_ask(openai_stub: object) -> None:
    """The environment asks the stub while the test runs."""
    from pixie_otel.testing import OpenAIStub

    assert isinstance(openai_stub, OpenAIStub)
    assert os.environ["OPENAI_BASE_URL"] == openai_stub.base_url


def test_names_of_the_kit() -> None:
    """The kit's names are those it lists, each loaded when it is first used."""
    from pixie_otel import testing

    assert set(testing.__all__) <= set(dir(testing))
    assert all(getattr(testing, name).__name__ == name for name in testing.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        testing.nothing  # noqa: B018 - looking it up is the test
