"""The check for credentials in what was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from pixie_otel.evals.evaluation import Evaluation, Severity
from pixie_otel.evals.evaluators.checks.check import Finding, TraceCheck, clean, found
from pixie_otel.evals.evaluators.checks.wording import counted, listed, shortened
from pixie_otel.evaluable import Evaluable, JsonValue
from pixie_otel.secrets import find_secrets, mask_secret, may_hold_secret

if TYPE_CHECKING:
    from pixie_otel.traces.spans import ObserveSpan
    from pixie_otel.traces.trace import Trace

__all__ = ["NoSecrets"]

_SHORTEST: Final = 16
"""Less JSON than this holds no credential: most spans have no events, and say so in two bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSecrets(TraceCheck):
    """No API key, token, private key or password stands in the recorded text.

    Attributes, events, log records, error messages and the root spans' resources are searched; for the kinds see
    `pixie_otel.secrets`. Of what is found only the first four characters are shown.
    """

    name: ClassVar[str] = "NoSecrets"

    severity: Severity = Severity.FAIL

    def __call__(self, _: Evaluable, /, trace: Trace) -> Evaluation:
        """Check one case."""
        findings: list[Finding] = []
        different: dict[str, str] = {}
        for span, place, text in _suspicious(trace):
            for match in find_secrets(text):
                secret = text[match.start : match.end]
                shown = mask_secret(secret)
                different.setdefault(secret, f"{match.pattern} {shown} in {shortened(place, 80)} (span {span.span_id})")
                findings.append(
                    {"pattern": match.pattern, "secret": shown, "span_id": span.span_id, "attribute": place}
                )
        if not findings:
            return clean("no credential was found")
        places = f", in {counted(len(findings), 'place')}" if len(findings) > len(different) else ""
        told = listed([*different.values()])
        return found(f"{counted(len(different), 'credential')} in the recorded text{places}: {told}", findings)


def _suspicious(trace: Trace) -> Iterator[tuple[ObserveSpan, str, str]]:
    """Give the texts of all spans that may hold a credential, with the place of each."""
    for node in trace.walk():
        wire = node.wire_bytes()
        # A span that came from no file has nothing undecoded to search.
        if not wire or any(len(part) >= _SHORTEST and may_hold_secret(part) for part in wire):
            span = node.span
            for place, text in _texts(span):
                yield span, place, text
    for root in trace.roots:
        for place, text in _strings("resource", root.span.resource):
            if len(text) >= _SHORTEST:
                yield root.span, place, text


def _texts(span: ObserveSpan) -> Iterator[tuple[str, str]]:
    for key, value in span.attributes.items():
        yield from _strings(key, value)
    for event in span.events:
        for key, value in event.attributes.items():
            yield from _strings(f"event {event.name}: {key}", value)
        yield from _strings(f"event {event.name}: body", event.body)
    if span.error is not None:
        yield "status.message", span.error.message


def _strings(place: str, value: JsonValue) -> Iterator[tuple[str, str]]:
    """Give all texts within a value, each with its path."""
    pending = [(place, value)]
    while pending:
        path, inner = pending.pop()
        if isinstance(inner, str):
            yield path, inner
        elif isinstance(inner, list):
            pending.extend((f"{path}[{index}]", item) for index, item in reversed([*enumerate(inner)]))
        elif isinstance(inner, dict):
            pending.extend((f"{path}.{key}", item) for key, item in reversed([*inner.items()]))
