"""Why a selector finds nothing in a trace."""

from __future__ import annotations

import pytest
from checked_traces import TRACE_ID, agent, llm, says, tool

from pixie_otel.evaluable import ToolCall
from pixie_otel.traces.selectors import parse_selector
from pixie_otel.traces.spans import ObserveSpan
from pixie_otel.traces.trace import Trace

ASKED = llm("00000000000000b1", says("", ToolCall("get_time", {})), attributes={"llm.model_name": "gpt-4o"})
WHOLE = Trace.from_spans(
    [
        agent(agent_name="planner"),
        llm("00000000000000b0", says("1")),
        ASKED,
        tool("00000000000000c0", "get_weather", parent="00000000000000b1"),
        tool("00000000000000c1", "send_mail"),
    ]
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "agent:planner > tool:get_wether",
            "> tool:get_wether: none of 3; the tools are 'send_mail'; in the whole trace, the tools are 'get_wea",
        ),
        ("tool:get_wether", "tool:get_wether: none of 5; the tools are 'get_weather', 'send_mail' (did you mean "),
        ("tool:*WEATHER*", "the tools are 'get_weather', 'send_mail' (did you mean tool:get_weather?)"),
        ("kind:llm !kind:llm", "kind:llm: 2 of 5\n!kind:llm: none of 2; kind:llm holds for all of them"),
        ("kind:embedding", "kind:embedding: none of 5; the kinds are 1 agent, 2 llm, 2 tool"),
        ("kind:llm kind:tool", "kind:tool: none of 2; the kinds are 2 llm; 2 elsewhere in the trace"),
        ("wrap:reply", "wrap:reply: none of 5; there are no wrapped values among 1 agent, 2 llm, 2 tool"),
        ("status:error", "the statuses are 'ok'"),
        ("attr:llm.model=x", "no span has llm.model (did you mean llm.model_name?)"),
        ("attr:zork", "no span has zork"),
        ("attr:llm.model_name=x", "its values are 'gpt-4o'"),
        ("nth(3) kind:llm", "kind:llm: 2 of 5\nnth(3): none of 2; there are fewer"),
        ("kind:agent > nth(3) kind:llm", "> kind:llm: 2 of 3\nnth(3): none of 2; there are fewer below each"),
        (
            "tool:* under agent:plan",
            "under agent:plan: none of 2; in the whole trace, agent:plan: none of 5; the agents",
        ),
        ("kind:agent under kind:llm", "none of 'answer' lies below 'chat'"),
        ("tool:* above kind:llm", "none of 'get_weather', 'send_mail' lies above 'chat'"),
        ("tool:send_mail > kind:llm", "> kind:llm: none of 0; nothing lies directly below 'send_mail'"),
        ("tool:send_mail >> kind:llm", ">> kind:llm: none of 0; nothing lies below 'send_mail'"),
        ("first kind:llm > tool:*", "nothing lies directly below 'chat'"),
        ("root root kind:tool", "root: 1 of 5\nroot: 1 of 1\nkind:tool: none of 1"),
        ("kind:tool root", "root: none of 2; the root is elsewhere; 1 elsewhere in the trace"),
        ("kind:tool (kind:llm)", "(kind:llm): none of 2; what it finds is elsewhere in the trace: 'chat'"),
        ("(kind:llm kind:tool)", "in the whole trace, kind:tool: none of 2; the kinds are 2 llm"),
        ("kind:tool llm_calls", "llm_calls: none of 2; there is no LLM call among 2 tool; 2 elsewhere"),
    ],
)
def test_what_is_said(text: str, said: str) -> None:
    """The parts that found something with how many, the one that did not, and what is there instead."""
    assert said in parse_selector(text).explain(WHOLE)


def test_tools_that_were_only_asked_for() -> None:
    """Where no tool's run was recorded, the tools that the models asked for are named."""
    said = "no tool's run was recorded; the models asked for 'get_time' (see tools_called of the root)"

    assert parse_selector("tool:get_time").explain(Trace.from_spans([agent(), ASKED])) == (
        f"tool:get_time: none of 2; {said}"
    )
    assert said not in parse_selector("kind:llm > tool:get_time").explain(WHOLE)


def test_further_below() -> None:
    """Where nothing lies directly below, and something further below, the way there is named."""
    spans = [
        ObserveSpan(trace_id=TRACE_ID, span_id="01", name="top"),
        ObserveSpan(trace_id=TRACE_ID, span_id="02", name="mid", parent_span_id="01"),
        tool("03", "f", parent="02"),
    ]
    trace = Trace.from_spans(spans)

    assert (
        parse_selector("name:top > tool:f")
        .explain(trace)
        .endswith("> tool:f: none of 1; there are no tools among 1 other, but 1 further below: use >>")
    )
    for text in ("name:mid > tool:f > name:x", "name:f > name:x"):
        assert parse_selector(text).explain(trace).endswith("> name:x: none of 0; nothing lies directly below 'f'")


def test_what_is_found() -> None:
    """Then every part has found something, and nothing stands instead."""
    assert parse_selector("last kind:llm !status:error under agent:planner").explain(WHOLE) == (
        "kind:llm: 2 of 5\n!status:error: 2 of 2\nunder agent:planner: 2 of 2"
    )


def test_an_empty_trace() -> None:
    """Even of nothing something can be said."""
    empty = Trace("t", [])

    for text in ("root", "llm_calls", "kind:llm", "tool:x", "attr:x", "wrap:x under kind:llm", "(kind:llm)"):
        assert "none of 0" in parse_selector(text).explain(empty)


def test_selectors_within_selectors() -> None:
    """What is nested deep is explained as far as people read."""
    text = "(" * 20 + "kind:embedding" + ")" * 20

    assert "finds nothing here" in parse_selector(text).explain(WHOLE)
