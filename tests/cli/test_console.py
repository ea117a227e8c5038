"""The command's two streams."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping

import pytest

from pixie_otel.cli.console import Console


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def written(encoding: str, *lines: str) -> str:
    """Write lines to a stream of an encoding and give what arrives."""
    data = io.BytesIO()
    stream = io.TextIOWrapper(data, encoding=encoding, newline="")
    assert Console(stream, io.StringIO()).write(lines)
    return data.getvalue().decode(encoding)


def test_signs_have_plain_forms() -> None:
    """Where an encoding lacks the signs of trees and cuts, plain ones stand for them, and escapes for all else."""
    assert written("ascii", "└─ é …") == "`- \\xe9 ...\n"
    assert written("utf-8", "└─ é …") == "└─ é …\n"
    assert written("cp1252", "└─ é 漢") == "`- é \\u6f22\n"


def test_half_characters_arrive_as_escapes() -> None:
    """Half a surrogate pair is no reason to stop."""
    assert written("utf-8", "a\udc80b") == "a\\udc80b\n"


@pytest.mark.parametrize(
    ("environment", "colors_files", "colors_terminals"),
    [
        ({}, False, True),
        ({"TERM": "dumb"}, False, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, False, True),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
    ],
)
def test_colors(environment: Mapping[str, str], colors_files: bool, colors_terminals: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Terminals get colours and files do not, unless the environment says otherwise."""
    assert Console(io.StringIO(), io.StringIO(), environment).style.color is colors_files
    assert Console(Terminal(), io.StringIO(), environment).style.color is colors_terminals


def test_talk_is_made_printable() -> None:
    """What is said cannot steer the terminal, and keeps its lines."""
    err = io.StringIO()

    Console(io.StringIO(), err, {}).say("one\n\x1b]0;two\x07")

    assert err.getvalue() == "one\n\\x1b]0;two\\x07\n"


@pytest.mark.parametrize(
    ("environment", "shows"), [({}, True), ({"CI": "true"}, False), ({"CI": "false"}, True), ({"TERM": "dumb"}, False)]
)
def test_progress_is_for_people(environment: Mapping[str, str], shows: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Progress shows on a terminal, and neither in a file nor on a build server."""
    assert Console(io.StringIO(), Terminal(), environment).shows_progress is shows
    assert not Console(io.StringIO(), io.StringIO(), environment).shows_progress


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
def test_a_reader_that_left_ends_the_output() -> None:
    """When nobody reads any more, writing stops, and nothing complains, now or when the stream is closed."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as stream:
        console = Console(stream, io.StringIO())

        assert not console.write(["one", "two"])
        assert not console.write(["three"])
