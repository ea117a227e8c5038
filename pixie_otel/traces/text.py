"""Span trees as text, for people and for judges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from pixie_otel.evaluable import JsonValue, ToolCall, canonical_json
from pixie_otel.traces.messages import AssistantMessage, Message, ToolResultMessage
from pixie_otel.traces.spans import LLMSpan, ObserveSpan, RetrieverSpan, ToolSpan

if TYPE_CHECKING:
    from pixie_otel.traces.tree import ObservationNode

__all__ = ["duration_text", "tree_text"]

_MAX_INDENT: Final = 30
"""Deeper nodes are not indented further, so that a chain of any length stays readable and cheap."""


def tree_text(roots: Iterable[ObservationNode], *, max_chars: int | None = None, verbose: bool = False) -> str:
    """Write trees as indented text.

    Args:
        roots: The tops of the trees.
        max_chars: Cut every input, output and message to so many characters; ``None`` keeps them whole.
        verbose: Also say ids, dialects and how spans were read.

    Returns:
        A line for each node with name, kind, duration, model and tokens, and below it what went in and came out.
    """
    lines: list[str] = []
    pending: list[tuple[ObservationNode, int, str, str]] = [(root, 0, "", "") for root in reversed(list(roots))]
    while pending:
        node, depth, lead, rest = pending.pop()
        span = node.span
        lines.append(f"{lead}{_heading(span)}")
        below = "│ " if node.children else "  "
        lines.extend(f"{rest}{below}  {line}" for line in _body(span, max_chars, verbose=verbose))
        for child in reversed(node.children):
            last = child is node.children[-1]
            if depth >= _MAX_INDENT:
                pending.append((child, depth + 1, f"{rest}└ (depth {depth + 1}) ", rest))
            else:
                pending.append((child, depth + 1, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  ")))
    return "\n".join(lines)


def duration_text(milliseconds: float | None) -> str:
    """Write a duration the way people read it: ``12 ms``, ``1.4 s``, ``2 min 5 s``; "" where it is not known."""
    if milliseconds is None:
        return ""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f} s"
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    return f"{minutes} min {seconds} s"


def _heading(span: ObserveSpan) -> str:
    parts = [duration_text(span.duration_ms)]
    if isinstance(span, LLMSpan):
        parts.append(span.model or "")
        if span.input_tokens is not None or span.output_tokens is not None:
            parts.append(f"{_count(span.input_tokens)}→{_count(span.output_tokens)} tokens")
        parts.extend(reason for reason in span.finish_reasons if reason != "stop")
    elif isinstance(span, ToolSpan) and span.tool_name != span.name:
        parts.append(span.tool_name or "")
    elif isinstance(span, RetrieverSpan):
        parts.append(f"{len(span.documents)} documents")
    # A name of several lines would tear the tree.
    name = " ".join(span.name.split()) or "(no name)"
    return " · ".join([f"{name} [{span.kind.value}]", *filter(None, parts)])


def _count(tokens: int | None) -> str:
    return "?" if tokens is None else str(tokens)


def _body(span: ObserveSpan, max_chars: int | None, *, verbose: bool) -> list[str]:
    said: list[tuple[str, str]] = []
    if isinstance(span, LLMSpan) and (span.input_messages or span.output_messages):
        said.extend((message.role, _message(message)) for message in span.input_messages)
        said.extend(("→ " + message.role, _message(message)) for message in span.output_messages)
    else:
        documents = span.documents if isinstance(span, RetrieverSpan) else ()
        values = [("in", span.input), ("out", None if documents else span.output)]
        said.extend((label, _shown(value)) for label, value in values if value is not None)
        said.extend(("document", document.content) for document in documents)
    if span.error is not None:
        said.append(("error", str(span.error)))
    if verbose:
        said.append(("id", f"{span.span_id}, read as {', '.join(span.dialects) or 'no known dialect'}"))
        said.extend(("note", note) for note in span.notes)
    return [line for label, text in said for line in _labelled(label, text, max_chars)]


def _labelled(label: str, text: str, max_chars: int | None) -> list[str]:
    if max_chars is not None:
        text = " ".join(text.split())
        text = text if len(text) <= max_chars else text[: max_chars - 1] + "…"
    first, *others = text.splitlines() or [""]
    indent = " " * (len(label) + 2)
    return [f"{label}: {first}", *(indent + line for line in others)]


def _message(message: Message) -> str:
    parts = [f"(reasoning) {message.reasoning}" if message.reasoning else "", message.text]
    if isinstance(message, AssistantMessage):
        parts.extend(_call(call) for call in message.tool_calls)
    elif isinstance(message, ToolResultMessage) and message.tool_call_id:
        parts.insert(0, f"({message.tool_call_id})")
    others = len([part for part in message.content if not hasattr(part, "text")])
    if others:
        parts.append(f"(+ {others} other parts)")
    return " ".join(filter(None, parts))


def _call(call: ToolCall) -> str:
    return f"{call.name}({_shown(call.arguments)})"


def _shown(value: JsonValue) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else canonical_json(value)
