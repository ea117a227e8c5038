"""Programs in a process of their own, for facts about signals, forks and exits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

TIME_LIMIT = 300
"""After how many seconds a program is taken to hang."""


def start_program(program: str | Path, *arguments: object) -> subprocess.Popen[str]:
    """Start a Python program, text or a file, that has the tests' helpers at hand."""
    how = [os.fspath(program)] if isinstance(program, Path) else ["-c", program]
    return subprocess.Popen(
        [sys.executable, *how, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        start_new_session=True,
    )


def end_of(process: subprocess.Popen[str]) -> str:
    """Wait for a program, which must end well, and give what it printed."""
    with process:
        try:
            output, errors = process.communicate(timeout=TIME_LIMIT)
        except BaseException:
            # With its children, which would hold on to what it prints into.
            if hasattr(os, "killpg"):
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            raise
    assert process.returncode == 0, errors
    return output


def run_program(program: str | Path, *arguments: object) -> str:
    """Run a Python program, and give what it prints; it must end well."""
    return end_of(start_program(program, *arguments))
