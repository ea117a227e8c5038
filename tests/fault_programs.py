"""Programs in a process of their own, for facts about signals, forks and exits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TIME_LIMIT = 300
"""After how many seconds a program is taken to hang."""


def start_program(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a Python program that has the tests' helpers at hand."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
    )


def run_program(code: str, *arguments: object) -> str:
    """Run a Python program, and give what it prints; it must end well."""
    with start_program(code, *arguments) as process:
        try:
            output, errors = process.communicate(timeout=TIME_LIMIT)
        except BaseException:
            process.kill()
            raise
    assert process.returncode == 0, errors
    return output
