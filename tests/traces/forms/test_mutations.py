"""Exports with values of every wrong type in every place."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
from foreign_forms import FOREIGN
from foreign_samples import SAMPLES
from otlp_lines import attributes, batch, chat, span
from reading import read

from pixie_otel.traces.forms import FORMS

ABSENT: Final = object()
WRONG: Final = (None, 5, -1.5, 1e300, "x", True, [], {}, [[]], [{}], {"a": {"b": [1]}}, 10**30, "\ud800", ABSENT)
EVENT: Final = {"timeUnixNano": "5", "name": "an event", "attributes": attributes({"a": 1, "b": [1, 2]})}
DOCUMENTS: Final = [batch(chat(2, parent=1, events=[EVENT]), span(3, parent=1, error="boom"))]


def _written(name: str) -> Any:
    text = FOREIGN[name](DOCUMENTS).decode()
    at = min(text.index(mark) for mark in ("{", "[") if mark in text)
    return json.JSONDecoder().raw_decode(text, at)[0]


EXPORTS: Final = SAMPLES | {name: _written(name) for name in FOREIGN}


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Give the place of every value in a value."""
    yield at
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        yield from places(inner, (*at, key))


def put(document: Any, at: tuple[Any, ...], value: object) -> Any:
    """Put a value into a place of a document."""
    if not at:
        return value
    changed = copy.deepcopy(document)
    owner = changed
    for key in at[:-1]:
        owner = owner[key]
    if value is ABSENT:
        del owner[at[-1]]
    else:
        owner[at[-1]] = value
    return changed


@pytest.mark.parametrize("name", EXPORTS)
def test_no_value_is_too_wrong(name: str) -> None:
    """One that is wrong costs itself at most, and never the reading; every span is accounted for."""
    document = EXPORTS[name]
    wrong = [value for value in WRONG if value is not ABSENT]
    lines = [
        json.dumps(put(document, at, value))
        for number, at in enumerate(places(document))
        # All in all every place and every value, and not every one in every other.
        for value in ([ABSENT] if at and number % 2 else []) + [wrong[number % len(wrong)], wrong[(number + 5) % 13]]
    ]

    reading = read("\n".join(lines))

    assert reading.report.spans_read or reading.report.log_records
    assert sum(source.lines.total for source in reading.report.sources.values()) == len(lines)


def test_every_form_is_tried() -> None:
    """None is left out above."""
    tried = {name for document in EXPORTS.values() for source in _sources(document) for name in source.forms}

    assert tried == {form.name for form in FORMS}


def _sources(document: object) -> Any:
    return read(json.dumps(document)).report.sources.values()
