"""Standard output kept for results: what users' evaluators print, or their programs, must not get between them."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Generator
from typing import TextIO

__all__ = ["results_only"]


@contextlib.contextmanager
def results_only() -> Generator[TextIO]:
    """Send what anybody writes to stdout to stderr, but for those who use the stream that this gives.

    That holds below Python too, for programs that evaluators start and for libraries written in C.

    Yields:
        A stream to the stdout that was there before.
    """
    out, err = sys.stdout, sys.stderr
    with contextlib.redirect_stdout(err):
        try:
            number, other = out.fileno(), err.fileno()
        except (AttributeError, OSError, ValueError):
            # It is closed, or an object of Python's alone, as in tests and notebooks.
            yield out
            return
        out.flush()
        kept = os.dup(number)
        os.dup2(other, number)
        try:
            with open(kept, "w", encoding=out.encoding, errors=out.errors, closefd=False) as results:
                yield results
        finally:
            os.dup2(kept, number)
            os.close(kept)
