"""Ids of tool calls from another record of the same answer."""

from __future__ import annotations

from pixie_otel.evaluable import ToolCall
from pixie_otel.traces.dialects.call_ids import called, identified, lacks_ids
from pixie_otel.traces.messages import AssistantMessage, UserMessage

PARIS = {"city": "Paris"}


def ids(*answers: AssistantMessage, others: tuple[AssistantMessage, ...]) -> list[str | None]:
    """Give the ids of the calls after they were looked up."""
    found = identified(answers, others)
    return [call.id for answer in found if isinstance(answer, AssistantMessage) for call in answer.tool_calls]


def test_ids_by_name_and_arguments() -> None:
    """A call gets the id of the first one like it that no other call has."""
    answer = AssistantMessage(
        tool_calls=(ToolCall("f", PARIS), ToolCall("g", PARIS), ToolCall("f", PARIS, "b"), ToolCall("f", PARIS))
    )
    other = AssistantMessage(
        tool_calls=(ToolCall("f", PARIS, "b"), ToolCall("f", PARIS, "c"), ToolCall("f", PARIS, "d"), ToolCall("h"))
    )

    assert lacks_ids([answer])
    assert ids(answer, others=(other,)) == ["c", None, "b", "d"]


def test_answers_that_lack_nothing() -> None:
    """Answers with all ids, or without calls, are given as they are."""
    whole = (AssistantMessage(tool_calls=(ToolCall("f", PARIS, "a"),)), UserMessage())

    assert not lacks_ids(whole)
    assert identified(whole, [AssistantMessage(tool_calls=(ToolCall("f", PARIS, "z"),))]) is whole


def test_an_id_beside_an_answer() -> None:
    """It is that of the only call; of several calls nobody knows which it belongs to."""
    one = (UserMessage(), AssistantMessage(tool_calls=(ToolCall("f", PARIS, "fc_1"),)))
    two = (AssistantMessage(tool_calls=(ToolCall("f", PARIS, "fc_1"), ToolCall("g", PARIS, "fc_2"))),)

    assert called(one, "call_1") == (UserMessage(), AssistantMessage(tool_calls=(ToolCall("f", PARIS, "call_1"),)))
    assert called(one, "fc_1") is one
    assert called(two, "call_1") is two
    assert called((), "call_1") == ()
