"""Whether two spans recorded the same model call: told by what both of them say of it.

Facts contradict each other only where both spans recorded them; a framework knows the messages, a provider's SDK the
tokens, and with content capture off nobody knows what was said.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from pixie_otel.evaluable import canonical_json
from pixie_otel.traces.messages import AssistantMessage
from pixie_otel.traces.spans import LLMSpan

__all__ = ["CallFacts", "answers_agree", "models_agree", "questions_agree", "same_call", "same_question"]

_SLACK_NANO: Final = 1_000_000
_SLACK_SHARE: Final = 20
"""What is around a call may end a little earlier: some make their spans when they are told of the end."""
_UNKNOWN: Final = frozenset(("",))
_NAMELESS: Final = "unknown_service"
"""How SDKs begin the names of programs that were given none."""
_ID_KIND: Final = re.compile(r"[A-Za-z]*")


class CallFacts(Struct, frozen=True):
    """What tells one model call from another.

    Attributes:
        trace_id: The trace of the span that counts.
        span_id: Its id.
        name: Its name.
        scopes: The instrumentations that recorded it, by the names of their scopes.
        start: When it started, in nanoseconds since 1970.
        end: When it ended.
        model: The model that answered, else the one asked for.
        input_tokens: Tokens in.
        output_tokens: Tokens out.
        response_id: The provider's id of the answer.
        failed: Whether it failed.
        question: A digest of what the user said last.
        text: A digest of the answer's text.
        tools: A digest of the tools that the answer asks for.
        service: The program that made the span, where it has a name.
    """

    trace_id: str
    span_id: str
    name: str
    scopes: frozenset[str]
    start: int
    end: int
    model: str | None
    input_tokens: int | None
    output_tokens: int | None
    response_id: str | None
    failed: bool
    question: bytes | None
    text: bytes | None
    tools: bytes | None
    service: str | None = None

    @classmethod
    def of(cls, span: LLMSpan, scopes: frozenset[str] | None = None) -> CallFacts:
        """Give the facts of a call.

        Args:
            span: The call.
            scopes: The scopes of all spans that recorded it, where that is more than this one.
        """
        return cls(
            trace_id=span.trace_id,
            span_id=span.span_id,
            name=span.name,
            scopes=frozenset((span.scope.name,)) if scopes is None else scopes,
            start=span.start_time_unix_nano,
            end=span.end_time_unix_nano,
            model=span.model,
            input_tokens=span.input_tokens,
            output_tokens=span.output_tokens,
            response_id=span.response_id,
            failed=span.error is not None,
            question=_question(span),
            text=_text(span),
            tools=_tools(span),
            service=_service(span),
        )

    @property
    def has_answer(self) -> bool:
        """Whether what the model said was recorded."""
        return self.text is not None or self.tools is not None

    @property
    def has_content(self) -> bool:
        """Whether anything was recorded of what was said."""
        return self.has_answer or self.question is not None


def same_call(outer: CallFacts, inner: CallFacts) -> bool:
    """Say whether a span that lies within the time of another one recorded the same call.

    An instrumentation records a call once, so the two must be of different ones. And something must speak for it:
    the answer's id, the answer, the tokens, the question, or that both failed.

    Args:
        outer: What started first.
        inner: What may be the same.
    """
    if not 0 < outer.start <= inner.start or outer.failed != inner.failed or not models_agree(outer.model, inner.model):
        return False
    # Ids of one kind are the provider's own; a framework may have made up one of its own kind.
    ids = (outer.response_id, inner.response_id)
    if ids[0] and ids[1] and _id_kind(ids[0]) == _id_kind(ids[1]):
        # One that has nothing but the answer's id and numbers was made by the provider's SDK, whatever its scope says.
        bare = outer.has_answer and not inner.has_content
        return ids[0] == ids[1] and inner.start <= outer.end and (bare or _may_differ(outer, inner))
    slack = _SLACK_NANO + max(0, outer.end - outer.start) // _SLACK_SHARE
    if inner.end > outer.end + slack or not _may_differ(outer, inner):
        return False
    if _contradict(((outer.service, inner.service),)):
        # Two programs may ask the same at the same time; a gateway passes the answer's id on.
        return False
    used = ((outer.input_tokens, inner.input_tokens), (outer.output_tokens, inner.output_tokens))
    answers = ((outer.text, inner.text), (outer.tools, inner.tools))
    if _contradict(used) or _contradict(answers):
        return False
    if _agree(answers) and _agree(used[:1]) and _agree(used[1:]):
        # Frameworks word questions their own way, with tool results as the user's for one.
        return True
    asked = ((outer.question, inner.question),)
    return not _contradict(asked) and (
        _agree(answers)
        or _agree(asked)
        or (_agree(used[:1]) and _agree(used[1:]))
        or (outer.failed and None not in (outer.model, inner.model))
    )


def models_agree(one: str | None, other: str | None) -> bool:
    """Say whether two names may be the same model's: providers add a date to a name, gateways a prefix.

    Args:
        one: A name, where recorded.
        other: The other one.
    """
    if one is None or other is None:
        return True
    short = sorted((name.rpartition("/")[2] for name in (one, other)), key=len)
    return short[0] in short[1]


def answers_agree(one: LLMSpan, other: LLMSpan) -> bool | None:
    """Say whether two spans recorded the same answer; ``None`` where that cannot be told.

    Args:
        one: A span.
        other: The other one.
    """
    return _told(((_text(one), _text(other)), (_tools(one), _tools(other))))


def questions_agree(one: LLMSpan, other: LLMSpan) -> bool | None:
    """Say whether two spans recorded the same question of the user; ``None`` where that cannot be told.

    Args:
        one: A span.
        other: The other one.
    """
    return _told(((_question(one), _question(other)),))


def same_question(one: LLMSpan, other: LLMSpan) -> bool:
    """Say whether two calls were given the same messages, or whatever was recorded in their place.

    Args:
        one: A call.
        other: The other one.
    """
    if one.input_messages or other.input_messages:
        return one.input_messages == other.input_messages
    return one.input == other.input


def _contradict(facts: Iterable[tuple[object, object]]) -> bool:
    return any(ours is not None and theirs is not None and ours != theirs for ours, theirs in facts)


def _agree(facts: Iterable[tuple[object, object]]) -> bool:
    return any(ours is not None and ours == theirs for ours, theirs in facts)


def _told(facts: Sequence[tuple[object, object]]) -> bool | None:
    return False if _contradict(facts) else True if _agree(facts) else None


def _may_differ(outer: CallFacts, inner: CallFacts) -> bool:
    """Say whether the two can come of two instrumentations."""
    if outer.scopes == inner.scopes == _UNKNOWN:
        return outer.name != inner.name
    return inner.scopes.isdisjoint(outer.scopes)


def _id_kind(identity: str) -> str:
    found = _ID_KIND.match(identity)
    return "" if found is None else found.group()


def _service(span: LLMSpan) -> str | None:
    name = span.service_name
    return None if not name or name.startswith(_NAMELESS) else name


def _question(span: LLMSpan) -> bytes | None:
    asked = [message for message in span.input_messages if message.role == "user"]
    return _digest(asked[-1].text) if asked else None


def _text(span: LLMSpan) -> bytes | None:
    return _digest("".join(message.text for message in span.output_messages))


def _tools(span: LLMSpan) -> bytes | None:
    calls = [call for item in span.output_messages if isinstance(item, AssistantMessage) for call in item.tool_calls]
    return _digest(canonical_json([[call.name, call.arguments] for call in calls])) if calls else None


def _digest(text: str) -> bytes | None:
    words = " ".join(text.split())
    return hashlib.blake2b(words.encode(errors="replace"), digest_size=16).digest() if words else None
