"""Whether tools were run, and what they gave back."""

from __future__ import annotations

from typing import Any

import pytest
from checked_traces import agent, llm, result, says, tool, user

from pixie_otel.evaluable import ToolCall
from pixie_otel.traces.findings.found import Scene
from pixie_otel.traces.findings.tools import tools
from pixie_otel.traces.messages import ToolResultMessage
from pixie_otel.traces.spans import ObserveSpan, SpanError
from pixie_otel.traces.trace import Trace

WEATHER = ToolCall("get_weather", {"city": "Paris"}, "call_1")
ASKED = says("", WEATHER)


def kinds(*spans: ObserveSpan) -> list[str]:
    """Find what is wrong with the tools of a trace."""
    return [found.kind for found in tools(Scene(Trace.from_spans(spans)))]


def asking(**fields: Any) -> ObserveSpan:
    """Make a call that asks for a tool."""
    return llm("00000000000000b0", ASKED, input_messages=(user("The weather?"),), **fields)


def going_on(*results: ToolResultMessage) -> ObserveSpan:
    """Make a call that goes on from it."""
    return llm("00000000000000b8", says("Fine."), input_messages=(user("The weather?"), ASKED, *results))


def test_a_tool_with_a_span_was_run() -> None:
    """With its result on the span, or in the messages of the next call."""
    ran = tool("00000000000000b4", "get_weather", tool_call_id="call_1", result={"sky": "clear"})
    silent = tool("00000000000000b4", "get_weather", tool_call_id="call_1")

    assert kinds(agent(), asking(), ran, going_on(result("{}", "call_1"))) == []
    assert kinds(agent(), asking(), silent, going_on(result("clear", "call_1"))) == []


def test_a_tool_without_a_span_may_be_known_by_its_result() -> None:
    """Where an instrumentation records model calls alone."""
    assert kinds(agent(), asking(), going_on(result("clear", "call_1"))) == []


def test_a_tool_without_either_was_not_run() -> None:
    """A later call's history shows that the run went on without it."""
    assert kinds(agent(), asking(), going_on()) == ["tool-not-run"]
    assert kinds(agent(), asking(), tool("00000000000000b4", "search", result=1), going_on()) == ["tool-not-run"]


@pytest.mark.parametrize("name", ["get_weather", "P-get_weather", "execute_tool get_weather", "server.get_weather"])
def test_names_of_runs_have_something_before_them(name: str) -> None:
    """Servers, plugins and operations."""
    assert kinds(agent(), asking(), tool("00000000000000b4", name, result=1), going_on()) == []


def test_of_the_last_call_nothing_can_be_said() -> None:
    """A tool may be the form of the answer."""
    assert kinds(agent(), asking()) == []
    assert kinds(agent(), asking(), llm("00000000000000b8", says("!"), input_messages=(user("Another?"),))) == []


def test_a_run_without_a_result_is_told() -> None:
    """Unless it failed."""
    silent = tool("00000000000000b4", "send", arguments={"to": "ada"})
    failed = tool("00000000000000b4", "send", error=SpanError("no"))

    assert kinds(agent(), silent) == ["missing-tool-result"]
    assert kinds(agent(), failed) == []


def test_a_result_may_have_lost_what_was_in_it() -> None:
    """The message is there, and empty."""
    empty = ToolResultMessage(tool_call_id="call_1")

    assert kinds(agent(), asking(), going_on(empty)) == ["missing-tool-result"]
