"""Small programs that are run as processes of their own, as what they do holds for a whole process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pixie_otel.traces.reader import read_traces
from pixie_otel.traces.spans import ObserveSpan

__all__ = ["environment", "run_program", "start_program", "written_spans"]

_SECONDS = 60.0


def environment(**variables: str) -> dict[str, str]:
    """Give this process's environment without anything that steers tracing, and with some variables."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PIXIE_", "OTEL_", "OPENINFERENCE_"))
    }
    return {**kept, "PYTHONWARNINGS": "error", **variables}


def start_program(
    program: str, folder: Path, variables: Mapping[str, str] | None = None, *arguments: str
) -> subprocess.Popen[str]:
    """Start a program in a folder, with pipes to talk to it.

    Args:
        program: Its source, which may be indented as a whole.
        folder: Where it runs.
        variables: Its environment, beside what every process has.
        arguments: What it is called with.
    """
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        cwd=folder,
        env=environment(**(variables or {})),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_program(
    program: str, folder: Path, variables: Mapping[str, str] | None = None, *arguments: str, status: int = 0
) -> tuple[str, str]:
    """Run a program to its end, and give what it wrote to stdout and to stderr.

    Args:
        program: Its source, which may be indented as a whole.
        folder: Where it runs.
        variables: Its environment, beside what every process has.
        arguments: What it is called with.
        status: The exit status that it must have.
    """
    process = start_program(program, folder, variables, *arguments)
    try:
        out, err = process.communicate(timeout=_SECONDS)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == status, f"status {process.returncode}\n{out}\n{err}"
    return out, err


def written_spans(path: Path) -> list[ObserveSpan]:
    """Read the spans that were written to a file or a folder, whole lines only."""
    if not path.exists():
        return []
    for file in sorted(path.glob("*")) if path.is_dir() else [path]:
        for line in file.read_bytes().splitlines(keepends=True) if file.suffix == ".jsonl" else []:
            assert line.endswith(b"\n")
            _: Any = json.loads(line)
    return [span for trace in read_traces(path) for span in trace.spans]
