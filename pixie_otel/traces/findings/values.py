"""Whether values are whole: cut in the middle, only the name of an object, or a history without its beginning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from pixie_otel import attributes as keys
from pixie_otel.attributes import anthropic_sdk
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.values import whole
from pixie_otel.traces.findings.found import Finding, Scene
from pixie_otel.traces.findings.lengths import Lengths
from pixie_otel.traces.spans import LLMSpan, ObserveSpan, ToolSpan

__all__ = ["cut_lengths", "histories", "is_cut_json", "object_names", "values"]

_CLOSING: Final = {"{": "}", "[": "]"}
_OPENING: Final = tuple(_CLOSING)
_SHORTEST_CUT: Final = 16
_MOST_SPACE: Final = 64
_CUT_MESSAGE: Final = "truncated"
_decode: Final = msgspec.json.Decoder().decode
_OBJECT: Final = re.compile(
    r"<[^<>\n]{1,200}(?:<locals>[^<>\n]{1,200})? at 0x[0-9A-Fa-f]{4,16}>|\[object [A-Z]\w{0,60}\]"
)
"""How Python and JavaScript name an object that has no text of its own."""
_WITH_INDEXES: Final = frozenset({"openinference", "openllmetry"})
_FIRST: Final = (f"{keys.LLM_INPUT_MESSAGES}.0.", f"{keys.GENAI_PROMPT}.0.")
_INDEXED: Final = re.compile(
    rf"(?:{re.escape(keys.LLM_INPUT_MESSAGES)}|{re.escape(keys.GENAI_PROMPT)})\.(\d{{1,9}})\.(?:message\.)?\w"
)
_MOST_MISSING: Final = 1
"""OpenInference leaves out the first message of a response that has no instructions, and numbers the others so."""
_ANTHROPIC_LIMIT: Final = "ANTHROPIC_OPEN_TELEMETRY_TRACES_MAX_CONTENT_BYTES=1000000"
_ANTHROPIC_CUT: Final = f"Anthropic's own SDK cuts longer content; raise its limit:\n{_ANTHROPIC_LIMIT}"
_PIXIE_CUT: Final = (
    "pixie-otel cut it to keep the span small; record less, or wrap the part that is judged:\n"
    "wrap(value, purpose='output', name='answer')"
)


def values(scene: Scene) -> Iterator[Finding]:
    """Find observations with values that were cut.

    Args:
        scene: The trace.
    """
    lengths = Lengths()
    for span in scene.spans:
        lengths.add(span)
        cut = cut_lengths(span)
        if cut:
            yield Finding(
                "cut-value", span, "observation", f"with JSON that ends in the middle, after {cut[0]} characters"
            )
        if anthropic_sdk.CONTENT_TRUNCATED in span.attributes:
            said = "whose content the library cut"
            yield Finding("cut-value", span, "observation", said, _ANTHROPIC_CUT)
        if keys.PIXIE_TRUNCATED in span.attributes:
            yield Finding("cut-value", span, "observation", "whose values were cut when they were recorded", _PIXIE_CUT)
    yield from lengths.findings()


def cut_lengths(span: ObserveSpan) -> list[int]:
    """Give the lengths of an observation's values that are JSON without its end.

    Args:
        span: The observation.
    """
    return [
        len(value)
        for value in span.attributes.values()
        # Most values are neither, and only a few of the others need a closer look.
        if isinstance(value, str) and value.startswith(_OPENING) and is_cut_json(value)
    ]


def is_cut_json(value: str) -> bool:
    """Say whether a text begins as JSON and ends before that does.

    What ends with the bracket that it began with is taken for whole without being looked into; so is text that only
    begins with a bracket, and Python's own way of writing values.

    Args:
        value: The text.
    """
    closing = _CLOSING.get(value[:1])
    if closing is None or len(value) < _SHORTEST_CUT or value[-_MOST_SPACE:].rstrip()[-1:] == closing:
        return False
    try:
        _decode(value)
    except msgspec.DecodeError as error:
        return _CUT_MESSAGE in str(error)
    except (RecursionError, UnicodeEncodeError):
        return False
    return False


def object_names(scene: Scene) -> Iterator[Finding]:
    """Find inputs, outputs and results that are the name of an object.

    Args:
        scene: The trace.
    """
    for span in scene.spans:
        for what, value in _judged_values(span):
            if isinstance(value, str) and len(value) < 512 and _OBJECT.fullmatch(value.strip()):
                shown = value.strip()
                said = f"whose {what} is {shown if len(shown) < 100 else shown[:100] + '…'}"
                yield Finding("object-repr", span, "observation", said)
                break


def _judged_values(span: ObserveSpan) -> Iterator[tuple[str, JsonValue]]:
    yield "output", span.output
    if isinstance(span, ToolSpan):
        yield "result", span.result
    yield "input", span.input


def histories(scene: Scene) -> Iterator[Finding]:
    """Find model calls whose messages begin later than with the first.

    Args:
        scene: The trace.
    """
    for call in scene.calls:
        first = _first_index(call)
        if first > _MOST_MISSING or (first and call.dropped_attributes):
            said = f"whose messages begin with number {first}, so that those before it are not there"
            yield Finding("cut-history", call, "model call", said)


def _first_index(call: LLMSpan) -> int:
    if _WITH_INDEXES.isdisjoint(call.dialects) or any(key.startswith(_FIRST) for key in call.attributes):
        return 0
    found = (_INDEXED.match(key) for key in call.attributes)
    return min((whole(match.group(1)) or 0 for match in found if match is not None), default=0)
