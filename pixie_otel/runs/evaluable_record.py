"""An evaluable in JSON, and back.

A key that is absent means "not given", ``null`` means "given, and empty": without ``expectation`` it is `UNSET`, with
``null`` nothing is expected. The same holds for a tool call's ``result``. Values are kept whole, whatever their size.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from msgspec import Struct

from pixie_otel.evaluable import UNSET, Document, Evaluable, NamedData, ToolCall

__all__ = ["DocumentRecord", "EvaluableRecord", "NamedDataRecord", "ToolCallRecord"]


class NamedDataRecord(Struct, frozen=True):
    """A named value."""

    name: str
    value: Any


class DocumentRecord(Struct, frozen=True, omit_defaults=True):
    """A retrieved document."""

    content: str
    id: str | None = None
    score: float | None = None
    metadata: dict[str, Any] | None = None


class ToolCallRecord(Struct, frozen=True, omit_defaults=True):
    """A tool call; without ``result`` where that is not known."""

    name: str
    arguments: Any = None
    id: str | None = None
    result: Any = msgspec.UNSET
    type: Literal["FUNCTION", "MCP"] = "FUNCTION"
    description: str | None = None
    reasoning: str | None = None


class EvaluableRecord(Struct, frozen=True, kw_only=True):
    """An evaluable; without ``expectation`` where none was given."""

    eval_input: list[NamedDataRecord] = []
    eval_output: list[NamedDataRecord] | None = None
    expectation: Any = msgspec.UNSET
    eval_metadata: dict[str, Any] | None = None
    description: str | None = None
    context: list[str] | None = None
    expected_tools: list[ToolCallRecord] | None = None
    retrieval_context: list[DocumentRecord] | None = None
    tools_called: list[ToolCallRecord] | None = None
    token_cost: float | None = None
    completion_time: float | None = None

    @classmethod
    def of(cls, evaluable: Evaluable) -> EvaluableRecord:
        """Take over an evaluable."""
        outputs, documents = evaluable.eval_output, evaluable.retrieval_context
        return cls(
            eval_input=_from_named(evaluable.eval_input),
            eval_output=None if outputs is None else _from_named(outputs),
            expectation=msgspec.UNSET if evaluable.expectation is UNSET else evaluable.expectation,
            eval_metadata=evaluable.eval_metadata,
            description=evaluable.description,
            context=evaluable.context,
            expected_tools=_from_calls(evaluable.expected_tools),
            retrieval_context=None
            if documents is None
            else [DocumentRecord(item.content, item.id, item.score, item.metadata) for item in documents],
            tools_called=_from_calls(evaluable.tools_called),
            token_cost=evaluable.token_cost,
            completion_time=evaluable.completion_time,
        )

    def evaluable(self) -> Evaluable:
        """Give the evaluable back."""
        outputs, documents = self.eval_output, self.retrieval_context
        return Evaluable(
            eval_input=_to_named(self.eval_input),
            eval_output=None if outputs is None else _to_named(outputs),
            expectation=UNSET if self.expectation is msgspec.UNSET else self.expectation,
            eval_metadata=self.eval_metadata,
            description=self.description,
            context=self.context,
            expected_tools=_to_calls(self.expected_tools),
            retrieval_context=None
            if documents is None
            else [Document(item.content, item.id, item.score, item.metadata) for item in documents],
            tools_called=_to_calls(self.tools_called),
            token_cost=self.token_cost,
            completion_time=self.completion_time,
        )


def _from_named(items: Iterable[NamedData]) -> list[NamedDataRecord]:
    return [NamedDataRecord(item.name, item.value) for item in items]


def _to_named(records: Iterable[NamedDataRecord]) -> list[NamedData]:
    return [NamedData(item.name, item.value) for item in records]


def _from_calls(calls: list[ToolCall] | None) -> list[ToolCallRecord] | None:
    if calls is None:
        return None
    return [
        ToolCallRecord(
            name=call.name,
            arguments=call.arguments,
            id=call.id,
            result=msgspec.UNSET if call.result is UNSET else call.result,
            type=call.type,
            description=call.description,
            reasoning=call.reasoning,
        )
        for call in calls
    ]


def _to_calls(records: list[ToolCallRecord] | None) -> list[ToolCall] | None:
    if records is None:
        return None
    return [
        ToolCall(
            name=item.name,
            arguments=item.arguments,
            id=item.id,
            result=UNSET if item.result is msgspec.UNSET else item.result,
            type=item.type,
            description=item.description,
            reasoning=item.reasoning,
        )
        for item in records
    ]
