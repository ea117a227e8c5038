"""Selectors of several terms and steps, typed and built."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from checked_traces import TRACE_ID, agent, llm, says, tool
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.errors import ConfigError, ObservationError
from pixie_otel.evaluable import Document, NamedData
from pixie_otel.traces.selector_parser import parse_chain
from pixie_otel.traces.selector_view import View
from pixie_otel.traces.selectors import (
    as_evaluable,
    last_llm_call,
    llm_calls,
    parse_selector,
    root,
    select,
    selector_of,
)
from pixie_otel.traces.spans import ObservationKind, ObserveSpan, RetrieverSpan, SpanError
from pixie_otel.traces.trace import Trace

EMPTY = Trace("t", [])


def family() -> Trace:
    """Make a trace of an agent with a planner below it, each with model calls and tools."""
    spans = [
        agent("a0", None, start_time_unix_nano=0xA0, input="q", output="a", resource={"service.name": "bot"}),
        llm("b0", says("1"), parent="a0", start_time_unix_nano=0xB0, end_time_unix_nano=0xB8),
        tool("c0", "get_weather", parent="a0", start_time_unix_nano=0xC0, attributes={"plan": "pro", "n": 1}),
        agent("a1", "a0", agent_name="planner", start_time_unix_nano=0xD0),
        llm("b1", says("2"), parent="a1", start_time_unix_nano=0xD1, end_time_unix_nano=0xE9, request_model="gpt-4o"),
        tool("c1", "get_time", parent="a1", start_time_unix_nano=0xD2, attributes={"plan": "free", "n": 2}),
        tool("c2", "send", parent="b1", start_time_unix_nano=0xD3, error=SpanError("no")),
    ]
    return Trace.from_spans(spans)


def wrapped(span_id: str, name: str | None, **given: object) -> ObserveSpan:
    """Make the span of a wrapped value."""
    return ObserveSpan(
        trace_id=TRACE_ID,
        span_id=span_id,
        parent_span_id="01",
        name="wrap",
        start_time_unix_nano=int(span_id, 16),
        attributes={"pixie.wrap.purpose": next(iter(given)), "pixie.wrap.name": name},
        **given,  # type: ignore[arg-type]
    )


class TestSteps:
    """Selectors of several terms and steps."""

    @pytest.mark.parametrize(
        ("text", "ids"),
        [
            ("root", ["a0"]),
            ("!root", ["b0", "c0", "a1", "b1", "c1", "c2"]),
            ("last_llm_call", ["b1"]),
            ("last_llm_call kind:llm", ["b1"]),
            ("kind:llm !last_llm_call", ["b0"]),
            ("llm_calls !name:chat", []),
            ("agent:planner", ["a1"]),
            ("agent:answer", ["a0"]),
            ("kind:tool", ["c0", "c1", "c2"]),
            ("kind:tool !tool:get_*", ["c2"]),
            ("kind:tool not tool:get_* status:ok", []),
            ("status:error", ["c2"]),
            ("model:gpt-4*", ["b1"]),
            ("first kind:tool", ["c0"]),
            ("last kind:tool", ["c2"]),
            ("nth(2) kind:tool", ["c1"]),
            ("nth(-2) kind:tool", ["c1"]),
            ("nth(4) kind:tool", []),
            ("nth(-4) kind:tool", []),
            ("each kind:tool", ["c0", "c1", "c2"]),
            ("kind:tool under agent:planner", ["c1", "c2"]),
            ("first kind:tool under agent:planner", ["c1"]),
            ("kind:tool under agent:answer", ["c0", "c1", "c2"]),
            ("kind:tool under kind:llm", ["c2"]),
            ("kind:tool under last kind:llm", ["c2"]),
            ("kind:tool under first kind:llm", []),
            ("kind:agent above tool:send", ["a0", "a1"]),
            ("kind:agent above tool:send under kind:agent", ["a1"]),
            ("agent:answer > kind:tool", ["c0"]),
            ("agent:answer >> kind:tool", ["c0", "c1", "c2"]),
            ("agent:* > last kind:tool", ["c0", "c1"]),
            ("agent:* >> last kind:tool", ["c0", "c2"]),
            ("agent:* > kind:llm > tool:send", ["c2"]),
            ("kind:tool under (agent:planner > kind:llm)", ["c2"]),
            ("kind:tool !(kind:tool under agent:planner)", ["c0"]),
            ("attr:plan", ["c0", "c1"]),
            ("attr:plan=pro", ["c0"]),
            ("attr:plan!=pro", ["a0", "b0", "a1", "b1", "c1", "c2"]),
            ("attr:plan~p*", ["c0"]),
            ("attr:service.name=bot kind:agent", ["a0"]),
            ("attr:n>=2", ["c1"]),
        ],
    )
    def test_what_is_found(self, text: str, ids: list[str]) -> None:
        """Terms all hold; positions count last; relations reach any distance; steps go down."""
        whole = family()

        if ids:
            assert [picked.span.span_id for picked in parse_selector(text).pick(whole)] == ids
        else:
            with pytest.raises(ObservationError, match="the trace"):
                parse_selector(text).pick(whole)

    def test_the_order_of_spans_does_not_matter(self) -> None:
        """Whatever order a trace's spans came in, the same ones are picked, in the same order."""
        spans = family().spans
        for text in ("kind:tool", "agent:* >> last kind:tool", "llm_calls", "nth(-2) kind:tool"):
            expected = parse_selector(text)(family())
            for order in itertools.islice(itertools.permutations(spans), 0, 5040, 700):
                assert parse_selector(text)(Trace.from_spans(order)) == expected

    def test_one_or_several(self) -> None:
        """What takes one gives an evaluable, and its case is named by its trace alone."""
        single = {
            text: parse_selector(text).single
            for text in ("last kind:tool", "root > first tool:*", "agent:* > last tool:*", "root kind:agent", "!root")
        }

        assert list(single.values()) == [True, True, False, True, False]
        assert parse_selector("last kind:tool")(family()) == as_evaluable(family().spans[-1])

    def test_calls_and_roots_know_their_trace(self) -> None:
        """However they are found, model calls have the trace's documents, and the root its tools."""
        found = RetrieverSpan(trace_id=TRACE_ID, span_id="d0", parent_span_id="a0", documents=(Document("d"),))
        whole = Trace.from_spans([*family().spans, found])
        calls = parse_selector("llm_calls under agent:planner").pick(whole)

        assert [picked.evaluable for picked in calls] == llm_calls(whole)[1:]
        assert calls[0].evaluable.retrieval_context == [Document("d")]
        assert parse_selector("root kind:agent")(whole) == root(whole)

    def test_under_a_root_that_recorded_nothing(self) -> None:
        """Where two calls stand for the run, what lies below its root lies below the top."""
        spans = [
            agent("a0", None, start_time_unix_nano=1, input=None, output=None),
            llm("b0", says("1"), parent="a0", start_time_unix_nano=2, input="q"),
            tool("c0", "f", parent="a0", start_time_unix_nano=3),
            llm("b1", says("2"), parent="a0", start_time_unix_nano=4, output="a"),
        ]
        whole = Trace.from_spans(spans)

        assert [picked.span.span_id for picked in parse_selector("tool:* under root").pick(whole)] == ["c0"]
        assert [picked.span.span_id for picked in parse_selector("root > kind:llm").pick(whole)] == ["b0", "b1"]
        assert parse_selector("root kind:agent")(whole) == root(whole)

    def test_wrapped_values(self) -> None:
        """They are found by the name given to `wrap`."""
        spans = [
            ObserveSpan(trace_id=TRACE_ID, span_id="01", start_time_unix_nano=1),
            wrapped("12", "docs", input=["d"]),
            wrapped("13", None, output="r"),
        ]
        whole = Trace.from_spans(spans)

        assert [p.span.span_id for p in parse_selector("wrap:*").pick(whole)] == ["12", "13"]
        (made,) = parse_selector("wrap:docs")(whole)  # type: ignore[misc]  # it may pick several
        assert made.eval_input == [NamedData("input", ["d"])]


class TestBuilt:
    """`select` and what selectors make of themselves."""

    def test_texts_and_keywords(self) -> None:
        """Both say the same, alone and together."""
        assert select(tool="get_weather") == select("tool:get_weather")
        assert select("last kind:tool", status="error") == select("last kind:tool status:error")
        assert str(select(name="a b", kind="LLM", agent="x", wrap="w", model="m")) == (
            'name:"a b" kind:llm agent:x wrap:w model:m'
        )
        assert str(select(attr={"user.plan": "pro", "n": 5, "ok": True, "seen": None})) == (
            "attr:user.plan=pro attr:n=5 attr:ok=true attr:seen"
        )

    def test_selectors_make_others(self) -> None:
        """Each step of building has a text of its own."""
        tools = select(tool="get_*")

        assert str(tools.under("agent:planner").last()) == "last tool:get_* under agent:planner"
        assert str(tools.first()) == "first tool:get_*"
        assert str(tools.nth(-2)) == "nth(-2) tool:get_*"
        assert str(select(kind="agent").above(tools)) == "kind:agent above tool:get_*"
        assert str(tools.under(root)) == "tool:get_* under root"
        assert str(tools.under("agent:a > kind:llm")) == "tool:get_* under (agent:a > kind:llm)"
        assert str(tools.under("kind:llm under root")) == "tool:get_* under (kind:llm under root)"
        assert str(tools.but("status:error")) == "tool:get_* !status:error"
        assert str(tools.but("kind:tool status:error")) == "tool:get_* !(kind:tool status:error)"
        assert str(tools.but("!status:error")) == "tool:get_* !(!status:error)"
        assert str(select("agent:a").child(tools).descendant("first kind:llm")) == (
            "agent:a > tool:get_* >> first kind:llm"
        )
        assert str(select("agent:a > kind:llm").last()) == "agent:a > last kind:llm"

    def test_equal_when_they_say_the_same(self) -> None:
        """However they were written."""
        assert select("not kind:LLM") == select("!kind:llm")
        assert len({select("each kind:llm"), select(kind="llm"), select("kind:tool")}) == 2
        assert select("root") != "root"
        assert selector_of(last_llm_call) == selector_of("last_llm_call") == select("last_llm_call")

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({}, "expected a term"),
            ({"kind": "zork"}, "'zork' is no kind"),
            ({"tool": ""}, "tool: needs a value"),
            ({"attr": {"": 1}}, "needs a key"),
            ({"attr": {"a": ""}}, "empty text"),
        ],
    )
    def test_what_is_no_selector(self, fields: dict[str, Any], message: str) -> None:
        """It is said at once."""
        with pytest.raises(ConfigError, match=message):
            select(**fields)
        with pytest.raises(ConfigError, match="from 1, or from -1 backwards"):
            select("root").nth(0)
        with pytest.raises(ConfigError, match="select is <built-in function print>"):
            select("root").under(print)


@given(
    parents=st.lists(st.integers(0, 30), min_size=1, max_size=24),
    kinds=st.lists(st.sampled_from(["agent", "tool", "llm"]), min_size=24, max_size=24),
)
def test_relations_are_those_of_the_tree(parents: list[int], kinds: list[str]) -> None:
    """What lies above and below is what the parents say, in any tree."""
    spans = [
        ObserveSpan(
            trace_id=TRACE_ID,
            span_id=f"{number:04}",
            parent_span_id=f"{parent % number:04}" if number and parent < 30 else None,
            kind=ObservationKind(kinds[number]),
            start_time_unix_nano=number + 1,
        )
        for number, parent in enumerate(parents)
    ]
    above: dict[str, list[ObserveSpan]] = {}
    by_id = {item.span_id: item for item in spans}
    for item in spans:
        above[item.span_id] = []
        at = item
        while at.parent_span_id is not None:
            at = by_id[at.parent_span_id]
            above[item.span_id].append(at)
    tools = [item for item in spans if item.kind == "tool"]
    expected = {
        "kind:tool under kind:agent": [t for t in tools if any(a.kind == "agent" for a in above[t.span_id])],
        "kind:agent >> kind:tool": [t for t in tools if any(a.kind == "agent" for a in above[t.span_id])],
        "kind:agent > kind:tool": [t for t in tools if above[t.span_id][:1] and above[t.span_id][0].kind == "agent"],
        "kind:agent above kind:tool": [
            item for item in spans if item.kind == "agent" and any(item in above[t.span_id] for t in tools)
        ],
    }
    nearest: dict[str, ObserveSpan] = {}
    for item in tools:
        for agent_above in above[item.span_id]:
            if agent_above.kind == "agent":
                nearest[agent_above.span_id] = item
                break
    expected["kind:agent >> last kind:tool"] = sorted(nearest.values(), key=lambda item: item.span_id)

    view = View(Trace.from_spans(spans))
    for text, wanted in expected.items():
        assert [view.spans[number] for number in parse_chain(text).find(view)] == wanted, text
