"""The README: what it shows is what happens."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_calls import Pixie

from pixie_otel.testing import OpenAIStub

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
RUN_ID = re.compile(r"\d{8}-\d{6}-\w{6}")


def blocks(language: str) -> list[str]:
    """Give the README's code of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def files() -> dict[str, str]:
    """Give the README's files of Python by their names, which stand in their first lines."""
    return {block.split()[1]: block for block in blocks("python") if block.startswith("# ")}


@pytest.fixture
def checkout(folder: Path) -> Path:
    """A folder with what the README's commands need beside the package."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    (folder / "tone.py").write_text(files()["tone.py"], encoding="utf-8")
    return folder


def test_shows_what_the_example_prints(checkout: Path, pixie: Pixie) -> None:
    """The output in the README is that of the command before it, which passes with a warning."""
    shown, tree = blocks("text")

    done = pixie("eval", "examples/traces/support-bot.jsonl")

    assert done.code == 0
    assert " warns: " in done.out
    assert RUN_ID.sub("", done.out) == RUN_ID.sub("", shown)
    assert pixie("show", "examples/traces/support-bot.jsonl", "--trace", "175046bf").out == tree


def test_the_python_runs(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every block of Python that is no part of the app runs as it stands."""
    for block in blocks("python"):
        if "app.py" not in block.splitlines()[0]:
            exec(compile(block, "README.md", "exec"), {"__name__": "readme"})

    assert "PASSED: 8 of 8 judged cases passed 0" in capsys.readouterr().out


def test_the_instrumented_app_runs(folder: Path, pixie: Pixie) -> None:
    """The README's app, with OpenAI's stand-in, writes traces that the next commands show and judge; its tests pass."""
    for name in ("app.py", "test_app.py"):
        (folder / name).write_text(files()[name], encoding="utf-8")

    with OpenAIStub(["Refunds take 5 business days."]) as stub:
        done = run("app.py", **stub.env())

    assert (done.returncode, done.stdout, done.stderr) == (0, "Refunds take 5 business days.\n", "")
    assert pixie("show", "traces/").out.count("answer [agent]") == 1
    assert pixie("eval", "traces/").code == 0

    tested = run("-m", "pytest", "-q", "-p", "no:randomly", "test_app.py")

    assert "2 passed" in tested.stdout, tested.stdout + tested.stderr


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the current folder."""
    return subprocess.run(
        [sys.executable, *arguments], env=os.environ | variables, capture_output=True, text=True, check=False
    )


def commands() -> list[str]:
    """Give the README's commands, without those that install."""
    lines = [line.partition(" #")[0].strip() for block in blocks("sh") for line in block.splitlines()]
    return [line for line in lines if "pixie-otel" in line and "pip install" not in line]


@pytest.mark.parametrize("command", commands())
def test_the_commands_run(command: str, checkout: Path, pixie: Pixie, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command of the README does what it is there for, on the example's traces."""
    example = checkout / "examples" / "traces" / "support-bot.jsonl"
    shutil.copy(example, "traces.jsonl")
    shutil.copytree(example.parent, "exports")
    shutil.copytree(example.parent, "older")
    shutil.copytree(example.parent, "traces")
    # There may be no node here; this one sends nothing.
    (checkout / "node").write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    (checkout / "node").chmod(0o700)
    monkeypatch.setenv("PATH", str(checkout), prepend=os.pathsep)
    (expectations,) = blocks("csv")
    (checkout / "expected.csv").write_text(expectations, encoding="utf-8")
    (checkout / "answers.csv").write_text("input,output,expectation\nq,a,a\n", encoding="utf-8")
    words = shlex.split(command.partition(" > ")[0].replace("older/*.jsonl.gz", "older/*.jsonl"))
    with example.open(encoding="utf-8") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        done = pixie(*words[words.index("pixie-otel") + 1 :])

    # The traces are as old as the example is, so that an age may leave none; and in one of them a tool failed.
    expected = {0, 3} if "--since" in words else {1} if "ToolsSucceeded:severity=fail" in words else {0}
    assert done.code in expected, done


def test_its_settings_are_settings(checkout: Path, pixie: Pixie) -> None:
    """The README's settings are such as the command takes."""
    (settings,) = blocks("toml")
    (checkout / "pyproject.toml").write_text(settings, encoding="utf-8")
    (checkout / "evals").mkdir()
    shutil.move("tone.py", "evals/tone.py")

    done = pixie("eval", "examples/traces/support-bot.jsonl")

    assert done.code == 0
    assert "polite" in done.out


def test_its_links_lead_somewhere() -> None:
    """What the README points at is there."""
    targets = re.findall(r"\]\(([^)]+)\)", README)

    assert targets
    assert all((ROOT / target).exists() for target in targets)


def test_every_promise_names_a_test() -> None:
    """The tests that the README names as proofs stand in the files that it names."""
    named = re.findall(r"\[(test_\w+)\]\((tests/[^)]+)\)", README)

    assert len(named) > 15
    assert [name for name, file in named if f"def {name}(" not in (ROOT / file).read_text(encoding="utf-8")] == []
