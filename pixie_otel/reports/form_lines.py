"""What files were that are not OTLP JSON, and were converted on reading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pixie_otel.evaluable import JsonValue
from pixie_otel.reports.layout import wrapped
from pixie_otel.reports.printable import printable

__all__ = ["form_lines"]


def form_lines(reading: Mapping[str, JsonValue], width: int) -> Iterator[str]:
    """Say, once a form, which files were converted; nothing where none was.

    Args:
        reading: The account of a reading, as `ReadReport.to_json` gives it.
        width: How many cells a line has.
    """
    files: dict[str, list[str]] = {}
    sources = reading.get("sources")
    for source in sources if isinstance(sources, list) else []:
        forms = source.get("forms") if isinstance(source, dict) else None
        for form in sorted(forms) if isinstance(forms, dict) and isinstance(source, dict) else []:
            files.setdefault(form, []).append(str(source.get("name")))
    for form, (first, *others) in files.items():
        more = f" and {len(others)} more" if others else ""
        yield from wrapped(printable(f"{first}{more}: converted from {form}"), width)
