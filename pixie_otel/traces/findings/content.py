"""Whether what was said is there: messages, inputs, outputs, documents, token counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.findings.found import Finding, Scene
from pixie_otel.traces.findings.switches import library_of
from pixie_otel.traces.findings.values import cut_lengths
from pixie_otel.traces.messages import (
    AssistantMessage,
    ContentPart,
    ImageContent,
    Message,
    ReasoningContent,
    TextContent,
)
from pixie_otel.traces.spans import LLMSpan, ObservationKind, ObserveSpan, RetrieverSpan

__all__ = ["documents", "is_bare", "model_calls", "roots", "says_something", "unseen_calls"]

_CALL: Final = "model call"
_OFF: Final = "content-off"
_EMPTY: Final[tuple[object, ...]] = (None, "", [], {}, keys.OI_REDACTED)
_STEPS: Final = frozenset(
    {ObservationKind.LLM, ObservationKind.TOOL, ObservationKind.RETRIEVER, ObservationKind.EMBEDDING}
)
_RUNS: Final = frozenset({ObservationKind.AGENT, ObservationKind.CHAIN})
_REFERENCES: Final = tuple(
    f"{key}{suffix}"
    for key in (keys.GENAI_INPUT_MESSAGES, keys.GENAI_OUTPUT_MESSAGES, keys.GENAI_SYSTEM_INSTRUCTIONS)
    for suffix in ("_ref", ".ref")
)
"""Where a call's messages lie outside the file; the conventions have written it both ways."""


def model_calls(scene: Scene) -> Iterator[Finding]:
    """Find model calls of which something is not there.

    Args:
        scene: The trace.
    """
    silent = set(map(id, scene.trace.calls_without_tokens))
    for call in scene.calls:
        found = list(_content(call))
        yield from found
        # Some libraries record the counts within the answer, and nowhere else.
        is_lost = _is_lost(call) or any(finding.kind == _OFF for finding in found)
        if id(call) in silent and call.error is None and not is_lost:
            yield Finding("no-tokens", call, _CALL, "without token counts")


def _content(call: LLMSpan) -> Iterator[Finding]:
    asked = _was_said(call.input_messages, call.input)
    answered = _was_said(call.output_messages, call.output)
    if asked and (answered or call.error is not None):
        return
    if _is_lost(call):
        return
    fix = _switch(call)
    if any(value == keys.OI_REDACTED for value in call.attributes.values()):
        yield Finding("hidden-content", call, _CALL, "whose content was hidden where it was made", fix)
    elif _refers(call):
        yield Finding("external-content", call, _CALL, "whose messages lie outside the file", fix)
    elif not asked and not answered:
        # Of a call that failed, an instrumentation may know nothing else.
        if call.error is None:
            yield Finding(_OFF, call, _CALL, "without what was asked and answered", fix)
    elif answered:
        yield Finding("missing-input", call, _CALL, "with an answer and without what was asked")
    else:
        yield Finding("missing-output", call, _CALL, "without an answer or an error")


def _is_lost(call: LLMSpan) -> bool:
    """Say whether something was recorded and then lost, which is told by itself."""
    return call.dropped_attributes > 0 or bool(cut_lengths(call))


def _refers(call: LLMSpan) -> bool:
    holders: list[Mapping[str, JsonValue]] = [call.attributes, *(event.attributes for event in call.events)]
    return any(key in attributes for attributes in holders for key in _REFERENCES)


def _switch(span: ObserveSpan) -> str | None:
    library = library_of(span)
    return None if library is None else library.fix


def _was_said(messages: tuple[Message, ...], value: JsonValue) -> bool:
    return says_something(messages) if messages else value not in _EMPTY


def says_something(messages: Iterable[Message]) -> bool:
    """Say whether there is content in messages; with capture off, some libraries keep their roles and parts' types.

    Args:
        messages: The messages.
    """
    return any(
        any(map(_is_full, message.content))
        or (isinstance(message, AssistantMessage) and any(call.arguments is not None for call in message.tool_calls))
        for message in messages
    )


def _is_full(part: ContentPart) -> bool:
    match part:
        case TextContent(text=text) | ReasoningContent(text=text):
            return text not in ("", keys.OI_REDACTED)
        case ImageContent(url=url):
            return bool(url)
        case _:
            value = part.value
            return (
                any(item not in _EMPTY for key, item in value.items() if key != "type")
                if isinstance(value, dict)
                else value not in _EMPTY
            )


def documents(scene: Scene) -> Iterator[Finding]:
    """Find retrievals without documents.

    Args:
        scene: The trace.
    """
    for span in scene.retrievals:
        if span.error is None and not _holds_documents(span):
            yield Finding("missing-documents", span, "retrieval", "without the documents that it found", _switch(span))


def _holds_documents(span: RetrieverSpan) -> bool:
    if span.documents:
        return any(document.content not in _EMPTY for document in span.documents)
    # That a list is empty is an answer, too.
    return span.output not in (None, "", keys.OI_REDACTED)


def roots(scene: Scene) -> Iterator[Finding]:
    """Find out whether the run as a whole has an input and an output.

    Args:
        scene: The trace.
    """
    run = scene.judged
    if run is None or is_bare(scene) or not (scene.calls or scene.agents):
        return
    top, first = run.span, scene.trace.roots[0].span
    if isinstance(first, LLMSpan):
        # What is missing of a call is said of the call.
        return
    failed = top.error is not None or first.error is not None
    missing = [
        name
        for name, value, is_needed in (("input", run.input, True), ("output", run.output, not failed))
        if value in _EMPTY and is_needed
    ]
    if missing:
        yield Finding("root-without-io", top, "root", f"without {' and '.join(missing)}")
    elif first.kind in _RUNS and top.kind in _STEPS:
        said = f"without input and output, so that those of {top.name!r} and what came after it stand for the run"
        yield Finding("root-without-io", first, "root", said)


def is_bare(scene: Scene) -> bool:
    """Say whether no model call of a trace holds anything that was said, which then is the one thing to say of it.

    Args:
        scene: The trace.
    """
    calls = [call for call in scene.calls if call.error is None]
    return bool(calls) and not any(
        _was_said(call.input_messages, call.input) or _was_said(call.output_messages, call.output) for call in calls
    )


def unseen_calls(scene: Scene) -> Iterator[Finding]:
    """Find agents that ran without a model call that was recorded.

    Args:
        scene: The trace.
    """
    if scene.calls or scene.trace.counts_elsewhere:
        return
    for agent in scene.agents[:1]:
        if agent.error is None:
            yield Finding("no-model-calls", agent, "agent", "without any model call in its trace")
