"""The redactor looks at every part of a span, asks the user's function, and refuses what it cannot make safe."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from made_secrets import KEY, PLAIN, written
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, Status, StatusCode
from sdk_spans import sdk_span

from pixie_otel.exporters.redaction import RedactionError, Redactor, hide_from_environment

_ENDLESS: list[Any] = []
_ENDLESS.append(_ENDLESS)


def test_resources_are_looked_at_once() -> None:
    """One resource is redacted once for all of its spans, and of many, few are kept."""
    redactor = Redactor()
    resource = Resource({"password": PLAIN})
    spans = [sdk_span(number=n) for n in (1, 2)]
    for span in spans:
        span._resource = resource
    first, second = map(redactor.redact, spans)
    for number in range(200):
        redactor.redact(sdk_span(resource={"number": number}))

    assert first.resource is second.resource
    assert first.resource.attributes == {"password": "<redacted>"}
    assert len(redactor._resources) < 100


def test_every_part_of_a_span_is_looked_at() -> None:
    """Names, events, links, the status and the resource are cleaned, too, and everything else comes through."""
    context = SpanContext(1, 9, is_remote=True)
    span = sdk_span(
        {"a": KEY, "b": 1},
        name=f"GET https://example.com/?api_key={PLAIN}",
        parent=context,
        events=[Event("exception", {"exception.message": f"bad key {KEY}", "n": 1}, 7), Event(f"used {KEY}", {}, 8)],
        links=[Link(context, {"password": PLAIN})],
        status=Status(StatusCode.ERROR, f"Incorrect API key: {KEY}"),
        resource={"service.name": "bot", "process.command_args": ["app", "--token=" + KEY]},
        instrumentation_scope=InstrumentationScope(f"s {KEY}", "1", "", {"password": PLAIN}),
    )
    found = Redactor().redact(span)
    text = written(found)

    assert KEY not in text
    assert PLAIN not in text
    assert found.events[0].attributes == {"exception.message": "bad key <redacted: openai-key>", "n": 1}
    assert found.status.description == "Incorrect API key: <redacted: openai-key>"
    assert (found.context, found.parent, found.kind) == (span.context, context, span.kind)
    assert (found.start_time, found.end_time, found.events[0].timestamp) == (span.start_time, span.end_time, 7)
    assert found.resource.attributes["service.name"] == "bot"
    assert found.instrumentation_scope == InstrumentationScope(
        "s <redacted: openai-key>", "1", "", {"password": "<redacted>"}
    )
    assert KEY in written(span), "the span itself is not touched: others have it, too"


def test_counts_of_what_was_dropped_are_kept() -> None:
    """How many attributes, events and links the SDK dropped is known of the new span as well."""
    memory = InMemorySpanExporter()
    limits = SpanLimits(max_span_attributes=2, max_events=1, max_links=1, max_event_attributes=1)
    provider = TracerProvider(span_limits=limits)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    context = SpanContext(1, 9, is_remote=False)
    with provider.get_tracer("t").start_as_current_span("x", links=[Link(context), Link(context)]) as span:
        span.set_attributes({"a": 1, "b": 2, "password": PLAIN})
        span.add_event("one")
        span.add_event("two", {"a": 1, "b": 2})
    (ended,) = memory.get_finished_spans()
    found = Redactor().redact(ended)

    assert found is not ended
    assert (found.dropped_attributes, found.dropped_events, found.dropped_links) == (1, 1, 1)
    assert found.events[0].dropped_attributes == 1


class TestTheUsersFunction:
    """A user's function has the last word on every value."""

    def test_it_may_change_any_value(self) -> None:
        """It is given attributes, those of events, links and resource, and the status, after the defaults."""
        seen: dict[str, Any] = {}

        def hook(key: str, value: Any) -> Any:
            seen[key] = value
            return "hidden" if key == "email" else value

        span = sdk_span(
            {"email": "a@example.com", "a": KEY, "list": [1, {"x": 2}]},
            events=[Event("e", {"in.event": 1})],
            links=[Link(SpanContext(1, 2, is_remote=False), {"in.link": 2})],
            status=Status(StatusCode.ERROR, "no"),
            resource={"service.name": "bot"},
        )
        found = Redactor(hook).redact(span)

        assert found.attributes == {"email": "hidden", "a": "<redacted: openai-key>", "list": (1, {"x": 2})}
        assert seen == {
            "email": "a@example.com",
            "a": "<redacted: openai-key>",
            "list": [1, {"x": 2}],
            "in.event": 1,
            "in.link": 2,
            "status.description": "no",
            "service.name": "bot",
        }

    def test_it_works_on_copies(self) -> None:
        """What it does to a value does not reach the span, unless it returns it."""

        def hook(_key: str, value: Any) -> Any:
            if isinstance(value, list):
                value.append("more")
            return value

        span = sdk_span({"list": [1]})
        found = Redactor(hook).redact(span)

        assert (span.attributes or {})["list"] == (1,)
        assert (found.attributes or {})["list"] == (1, "more")

    @pytest.mark.parametrize("returned", [object(), {1, 2}, [object()], _ENDLESS])
    def test_what_no_json_can_be_is_hidden(self, returned: Any, caplog: pytest.LogCaptureFixture) -> None:
        """If it returns something else than JSON, the value is not recorded."""
        found = Redactor(lambda _key, _value: returned).redact(sdk_span({"a": KEY}))
        assert found.attributes == {"a": "<redaction failed>"}

    def test_bytes_are_given_as_base64(self) -> None:
        """Bytes come to it as Base64, and stay bytes where it leaves them."""
        seen: list[Any] = []
        found = Redactor(lambda _key, value: seen.append(value) or value).redact(sdk_span({"a": b"abc"}))
        assert ("YWJj" in seen, found.attributes) == (True, {"a": b"abc"})

    def test_its_failure_hides_the_value(self, caplog: pytest.LogCaptureFixture) -> None:
        """If it raises, that value is not recorded, and its owner is told without the value."""

        def hook(key: str, value: Any) -> Any:
            if key == "a":
                raise RuntimeError(f"cannot deal with {value}")
            return value

        with caplog.at_level(logging.WARNING, "pixie_otel"):
            found = Redactor(hook).redact(sdk_span({"a": "private words", "b": 1}))

        assert found.attributes == {"a": "<redaction failed>", "b": 1}
        assert "private words" not in caplog.text

    def test_what_ends_the_process_passes(self) -> None:
        """An interrupt within it is no failure of its own."""

        def hook(_key: str, _value: Any) -> Any:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            Redactor(hook).redact(sdk_span({"a": 1}))


def test_false_leaves_everything() -> None:
    """With `redact=False`, nothing is looked at."""
    span = sdk_span({"password": KEY})
    assert Redactor(redact=False).redact(span) is span


def test_a_span_that_cannot_be_made_safe_is_refused() -> None:
    """A span whose parts cannot be read is an error without its contents, so that nobody writes it."""

    class Broken(ReadableSpan):
        @property
        def events(self) -> Any:
            raise RuntimeError(KEY)

    span = Broken("x", SpanContext(1, 2, is_remote=False), attributes={"password": PLAIN}, resource=Resource({}))
    with pytest.raises(RedactionError) as raised:
        Redactor().redact(span)
    assert KEY not in str(raised.value)


class TestOpenInferencesSettings:
    """`OPENINFERENCE_HIDE_*` counts for every span."""

    def test_nothing_is_hidden_where_nothing_is_set(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without such a variable, or with one that says no, there is nothing to apply."""
        monkeypatch.setenv("OPENINFERENCE_HIDE_INPUTS", "false")
        assert hide_from_environment() is None

    @pytest.mark.parametrize("redact", [True, False])
    def test_inputs_and_outputs_are_hidden(self, monkeypatch: pytest.MonkeyPatch, redact: bool) -> None:  # noqa: FBT001 - a parameter of the test
        """Inputs or outputs are hidden in OpenInference's vocabulary and in others, and the rest stays."""
        monkeypatch.setenv("OPENINFERENCE_HIDE_INPUTS", "true")
        monkeypatch.setenv("OPENINFERENCE_HIDE_OUTPUTS", "TRUE")
        attributes = {
            "input.value": "hi",
            "input.mime_type": "text/plain",
            "output.value": "ho",
            "llm.model_name": "m",
            "llm.input_messages.0.message.content": "hi",
            "gen_ai.prompt.0.content": "hi",
            "gen_ai.output.messages": "ho",
            "pixie.wrap.name": "n",
        }
        found = Redactor(redact, hide=hide_from_environment()).redact(sdk_span(attributes))

        assert found.attributes == {
            "input.value": "__REDACTED__",
            "output.value": "__REDACTED__",
            "llm.model_name": "m",
            "gen_ai.prompt.0.content": "__REDACTED__",
            "gen_ai.output.messages": "__REDACTED__",
            "pixie.wrap.name": "n",
        }

    def test_a_failure_hides_the_value(self) -> None:
        """Where hiding fails, the value is not recorded."""

        def hide(key: str, value: object) -> object:
            raise RuntimeError("no")

        assert Redactor(hide=hide).redact(sdk_span({"a": "words"})).attributes == {"a": "<redaction failed>"}
