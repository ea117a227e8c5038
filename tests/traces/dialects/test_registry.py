"""All dialects together."""

from __future__ import annotations

import json

from observed import event, observed, observed_call

from pixie_otel.traces import dialects
from pixie_otel.traces.dialects import DIALECTS, Dialect
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.spans import ObservationKind, Scope


def test_names_and_roots() -> None:
    """Every dialect has a name of its own, and roots that are whole segments of keys."""
    assert len({dialect.name for dialect in DIALECTS}) == len(DIALECTS)
    assert all(root == root.strip(".") for dialect in DIALECTS for root in dialect.roots)


def test_several_vocabularies_make_one_observation() -> None:
    """Two instrumentations on one span are merged, not doubled; the first counts, the others fill in."""
    span = observed_call(
        {
            "openinference.span.kind": "LLM",
            "llm.model_name": "m-1",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "Hi",
            "llm.token_count.prompt": 5,
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m",
            "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]),
            "gen_ai.output.messages": json.dumps(
                [{"role": "assistant", "parts": [{"type": "text", "content": "Hello"}]}]
            ),
            "gen_ai.usage.input_tokens": 5,
            "gen_ai.usage.output_tokens": 2,
            "session.id": "s",
        }
    )

    assert span.dialects == ("openinference", "gen_ai", "generic")
    assert [item.text for item in (*span.input_messages, *span.output_messages)] == ["Hi", "Hello"]
    assert (span.input_tokens, span.output_tokens, span.request_model, span.response_model) == (5, 2, "m", "m-1")
    assert (span.operation, span.session_id) == ("chat", "s")


def test_what_one_hides_another_may_show() -> None:
    """Content that one vocabulary was told to hide is read from the other."""
    span = observed_call(
        {
            "openinference.span.kind": "LLM",
            "llm.output_messages.0.message.content": "__REDACTED__",
            "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "Hello"}]}],
        }
    )

    assert span.output == "Hello"


def test_spans_of_no_dialect() -> None:
    """A span that nobody understands is an observation all the same."""
    span = observed({"http.method": "GET"}, event("retry"))

    assert (span.kind, span.input, span.output, span.dialects) == (ObservationKind.OTHER, None, None, ())
    assert span.attributes == {"http.method": "GET"}


def test_only_those_are_asked_that_may_know() -> None:
    """A dialect is asked where a key or an event begins as its roots say; what says nothing is not named."""
    asked: list[str] = []

    def ask(span: SpanFacts) -> Reading | None:
        asked.append(span.name)
        return Reading(input="x") if span.name == "b" else None

    known = Dialect("zork", frozenset({"zork"}), ask)
    facts = [
        SpanFacts(trace_id="t", span_id="1", name="a", attributes={"zork.x": 1}),
        SpanFacts(trace_id="t", span_id="2", name="b", events=(event("zork.said"),)),
        SpanFacts(trace_id="t", span_id="3", name="c", attributes={"other.zork": 1}),
    ]
    read = [dialects.read(span, [known]) for span in facts]

    assert asked == ["a", "b"]
    assert [names for _, names in read] == [(), ("zork",), ()]
    assert read[1][0].input == "x"


def test_roots_of_several_segments() -> None:
    """A root of several segments is a key or the beginning of one, up to a dot."""
    known = Dialect("zork", frozenset({"zork.said.it"}), lambda _: Reading(input="x"))
    keys = ("zork.said.it", "zork.said.it.0.x", "zork.said.items", "zork.said", "zork", "it")
    read = [dialects.read(SpanFacts(trace_id="t", span_id="1", attributes={key: 1}), [known]) for key in keys]

    assert [bool(names) for _, names in read] == [True, True, False, False, False, False]


def test_an_object_is_decoded_once() -> None:
    """What several dialects look into is decoded for the first of them only; what is no object is empty."""
    span = SpanFacts(trace_id="t", span_id="1", attributes={"metadata": '{"a": 1}', "other": "[1]"})

    assert (span.json_object("metadata"), span.json_object("other"), span.json_object("none")) == ({"a": 1}, {}, {})
    assert span.json_object("metadata") is span.json_object("metadata")


def test_filling_keeps_what_was_said() -> None:
    """An earlier reading counts, empty values too; notes are collected."""
    first = Reading(input="", output_messages=(), notes=("a",))
    first.fill(Reading(input="x", output="y", output_messages=None, notes=("b",)))

    assert (first.input, first.output, first.output_messages, first.notes) == ("", "y", (), ("a", "b"))


def test_a_span_without_keys_is_known_by_name_and_scope() -> None:
    """Dialects are asked about spans whose name or scope begins with a root of theirs."""
    known = Dialect("zork", frozenset({"zork"}), lambda _: Reading(input="x"))
    facts = [
        SpanFacts(trace_id="t", span_id="1", name="zork.run"),
        SpanFacts(trace_id="t", span_id="2", name="a", scope=Scope(name="zork.tracer")),
        SpanFacts(trace_id="t", span_id="3", name="a zork"),
    ]

    assert [names for _, names in (dialects.read(span, [known]) for span in facts)] == [("zork",), ("zork",), ()]
