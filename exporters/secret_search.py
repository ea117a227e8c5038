"""Credentials in files that exist already, by the rules of `pixie_otel.exporters.redaction`.

Whatever is in a file is looked at, and not only what can be read as traces: a torn line may hold a key as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, cast

from pixie_otel.exporters.otlp_cleaning import plain_value
from pixie_otel.exporters.secret_cleaning import Cleaner, may_hold_credential
from pixie_otel.exporters.secret_names import is_secret_name
from pixie_otel.traces.documents import iter_documents
from pixie_otel.traces.files import Source, open_source
from pixie_otel.traces.limits import ReadLimits
from pixie_otel.traces.lines import iter_lines, looks_like_lines, split_joined
from pixie_otel.traces.report import ReadReport
from pixie_otel.traces.stored import SourceBytes

__all__ = ["FoundSecret", "find_in_source"]

# What a torn line still holds of an attribute; its value may be where the line was torn.
_TEXT: Final = r'"((?:[^"\\]|\\.)*+)'
_ATTRIBUTE: Final = re.compile(
    rf'"key"\s{{0,4}}:\s{{0,4}}{_TEXT}"\s{{0,4}},\s{{0,4}}"value"\s{{0,4}}:\s{{0,4}}\{{\s{{0,4}}"stringValue"\s{{0,4}}:'
    rf"\s{{0,4}}{_TEXT}"
)


class FoundSecret(NamedTuple):
    """A credential, and where it is."""

    kind: str
    """The kind of credential, or ``by-name``."""
    secret: str
    """The credential itself: not to be shown."""
    source: str
    """The file, as the user named it."""
    line: int
    """The line in which it stands, or in which the document begins that holds it."""
    trace_id: str = ""
    """The trace of the span that holds it; empty where it is in none."""
    span_id: str = ""
    """The span that holds it; empty where it is in none."""
    attribute: str = ""
    """The attribute or the field that holds it; empty where the line could not be read."""


def find_in_source(source: Source, limits: ReadLimits, report: ReadReport, *, names: bool) -> Iterator[FoundSecret]:
    """Find the credentials in a file.

    Args:
        source: The file.
        limits: Bounds of reading.
        report: Told of every line, and of what could not be read.
        names: Whether what stands under the name of a credential is one.

    Raises:
        InputError: The file cannot be opened.
    """
    with open_source(source, limits=limits, report=report) as opened:
        search = _Search(opened.name, names=names)
        if looks_like_lines(opened, limits):
            for line in iter_lines(opened, limits, report):
                parts = [line] if _parsed(line.data) is not None else split_joined(line)
                for part in parts:
                    yield from search.look(part.data, part.number)
        else:
            for document in iter_documents(opened, limits, report):
                yield from search.look(document.data, document.number)
            if report.source(opened.name).documents.skipped:
                yield from search.look_at_rest(opened, limits)


class _Search:
    """The search through one file."""

    def __init__(self, source: str, *, names: bool) -> None:
        self._source = source
        self._cleaner = Cleaner(self._tell, names=names)
        self._names = names
        self._found: list[FoundSecret] = []
        self._known: set[str] = set()
        self._line = 0
        self._place = ("", "", "")

    def look(self, data: bytes, line: int) -> Iterator[FoundSecret]:
        """Look at a line or a document, whatever it is."""
        self._found, self._line, self._place = [], line, ("", "", "")
        if may_hold_credential(data) or b'"bytesValue"' in data:
            parsed = _parsed(data)
            try:
                if parsed is None:
                    self._look_at_text(data.decode("utf-8", "replace"))
                else:
                    self._walk(parsed, "", "", "")
            except RecursionError:
                self._look_at_text(data.decode("utf-8", "replace"))
        self._known.update(found.secret for found in self._found)
        yield from self._found

    def look_at_rest(self, opened: SourceBytes, limits: ReadLimits) -> Iterator[FoundSecret]:
        """Look at all lines of a file once more, for what stands in no document that could be read."""
        known = set(self._known)
        for line in iter_lines(opened, limits, ReadReport()):
            yield from (found for found in self.look(line.data, line.number) if found.secret not in known)

    def _tell(self, kind: str, secret: str) -> None:
        self._found.append(FoundSecret(kind, secret, self._source, self._line, *self._place))

    def _look_at_text(self, text: str) -> None:
        found: dict[tuple[str, str], FoundSecret] = {}
        for match in _ATTRIBUTE.finditer(text):
            self._place = "", "", _unescaped(match[1])
            self._cleaner.value(self._place[2], _unescaped(match[2]))
        self._place = "", "", ""
        self._cleaner.text(text, 0)
        for each in self._found:
            found.setdefault((each.kind, each.secret), each)
        self._found = list(found.values())

    def _walk(self, value: object, name: str, trace_id: str, span_id: str) -> None:
        if isinstance(value, Mapping):
            fields = cast("Mapping[str, object]", value)
            trace_id = _text(fields, "traceId", "trace_id") or trace_id
            span_id = _text(fields, "spanId", "span_id") or span_id
            key = fields.get("key")
            if isinstance(key, str) and "value" in fields:
                self._clean(key, plain_value(fields["value"]), trace_id, span_id)
                self._clean("", key, trace_id, span_id)
                return
            for field, inner in fields.items():
                if self._names and is_secret_name(field):
                    self._clean(field, inner, trace_id, span_id)
                else:
                    self._walk(inner, field, trace_id, span_id)
            return
        items = _list(value)
        if any(isinstance(item, dict | list) for item in items):
            for item in items:
                self._walk(item, name, trace_id, span_id)
        else:
            self._clean(name, value, trace_id, span_id)

    def _clean(self, name: str, value: object, trace_id: str, span_id: str) -> None:
        self._place = trace_id, span_id, name
        self._cleaner.value(name, value)


def _parsed(data: bytes) -> object:
    """Parse JSON; ``None`` for what is none."""
    try:
        return cast("object", json.loads(data, object_pairs_hook=_unique))
    except (ValueError, RecursionError):
        return None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice, and each may hold something else")
    return found


def _text(fields: Mapping[str, object], *names: str) -> str:
    return next((value for name in names if isinstance(value := fields.get(name), str)), "")


def _unescaped(text: str) -> str:
    try:
        return cast("str", json.loads(f'"{text}"'))
    except ValueError:
        return text


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
