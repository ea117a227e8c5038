"""Which traces are one conversation."""

from __future__ import annotations

import random

import pytest
from checked_traces import result, says
from hypothesis import given
from hypothesis import strategies as st
from told_calls import alone, answered, call

from pixie_otel.evaluable import ToolCall
from pixie_otel.traces.messages import SystemMessage, TextContent
from pixie_otel.traces.repeats import Repeat, Rule
from pixie_otel.traces.report import Problem
from pixie_otel.traces.stitching import Facts, facts_of, stitched
from pixie_otel.traces.trace import Trace


def groups(*traces: Trace) -> list[list[int]]:
    """Give the conversations of traces by the numbers in their ids."""
    facts = sorted(map(facts_of, traces), key=lambda item: item.start)
    return [[int(facts[number].trace_id, 16) for number in found.members] for found in stitched(facts)]


def doubts(*traces: Trace) -> dict[int, str]:
    """Give why traces stand alone, by the numbers in their ids."""
    facts = sorted(map(facts_of, traces), key=lambda item: item.start)
    return {int(facts[n].trace_id, 16): why for found in stitched(facts) for n, why in found.doubts.items()}


class TestHistories:
    """Traces without sessions."""

    def test_a_conversation(self) -> None:
        """Each call that was given the whole of the one before goes on with it."""
        told = ["a", answered("b"), "c"]

        assert groups(alone(1, ["a"], "b"), alone(2, told, "d"), alone(3, [*told, answered("d"), "e"], "f")) == [
            [1, 2, 3]
        ]

    def test_a_tool_loop(self) -> None:
        """The step with the tool's result goes on with the one that asked for the tool."""
        asks = says("", ToolCall("f", {"a": 1}, "call_1"))

        assert groups(alone(1, ["?"], asks), alone(2, ["?", asks, result("1", "call_1")], "ok")) == [[1, 2]]

    @pytest.mark.parametrize(
        "second",
        [
            alone(2, ["a"], "b"),
            alone(2, ["a", "c"], "d"),
            alone(2, ["a", answered("other"), "c"], "d"),
            alone(2, [answered("b"), "c"], "d"),
            alone(2, ["x", "a", answered("b"), "c"], "d"),
            alone(2, ["a", answered("b"), "c"], "d", resource={"service.name": "other"}),
            alone(2, ["a", answered("b"), "c"], "d", start_time_unix_nano=10**9 + 1),
        ],
        ids=["equal", "no answer", "other answer", "no question", "more before", "other service", "while it ran"],
    )
    def test_what_is_no_conversation(self, second: Trace) -> None:
        """Nothing less than the whole history, with its answer, of a call of the service that was over."""
        assert groups(alone(1, ["a"], "b"), second) == [[1], [2]]

    def test_a_part_that_was_not_recorded(self) -> None:
        """A later call goes on with the latest of what is there."""
        told = ["a", answered("b"), "c", answered("d"), "e"]

        assert groups(alone(1, ["a"], "b"), alone(3, told, "f")) == [[1, 3]]

    def test_equal_conversations_stay_apart(self) -> None:
        """Where two have said the same so far, nobody knows which one goes on, and the trace says so."""
        traces = [
            alone(1, ["Hi"], "Hello"),
            alone(2, ["Hi"], "Hello"),
            alone(3, ["Hi", answered("Hello"), "A"], "a"),
            alone(4, ["Hi", answered("Hello"), "B"], "b"),
            alone(5, ["Hi", answered("Hello"), "A", answered("a"), "C"], "c"),
        ]

        assert groups(*traces) == [[1], [2], [3, 5], [4]]
        why = f"several conversations have the history that it goes on from: {1:032x}, {2:032x}"
        assert doubts(*traces) == {3: why, 4: why}

    def test_many_equal_ones(self) -> None:
        """A few are named; of very many it is not even asked."""
        many = [alone(number, ["Hi"], "Hello") for number in range(1, 7)]
        later = alone(9, ["Hi", answered("Hello"), "A"], "a")
        assert doubts(*many, later)[9].endswith(f"{3:032x} and 3 more")

        very_many = [alone(number, ["Hi"], "Hello") for number in range(1, 300)]
        later = alone(999, ["Hi", answered("Hello"), "A"], "a")
        assert doubts(*very_many, later) == {999: "299 model calls have the history that it goes on from"}

    def test_ids_of_tool_calls_tell_equal_conversations_apart(self) -> None:
        """Two users who ask the same get tool calls with ids of their own."""
        asks = [says("", ToolCall("f", {"a": 1}, f"call_{number}")) for number in (1, 2, 3)]
        ends = [alone(n + 10, ["?", ask, result("1", ask.tool_calls[0].id)], "ok") for n, ask in enumerate(asks)]

        assert groups(alone(1, ["?"], asks[0]), alone(2, ["?"], asks[1]), ends[1], ends[0], ends[2]) == [
            [1, 10],
            [2, 11],
            [12],
        ]

    def test_prompts_that_change(self) -> None:
        """The time in a system prompt parts nobody; where two have said the same, the prompt tells whose it is."""
        ada, later, bob = (
            SystemMessage(content=(TextContent(text),)) for text in ("Ada 10:00", "Ada 10:01", "Bob 10:00")
        )
        first = alone(1, [ada, "Hi"], "Hello")

        assert groups(first, alone(3, [later, "Hi", answered("Hello"), "A"], "a")) == [[1, 3]]
        assert groups(first, alone(3, ["Hi", answered("Hello"), "A"], "a")) == [[1, 3]]
        other = alone(2, [bob, "Hi"], "Hello")
        assert groups(first, other, alone(3, [bob, "Hi", answered("Hello"), "A"], "a")) == [[1], [2, 3]]
        assert groups(first, other, alone(3, [later, "Hi", answered("Hello"), "A"], "a")) == [[1], [2], [3]]

    def test_a_new_answer_to_the_same_question(self) -> None:
        """What goes on with the answer that was kept is joined with that one alone."""
        traces = [alone(1, ["a"], "b"), alone(2, ["a"], "better"), alone(3, ["a", answered("better"), "c"], "d")]

        assert groups(*traces) == [[1], [2, 3]]

    def test_branches_are_one_conversation(self) -> None:
        """A question that was asked anew belongs to what was said before."""
        again = [alone(number, ["a", answered("b"), f"c{number}"], "d") for number in (2, 3)]

        assert groups(alone(1, ["a"], "b"), *again) == [[1, 2, 3]]

    def test_a_retry_of_the_last_question(self) -> None:
        """Two traces with the same history are of one conversation where the one before is one."""
        told = ["a", answered("b"), "c"]
        traces = [alone(1, ["a"], "b"), alone(2, told, "d"), alone(3, told, "d")]

        assert groups(*traces, alone(4, [*told, answered("d"), "e"], "f")) == [[1, 2, 3, 4]]

    def test_runs_with_calls_of_their_own(self) -> None:
        """In an agent's trace, the call that goes on with another trace counts, and not those that go on with it."""
        told = ["a", answered("b"), "c"]
        steps = [
            call(2, told, "d"),
            call(2, ["classify: c"], "x", span_id="02", start_time_unix_nano=2 * 10**9 - 1),
            call(2, [*told, answered("d"), "e"], "f", span_id="03", start_time_unix_nano=3 * 10**9),
        ]

        assert groups(alone(1, ["a"], "b"), Trace.from_spans(steps)) == [[1, 2]]
        (asked,) = facts_of(Trace.from_spans(steps)).asked
        assert len(asked.states) == 1

    @pytest.mark.parametrize("start", [6 * 10**9, 5 * 10**9])
    def test_a_run_that_goes_on_with_two_conversations_joins_them_not(self, start: int) -> None:
        """What goes on with the earlier one is one conversation; the other stays its own."""
        both = Trace.from_spans(
            [
                call(5, ["a", answered("b"), "?"], "x"),
                call(
                    5,
                    ["c", answered("d"), "?"],
                    "y",
                    span_id="06",
                    start_time_unix_nano=start,
                    end_time_unix_nano=8 * 10**9,
                ),
            ]
        )
        traces = [alone(1, ["a"], "b"), alone(2, ["c"], "d"), both]

        assert groups(*traces) == [[1, 5], [2]]
        assert doubts(*traces) == {
            5: f"another conversation has the history that it goes on from: {2:032x}",
        }


class TestSessions:
    """Traces that name a session or a user."""

    def test_a_session_is_a_conversation(self) -> None:
        """Whatever was said in it."""
        traces = [alone(n, [f"q{n}"], "a", session_id="s" if n % 2 else "t") for n in range(1, 6)]

        assert groups(*traces) == [[1, 3, 5], [2, 4]]

    def test_traces_without_session_join_one_by_history(self) -> None:
        """Before it and after it."""
        told = ["a", answered("b"), "c"]
        traces = [
            alone(1, ["a"], "b"),
            alone(2, told, "d", session_id="s"),
            alone(3, [*told, answered("d"), "e"], "f"),
            alone(4, ["x"], "y", session_id="s"),
        ]

        assert groups(*traces) == [[1, 2, 3, 4]]

    def test_two_sessions_are_never_joined(self) -> None:
        """A conversation that was taken over into a new session is another one; nor does a third join them."""
        told = ["a", answered("b"), "c"]
        traces = [
            alone(1, ["a"], "b", session_id="s"),
            alone(2, told, "d", session_id="t"),
            alone(3, [*told, answered("d"), "e"], "f", session_id="s"),
        ]

        assert groups(*traces) == [[1, 3], [2]]
        assert doubts(*traces) == {}

    def test_equal_sessions_have_no_doubts(self) -> None:
        """Each goes on with itself, however alike they are."""
        traces = [alone(n, ["Hi"], "Hello", session_id=f"s{n}") for n in range(1, 300)]
        later = alone(999, ["Hi", answered("Hello"), "A"], "a", session_id="s1")

        assert groups(*traces, later)[0] == [1, 999]
        assert doubts(*traces, later) == {}
        assert doubts(*traces[:5], later) == {}

    def test_two_users_are_never_joined(self) -> None:
        """Neither by what they said nor by a session that they share."""
        told = ["a", answered("b"), "c"]
        assert groups(alone(1, ["a"], "b", user_id="ada"), alone(2, told, "d", user_id="bob")) == [[1], [2]]
        assert groups(alone(1, ["a"], "b", user_id="ada"), alone(2, told, "d")) == [[1, 2]]

        shared = [
            alone(1, ["a"], "b", session_id="default", user_id="ada"),
            alone(2, ["c"], "d", session_id="default", user_id="bob"),
            alone(3, ["e"], "f", session_id="default"),
            alone(4, ["g"], "h", session_id="default", user_id="ada"),
        ]
        assert groups(*shared) == [[1, 4], [2], [3]]
        assert doubts(*shared) == {3: "its session has several users, and it names none of them"}

    def test_a_session_with_one_user(self) -> None:
        """Traces of it that name no user are that user's."""
        traces = [alone(1, ["a"], "b", session_id="s", user_id="ada"), alone(2, ["c"], "d", session_id="s")]

        assert groups(*traces) == [[1, 2]]


def test_what_is_recorded_twice() -> None:
    """A trace that only records a call again belongs to the trace in which the call counts; the facts keep why."""
    again = alone(2, ["a"], None)
    repeat = Repeat(Rule.TWO_INSTRUMENTATIONS, again.trace_id, "02", "chat", "01", f"{1:032x}")
    again.count_elsewhere(repeat)
    again.add_problem(Problem("doubled-call", "twice", "memory"))
    again.add_problem(Problem("other", "odd", "memory"))
    facts = facts_of(again)

    assert facts.repeats == (repeat,)
    assert [problem.kind for problem in facts.problems] == ["doubled-call"]
    assert groups(alone(1, ["a"], "b"), again) == [[1, 2]]
    assert groups(alone(3, ["a"], "b"), again) == [[2], [3]]


@given(
    seed=st.integers(),
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=6),
    alike=st.integers(0, 2),
)
def test_the_order_of_times_alone_counts(seed: int, sizes: list[int], alike: int) -> None:
    """Conversations with words of their own come out whole, whatever happened between their turns."""
    traces: list[Trace] = []
    expected: dict[int, list[int]] = {}
    shuffled = random.Random(seed)
    pool = shuffled.sample(range(1, 1000), sum(sizes))
    for number, size in enumerate(sizes):
        told: list[object] = []
        for turn, moment in enumerate(sorted(pool.pop() for _ in range(size))):
            # Some ask the same first question, and none gets the same answer.
            told.append("Hi" if not turn and number % (alike + 1) else f"q{number}.{turn}")
            said = f"a{number}.{turn}"
            traces.append(alone(moment, [*told], said))  # type: ignore[arg-type]
            told.append(answered(said))
            expected.setdefault(number, []).append(moment)
    shuffled.shuffle(traces)

    assert sorted(groups(*traces)) == sorted(expected.values())


def test_facts_are_small() -> None:
    """Of a call with a long history, what is kept does not hold what was said."""
    told = [item for number in range(100) for item in (f"q{number}", answered("x" * 10_000))]
    facts = facts_of(alone(1, [*told, "?"], "y" * 10_000))

    assert isinstance(facts, Facts)
    assert len(repr(facts)) < 64 * 200
