"""What files were that are not OTLP JSON, and were converted on reading."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from pixie_otel.reports.layout import wrapped
from pixie_otel.reports.printable import printable

__all__ = ["form_lines"]


class _Source(Struct):
    name: str
    forms: dict[str, int] = {}


class _Reading(Struct):
    sources: list[_Source] = []


def form_lines(reading: object, width: int) -> Iterator[str]:
    """Say, once a form, which files were converted; nothing where none was.

    Args:
        reading: The account of a reading, as `ReadReport.to_json` gives it.
        width: How many cells a line has.
    """
    files: dict[str, list[str]] = {}
    for source in msgspec.convert(reading, _Reading).sources:
        for form in sorted(source.forms):
            files.setdefault(form, []).append(source.name)
    for form, (first, *others) in files.items():
        more = f" and {len(others)} more" if others else ""
        yield from wrapped(printable(f"{first}{more}: converted from {form}"), width)
