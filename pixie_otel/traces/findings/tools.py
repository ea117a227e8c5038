"""Whether the tools that models asked for were run, and what they gave back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from pixie_otel.evaluable import UNSET, ToolCall
from pixie_otel.traces.findings.content import is_bare
from pixie_otel.traces.findings.found import Finding, Scene
from pixie_otel.traces.findings.switches import library_of
from pixie_otel.traces.messages import AssistantMessage, Message
from pixie_otel.traces.spans import LLMSpan, ToolSpan
from pixie_otel.traces.tool_results import asked_tools

__all__ = ["tools"]

_NONE: Final = (None, "")
_NOTHING: Final[tuple[object, ...]] = (None, "", [], {})


def tools(scene: Scene) -> Iterator[Finding]:
    """Find tools that were asked for and not run, and those whose results are recorded nowhere.

    Args:
        scene: The trace.
    """
    silent = [span for span in scene.tools if span.error is None and span.result in _NONE and span.output in _NONE]
    ran = {name for span in scene.tools for name in _names(span)}
    if not silent and all(_has_run(tool, ran) for call in scene.calls for tool in _tools(call.output_messages)):
        # So it is in most traces, and looking for the results costs more than all else.
        return
    asked = list(zip(scene.calls, asked_tools(scene.calls), strict=True))
    told = {name for _, several in asked for tool in several if _is_told(tool) for name in (tool.id, tool.name)}
    for span in silent:
        if told.isdisjoint(filter(None, (span.tool_call_id, span.tool_name))):
            yield Finding("missing-tool-result", span, "tool run", "without what the tool gave back", _switch(span))
    if not is_bare(scene):
        yield from _asked_in_vain(scene, asked, ran)


def _is_told(call: ToolCall) -> bool:
    return call.result is not UNSET and call.result not in _NOTHING


def _switch(span: ToolSpan) -> str | None:
    """Say how the tool's library records content, where it recorded nothing of the run at all."""
    library = library_of(span) if span.arguments is None and span.input is None else None
    return None if library is None else library.fix


def _asked_in_vain(scene: Scene, asked: list[tuple[LLMSpan, list[ToolCall]]], ran: set[str]) -> Iterator[Finding]:
    """Find tools that a later call's history has as asked for, without a result of them anywhere.

    Of a call that no other goes on from, nothing can be said: the tool may be the form of the answer, or run elsewhere.
    """
    gone_on = {tool.id or tool.name for call in scene.calls for tool in _tools(call.input_messages)}
    for call, tool in ((call, tool) for call, several in asked for tool in several):
        if _is_told(tool) or (tool.id or tool.name) not in gone_on or _has_run(tool, ran):
            continue
        if tool.result is UNSET:
            said = f"that asked for {tool.name!r}, which neither ran nor gave back anything"
            yield Finding("tool-not-run", call, "model call", said)
        else:
            said = f"that asked for {tool.name!r}, whose result is empty in the next call's messages"
            yield Finding("missing-tool-result", call, "model call", said)


def _tools(messages: Iterable[Message]) -> Iterator[ToolCall]:
    for message in messages:
        if isinstance(message, AssistantMessage):
            yield from message.tool_calls


def _names(span: ToolSpan) -> Iterator[str]:
    yield from filter(None, (span.tool_name, span.tool_call_id, span.name))


def _has_run(asked: ToolCall, ran: set[str]) -> bool:
    """Say whether a tool is among the runs; servers and plugins stand before its name, behind a mark."""
    if asked.id in ran or asked.name in ran:
        return True
    ends = tuple(f"{mark}{asked.name}" for mark in " -.:/")
    return any(name.endswith(ends) for name in ran)
