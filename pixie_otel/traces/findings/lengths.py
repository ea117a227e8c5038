"""Whether values were cut at a limit of their length: several that are all the longest there is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from pixie_otel.traces.findings.found import Finding
from pixie_otel.traces.spans import ObserveSpan

__all__ = ["Lengths"]

_LEAST_LENGTH: Final = 64
"""Ids and digests are all of one length, too."""
_LEAST_VALUES: Final = 3
_MOST_KEPT: Final = 16
_MOST_SERVICES: Final = 64
_LAST: Final = (".", "?", "!", "}", "]", ")", ">", '"', "'", "`")
"""How sentences and documents end; what is cut ends so by chance only."""


class _Longest(Struct):
    """The longest values of one service: how long they are, and some of those that differ."""

    length: int = 0
    hashes: set[int] = set()
    span: ObserveSpan | None = None
    order: tuple[int, str] = (0, "")


def _ends_well(value: str) -> bool:
    return value.endswith(_LAST) and not value.endswith("...")


class Lengths:
    """Watches how long values are, in memory that does not grow with their number.

    A limit holds for a process, so each service is watched for itself.
    """

    def __init__(self) -> None:
        self._services: dict[str, _Longest] = {}

    def add(self, span: ObserveSpan) -> None:
        """Look at the values of an observation.

        Args:
            span: The observation.
        """
        texts = [value for value in span.attributes.values() if isinstance(value, str)]
        longest = self._services.get(service := span.service_name or "")
        if longest is None:
            if len(self._services) >= _MOST_SERVICES:
                return
            longest = self._services[service] = _Longest()
        least = max(longest.length, _LEAST_LENGTH)
        for text in texts:
            if len(text) >= least:
                self._take(longest, text, span)
                least = max(longest.length, _LEAST_LENGTH)

    def _take(self, longest: _Longest, value: str, span: ObserveSpan) -> None:
        order = span.start_time_unix_nano, span.span_id
        if len(value) > longest.length:
            longest.length, longest.hashes, longest.span, longest.order = len(value), set(), span, order
        if " " in value and not _ends_well(value) and len(longest.hashes) < _MOST_KEPT:
            longest.hashes.add(hash(value))
        if order < longest.order:
            longest.span, longest.order = span, order

    def findings(self) -> Iterator[Finding]:
        """Say where values seem to have been cut."""
        for longest in self._services.values():
            if longest.span is not None and len(longest.hashes) >= _LEAST_VALUES:
                said = (
                    f"with values of {longest.length} characters, as long as several others and longer than none: "
                    "they seem to be cut there"
                )
                yield Finding("cut-value", longest.span, "observation", said)
