"""Facts about the provider that spans come from."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, Decision, ParentBased, Sampler, SamplingResult
from programs import run_program

from pixie_otel import diagnostics
from pixie_otel.tracing import provider as module
from pixie_otel.tracing.provider import ReplaceableSampler, UnseededIds, attach, limits_warning, make_provider
from pixie_otel.tracing.settings import Settings


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_attached", [])
    for variable in ("OTEL_TRACES_SAMPLER", "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"):
        monkeypatch.delenv(variable, raising=False)


def _make(settings: Settings | None = None, *, always_on: bool = False) -> TracerProvider:
    problems: list[str] = []
    made = make_provider(settings or Settings(), problems, always_on=always_on)
    made.shutdown()  # takes its handler for the end of the process away; it still makes spans
    assert not problems
    return made


def _is_recorded(provider: TracerProvider, *, parent: bool | None = None) -> bool:
    context = None
    if parent is not None:
        flags = trace.TraceFlags(trace.TraceFlags.SAMPLED if parent else trace.TraceFlags.DEFAULT)
        above = trace.NonRecordingSpan(trace.SpanContext(1, 2, is_remote=True, trace_flags=flags))
        context = trace.set_span_in_context(above)
    return provider.get_tracer("t").start_span("s", context=context).is_recording()


class _Foreign(trace.NoOpTracerProvider):
    """A provider that takes no processors."""


def test_ids_do_not_repeat_with_the_seed() -> None:
    """An application that seeds `random` for each request still gets new ids; they have their full length."""
    ids = UnseededIds()
    seen: list[tuple[int, int]] = []
    for _ in range(3):
        random.seed(42)
        seen.append((ids.generate_trace_id(), ids.generate_span_id()))
    assert len({one for one, _ in seen}) == len({two for _, two in seen}) == 3
    assert all(0 < one < 2**128 and 0 < two < 2**64 for one, two in seen)
    assert ids.is_trace_id_random()


def test_a_long_conversation_stays_whole() -> None:
    """A span of ours keeps thousands of attributes, events and links."""
    provider = _make()
    links = [trace.Link(trace.SpanContext(1, number, is_remote=False)) for number in range(1, 2000)]
    span: Any = provider.get_tracer("t").start_span("s", links=links)
    for number in range(20_000):
        span.set_attribute(f"llm.input_messages.{number}.message.content", "x")
    for number in range(2000):
        span.add_event("e", {str(number): number})
    span.add_event("e", {str(number): number for number in range(2000)})
    span.end()
    assert len(span.attributes) == 20_000
    assert span.dropped_attributes == span.dropped_events == span.dropped_links == 0
    assert len(span.events[-1].attributes) == 2000


def test_limits_of_the_environment_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that the standard variables set are kept, each of them, and the others are high."""
    monkeypatch.setenv("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "5")
    limits: Any = _make()._span_limits
    assert (limits.max_span_attributes, limits.max_events, limits.max_event_attributes) == (5, 10_000, 10_000)
    monkeypatch.setenv("OTEL_ATTRIBUTE_COUNT_LIMIT", "7")
    monkeypatch.setenv("OTEL_SPAN_EVENT_COUNT_LIMIT", "3")
    monkeypatch.setenv("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "9")
    limits = _make()._span_limits
    assert (limits.max_span_attributes, limits.max_events, limits.max_event_attributes) == (5, 3, 7)
    assert limits.max_span_attribute_length == 9


@pytest.mark.parametrize("variable", ["OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"])
def test_a_wrong_limit_is_told(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    """A limit that is no number is one message, and the provider is made without it."""
    monkeypatch.setenv(variable, "many")
    problems: list[str] = []
    provider: Any = make_provider(Settings(), problems)
    provider.shutdown()
    assert len(problems) == 1
    assert variable in problems[0]
    assert provider._span_limits.max_span_attributes == 100_000
    assert provider._span_limits.max_span_attribute_length is None


def test_the_service_is_named_by_the_settings_else_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is given goes before `OTEL_SERVICE_NAME`, and attributes of both are there."""
    monkeypatch.setenv("OTEL_SERVICE_NAME", "environment")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "a=1,b=2")
    assert _make().resource.attributes["service.name"] == "environment"
    attributes = _make(Settings(service_name="bot", resource_attributes={"b": 3})).resource.attributes
    assert (attributes["service.name"], attributes["a"], attributes["b"]) == ("bot", "1", 3)


def test_the_resource_does_not_tell_how_the_process_was_started() -> None:
    """A command line may hold keys, and stays out."""
    assert not [name for name in _make().resource.attributes if name.startswith("process.command")]


def test_the_sampler_is_the_given_one_else_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """`sampler=` goes before `OTEL_TRACES_SAMPLER`, and without both everything is recorded."""
    assert _is_recorded(_make())
    assert not _is_recorded(_make(), parent=False)
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    assert not _is_recorded(_make())
    assert not _is_recorded(_make(always_on=True))
    assert _is_recorded(_make(Settings(sampler=ALWAYS_ON)))


def test_beside_another_provider_everything_is_recorded() -> None:
    """What the application's own provider leaves out does not keep ours from recording what is below it."""
    assert _is_recorded(_make(always_on=True), parent=False)


def test_a_broken_sampler_keeps_the_span(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sampler that raises is counted, and the application goes on with a span that is recorded."""
    monkeypatch.setattr(diagnostics, "_errors", {})
    monkeypatch.setattr(diagnostics, "_last", {"internal-error:sampling": float("inf")})

    class Broken(Sampler):
        def should_sample(self, *args: Any, **kwargs: Any) -> SamplingResult:
            raise RuntimeError

        def get_description(self) -> str:
            return "broken"

    assert _is_recorded(_make(Settings(sampler=Broken())))
    assert diagnostics.internal_errors() == {"sampling": 1}


def test_a_sampler_can_be_replaced() -> None:
    """What stands for a sampler asks the one that was chosen last, and its default after that."""
    sampler = ReplaceableSampler(ParentBased(ALWAYS_ON))
    sampler.choose(ALWAYS_OFF)
    assert sampler.should_sample(None, 1, "s").decision is Decision.DROP
    assert sampler.get_description() == ALWAYS_OFF.get_description()
    sampler.choose(None)
    assert sampler.should_sample(None, 1, "s").decision is Decision.RECORD_AND_SAMPLE


def test_an_application_s_provider_gets_one_hub() -> None:
    """A provider of the SDK is used as it is, and however often it is attached, spans pass one hub once."""
    provider = TracerProvider(
        shutdown_on_exit=False, span_limits=SpanLimits(max_span_attributes=10_000), sampler=ALWAYS_ON
    )
    first, problems = attach(Settings(), provider)
    second, _ = attach(Settings(), provider)
    assert not problems
    assert first == second
    assert (first.provider, first.owned, first.private) == (provider, False, False)
    provider.get_tracer("t").start_span("s").end()
    assert first.hub.stats().ended == 1


def test_a_provider_of_another_library_is_used_by_what_it_can() -> None:
    """A provider need not be the SDK's, nor hashable: it takes processors, and that is enough."""

    class Wrapper:
        __hash__ = None  # type: ignore[assignment]

        def __init__(self) -> None:
            self.processors: list[SpanProcessor] = []

        def add_span_processor(self, processor: SpanProcessor) -> None:
            self.processors.append(processor)

    wrapper: Any = Wrapper()
    attached, problems = attach(Settings(service_name="bot"), wrapper)
    attach(Settings(), wrapper)
    assert wrapper.processors == [attached.hub]
    assert len(problems) == 1


def test_beside_a_provider_without_processors_there_is_one_of_ours() -> None:
    """A provider that takes none is left alone, one of ours is made once, and that is told."""
    first, problems = attach(Settings(service_name="bot"), _Foreign())
    second, _ = attach(Settings(), _Foreign())
    first.provider.shutdown()
    assert first == second
    assert (first.owned, first.private) == (True, True)
    assert first.provider.resource.attributes["service.name"] == "bot"
    assert len(problems) == 1
    assert "_Foreign) takes no span processors" in problems[0]


def test_low_limits_of_an_application_s_provider_are_told() -> None:
    """The standard limits lose long conversations, and the message says from how many messages on and what to do."""
    _, problems = attach(Settings(), TracerProvider(shutdown_on_exit=False))
    assert len(problems) == 1
    assert "keeps 128 attributes of a span" in problems[0]
    assert "more than about 60 messages" in problems[0]
    assert "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=10000" in problems[0]


def test_a_length_limit_of_an_application_s_provider_is_told() -> None:
    """A limit on the length of values cuts JSON, and is told; enough of both is silent."""
    high = SpanLimits(max_span_attributes=10_000)
    cut = SpanLimits(max_span_attributes=10_000, max_span_attribute_length=100)
    assert limits_warning(TracerProvider(shutdown_on_exit=False, span_limits=high)) is None
    warning = limits_warning(TracerProvider(shutdown_on_exit=False, span_limits=cut))
    assert warning is not None
    assert "after 100 characters" in warning
    assert limits_warning(object()) is None


def test_settings_that_an_application_s_provider_has_itself_are_told() -> None:
    """A name, attributes and a sampler have no effect there, and one message says so; the same name is fine."""
    provider = TracerProvider(
        shutdown_on_exit=False,
        resource=Resource({"service.name": "app"}),
        span_limits=SpanLimits(max_span_attributes=10_000),
    )
    assert attach(Settings(service_name="app"), provider)[1] == []
    _, (problem,) = attach(Settings(service_name="x", resource_attributes={"a": 1}, sampler=ALWAYS_ON), provider)
    assert "init(service_name=…, resource_attributes=…, sampler=…) has no effect" in problem


def test_a_later_choice_takes_effect_on_a_provider_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name and a sampler that are chosen later hold for spans of tracers that are there already."""
    attached, _ = attach(Settings(), _Foreign())
    provider = attached.provider
    provider.shutdown()
    tracer = provider.get_tracer("t")
    attach(Settings(service_name="late", resource_attributes={"a": ["x"]}, sampler=ALWAYS_OFF), _Foreign())
    assert not tracer.start_span("s").is_recording()
    attach(Settings(service_name="late", resource_attributes={"a": ["x"]}), _Foreign())
    span: Any = tracer.start_span("s")
    assert (span.resource.attributes["service.name"], span.resource.attributes["a"]) == ("late", ("x",))
    # Older versions of the SDK cannot change it.
    monkeypatch.setattr(provider, "_update_resource", None)
    _, problems = attach(Settings(service_name="later"), _Foreign())
    assert "choose them in the first init()" in problems[-1]


def test_a_global_provider_is_made_once(tmp_path: Path) -> None:
    """Where the application has none, one is made for the whole process, with one hub."""
    out, _ = run_program(
        """
        import json
        from opentelemetry import trace
        from pixie_otel.tracing.provider import attach
        from pixie_otel.tracing.settings import Settings
        found = [attach(Settings(service_name="bot"))[0], attach(Settings())[0]]
        provider = trace.get_tracer_provider()
        print(json.dumps([
            all(one.provider is provider and one.owned and not one.private for one in found),
            found[0].hub is found[1].hub,
            provider.resource.attributes["service.name"],
        ]))
        """,
        tmp_path,
    )
    assert json.loads(out) == [True, True, "bot"]


def test_a_provider_that_the_environment_cannot_load_is_replaced(tmp_path: Path) -> None:
    """`OTEL_PYTHON_TRACER_PROVIDER` with a wrong name is told, and the application gets a provider that works."""
    out, _ = run_program(
        """
        import json, logging
        logging.disable()
        from opentelemetry import trace
        from pixie_otel.tracing.provider import attach
        from pixie_otel.tracing.settings import Settings
        attached, problems = attach(Settings())
        print(json.dumps([trace.get_tracer_provider() is attached.provider, problems]))
        """,
        tmp_path,
        {"OTEL_PYTHON_TRACER_PROVIDER": "no_such_thing"},
    )
    works, problems = json.loads(out)
    assert works
    assert [problem.startswith("OTEL_PYTHON_TRACER_PROVIDER cannot be used") for problem in problems] == [True]


def test_a_provider_that_another_thread_set_first_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the application sets its provider while ours is being made, the application's is the one."""
    theirs = TracerProvider(shutdown_on_exit=False, span_limits=SpanLimits(max_span_attributes=10_000))
    answers = iter([trace.ProxyTracerProvider(), theirs])
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: next(answers))
    monkeypatch.setattr(trace, "set_tracer_provider", lambda _: None)
    attached, problems = attach(Settings())
    assert (attached.provider, attached.owned, problems) == (theirs, False, [])
