"""The line that shows how far a run is."""

from __future__ import annotations

import io

import pytest
from case_results import case_result

from pixie_otel.cli.console import Console
from pixie_otel.cli.progress import Progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def test_shows_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts cases and what needs a look, no more often than it can be read, and is gone at the end."""
    clock = iter([1.0, 1.0, 1.05, 1.2, 1.2])
    monkeypatch.setattr("pixie_otel.cli.progress.monotonic", lambda: next(clock))
    err = Terminal()

    with Progress(Console(io.StringIO(), err, {}), shown=True) as progress:
        for number, outcome in enumerate(("passed", "failed", "error")):
            progress.add(case_result(str(number), outcome))

    shown = err.getvalue().split("\r\x1b[2K")
    assert shown == ["", "Reading …", "Judged 1 …", "Judged 3, 1 failed, 1 error …", ""]


@pytest.mark.parametrize(("stream", "shown"), [(Terminal(), False), (io.StringIO(), True)])
def test_shows_nothing_where_nobody_sees_it(stream: io.StringIO, shown: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """It is silent when not wanted, and where there is no terminal."""
    with Progress(Console(io.StringIO(), stream, {}), shown=shown) as progress:
        progress.add(case_result("a", "passed"))

    assert not stream.getvalue()
