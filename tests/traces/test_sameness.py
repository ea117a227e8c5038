"""Whether two spans recorded the same model call."""

from __future__ import annotations

import pytest
from checked_traces import llm, says, user
from msgspec import structs

from pixie_otel.evaluable import ToolCall
from pixie_otel.traces.beside import Beside
from pixie_otel.traces.sameness import CallFacts, models_agree, same_call
from pixie_otel.traces.spans import Scope

START = 1_700_000_000_000_000_000
BARE = CallFacts(
    trace_id="0af7651916cd43dd8448eb211c80319c",
    span_id="00000000000000b0",
    name="chat",
    scopes=frozenset({"a"}),
    start=START,
    end=START + 1000,
    model="gpt-4o",
    input_tokens=None,
    output_tokens=None,
    response_id=None,
    failed=False,
    question=None,
    text=None,
    tools=None,
)
"""A call of which nothing but the model is known."""


def outer(**facts: object) -> CallFacts:
    """Make a call."""
    return structs.replace(BARE, **facts)


def inner(**facts: object) -> CallFacts:
    """Make what another instrumentation recorded within it."""
    return structs.replace(BARE, **{"scopes": frozenset({"b"}), "start": START + 1, "end": START + 999, **facts})


@pytest.mark.parametrize(
    "known",
    [
        {"text": b"answer"},
        {"tools": b"asked for"},
        {"question": b"asked"},
        {"input_tokens": 5, "output_tokens": 2},
        {"response_id": "chatcmpl-1"},
        {"failed": True},
    ],
    ids=lambda known: next(iter(known)),
)
def test_something_must_speak_for_it(known: dict[str, object]) -> None:
    """The answer, the question, the tokens, the answer's id, or that both failed."""
    assert same_call(outer(**known), inner(**known))
    assert not same_call(outer(**known), inner())
    assert not same_call(outer(), inner())


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({}, {"model": "o1"}),
        ({"text": b"1"}, {"text": b"2"}),
        ({"tools": b"1"}, {"tools": b"2"}),
        ({"question": b"1"}, {"question": b"2"}),
        ({"input_tokens": 1, "output_tokens": 2}, {"input_tokens": 1, "output_tokens": 3}),
        ({"response_id": "chatcmpl-1"}, {"response_id": "chatcmpl-2"}),
        ({"failed": True}, {"failed": False}),
        ({"scopes": frozenset({"a", "b"})}, {}),
        ({"start": START + 2}, {}),
        ({"start": 0}, {}),
        ({"end": START + 10}, {"end": START + 2_000_000}),
    ],
)
def test_anything_that_speaks_against_it_decides(ours: dict[str, object], theirs: dict[str, object]) -> None:
    """Whatever else is the same."""
    same = {"text": b"answer"} if "text" not in ours else {"tools": b"asked for"}

    assert same_call(outer(**same), inner(**same))
    assert not same_call(outer(**{**same, **ours}), inner(**{**same, **theirs}))


def test_a_question_may_be_worded_otherwise() -> None:
    """Where the answer and the tokens are the same: some frameworks give tool results as the user's words."""
    same = {"text": b"answer", "input_tokens": 5, "output_tokens": 2}

    assert same_call(outer(**same, question=b"1"), inner(**same, question=b"2"))
    assert not same_call(outer(text=b"answer", question=b"1"), inner(text=b"answer", question=b"2"))


def test_ids_of_two_kinds_say_nothing() -> None:
    """A framework may have made up one of its own."""
    assert same_call(
        outer(response_id="lc_run--1", text=b"answer"), inner(response_id="chatcmpl-000156", text=b"answer")
    )


def test_the_same_id_is_enough() -> None:
    """Whatever somebody counted by himself; and a span that has nothing else was made by the provider's SDK."""
    assert same_call(outer(response_id="msg_1", output_tokens=9), inner(response_id="msg_1", output_tokens=8))
    one_scope = {"response_id": "msg_1", "scopes": frozenset({"a"})}
    assert same_call(outer(**one_scope, text=b"answer"), inner(**one_scope, end=START + 5_000_000))
    assert not same_call(outer(**one_scope), inner(**one_scope))
    assert not same_call(outer(**one_scope, text=b"answer"), inner(**one_scope, question=b"asked"))
    assert not same_call(outer(**one_scope, text=b"answer"), inner(**one_scope, start=START + 1001, end=START + 1002))


def test_names_of_models() -> None:
    """Providers add a date to a name, and gateways a prefix."""
    assert models_agree("openai/gpt-4o", "gpt-4o-2024-08-06")
    assert models_agree(None, "gpt-4o")
    assert not models_agree("gpt-4o", "claude-sonnet-4-5")


def test_the_facts_of_a_call() -> None:
    """White space and how arguments are ordered make no difference."""
    call = ToolCall("f", {"a": 1, "b": 2}, "call_1")
    one = llm("00000000000000b0", says("Hello  world", call), input_messages=(user("Hi\n"),), scope=Scope("x"))
    other = llm(
        "00000000000000b1", says("Hello world\n", ToolCall("f", {"b": 2, "a": 1})), input_messages=(user("Hi"),)
    )
    facts = CallFacts.of(one)

    assert (facts.text, facts.tools, facts.question) == tuple(
        getattr(CallFacts.of(other), name) for name in ("text", "tools", "question")
    )
    assert facts.scopes == {"x"}
    assert facts.has_answer
    assert facts.has_content
    assert not CallFacts.of(llm("00000000000000b0", says("", ToolCall("f", {})))).text
    assert CallFacts.of(llm("00000000000000b0", says("\ud800"))).text


class TestBeside:
    """Calls found as they come."""

    def test_the_closest_fit(self) -> None:
        """Of two that a call lies in, it is the one that it fills most."""
        beside: Beside[str] = Beside()
        beside.add(outer(text=b"x", end=START + 5000), "long")
        beside.add(outer(text=b"x"), "short")

        assert beside.around(inner(text=b"x")) == "short"
        assert beside.around(inner(text=b"x")) == "long"
        assert beside.around(inner(text=b"x")) is None

    def test_what_it_cannot_be(self) -> None:
        """It is left aside."""
        beside: Beside[str] = Beside()
        beside.add(outer(text=b"x"), "a")

        assert beside.around(inner(text=b"x"), {"a"}) is None

    def test_calls_that_have_ended_are_given_up(self) -> None:
        """So that few are compared."""
        beside: Beside[str] = Beside()
        beside.add(outer(text=b"x"), "a")

        assert beside.is_open(START + 1000)
        assert not beside.is_open(START + 1001)
        assert beside.around(inner(text=b"x")) is None

    def test_many_at_a_time(self) -> None:
        """The oldest is given up."""
        beside: Beside[int] = Beside(most_open=2)
        for key in range(3):
            beside.add(outer(text=bytes([key])), key)

        assert beside.around(inner(text=bytes([0]))) is None
        assert beside.around(inner(text=bytes([1]))) == 1


def test_half_of_what_speaks_for_it_is_not_enough() -> None:
    """One count of tokens may be the same by chance, and so may a failure where nobody says of which model."""
    for known in ({"input_tokens": 5}, {"output_tokens": 2}, {"failed": True, "model": None}):
        assert not same_call(outer(**known), inner(**known)), known


def test_questions_in_other_words() -> None:
    """They are the same where the answer and both counts of tokens are."""
    known: dict[str, object] = {"text": b"answer", "input_tokens": 5, "output_tokens": 2}
    asked, reworded = {"question": b"asked"}, {"question": b"reworded"}

    assert same_call(outer(**known, **asked), inner(**known, **reworded))
    for name in known:
        assert not same_call(outer(**known | {name: None}, **asked), inner(**known | {name: None}, **reworded)), name
