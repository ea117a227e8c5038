"""The TracerProvider that spans come from: the application's where it has one, else one that is made here.

OpenTelemetry takes a provider once and keeps it until the process ends. So the hub is attached to a provider once too,
and whatever may change with a later `init` (sampler, resource) is changed in place.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, Decision, Sampler, SamplingResult
from opentelemetry.trace import Link, SpanKind, TraceState
from opentelemetry.util.types import Attributes, AttributeValue

from pixie_otel.diagnostics import internal_error
from pixie_otel.tracing.hub import SpanHub
from pixie_otel.tracing.settings import Settings

__all__ = ["Attachment", "ReplaceableSampler", "UnseededIds", "attach", "detach", "limits_warning", "make_provider"]

_ITEMS: Final = 10_000
_FEW_ATTRIBUTES: Final = 1_000


class UnseededIds(IdGenerator):
    """Ids from the system's randomness: an application that calls `random.seed` does not repeat them."""

    def generate_span_id(self) -> int:
        """Make an id of 64 bits that is not zero."""
        return secrets.randbits(64) or self.generate_span_id()

    def generate_trace_id(self) -> int:
        """Make an id of 128 bits that is not zero."""
        return secrets.randbits(128) or self.generate_trace_id()

    def is_trace_id_random(self) -> bool:
        """Say that every bit of a trace id is random."""
        return True


class ReplaceableSampler(Sampler):
    """A sampler that stands for another one, which a later `init` may replace.

    Args:
        default: Decides where nobody has chosen a sampler.
    """

    def __init__(self, default: Sampler) -> None:
        self._default = default
        self._chosen = default

    def choose(self, sampler: Sampler | None) -> None:
        """Let a sampler decide from now on; ``None`` brings back the default."""
        self._chosen = self._default if sampler is None else sampler

    def should_sample(  # noqa: PLR0917 - the signature that a sampler has
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: TraceState | None = None,
    ) -> SamplingResult:
        """Decide as the sampler does; where that fails, the span is kept."""
        try:
            return self._chosen.should_sample(parent_context, trace_id, name, kind, attributes, links, trace_state)
        except Exception as error:  # noqa: BLE001 - the application must not notice that its sampler is broken
            internal_error("sampling", error)
            return SamplingResult(Decision.RECORD_AND_SAMPLE, attributes)

    def get_description(self) -> str:
        """Describe the sampler that decides."""
        return self._chosen.get_description()


@dataclass(frozen=True, slots=True)
class Attachment:
    """A provider, and the hub that takes its spans."""

    provider: TracerProvider
    """Makes the spans."""

    hub: SpanHub
    """Attached to the provider, once."""

    owned: bool
    """Whether the provider was made here, so that its settings are ours to choose."""

    private: bool
    """Whether it stands beside a global one that takes no processors."""


# Held strongly and compared by identity: a provider lives as long as the process, and may not be hashable.
_attached: list[Attachment] = []


def attach(settings: Settings, provider: trace.TracerProvider | None = None) -> tuple[Attachment, list[str]]:
    """Attach a hub to the provider in force; make one where there is none, or none that takes processors.

    Args:
        settings: What a provider that is made here is like.
        provider: The provider, where it is not the global one.

    Returns:
        The provider with its hub, the same ones each time, and what its user should know of it.
    """
    problems: list[str] = []
    if provider is None:
        provider = _global_provider(settings, problems)
    known = next((attached for attached in _attached if attached.provider is provider), None)
    if known is None and callable(getattr(provider, "add_span_processor", None)):
        known = _attach(cast("TracerProvider", provider), owned=False)
    if known is None:
        problems.append(
            f"the TracerProvider in force ({type(provider).__module__}.{type(provider).__qualname__}) takes no span "
            "processors; spans come from one of pixie-otel's own beside it, and do not reach the application's backend"
        )
        known = next((attached for attached in _attached if attached.private), None)
        known = known or _attach(make_provider(settings, problems, always_on=True), owned=True, private=True)
    if known.owned:
        _adapt(known.provider, settings, problems)
    else:
        problems += _misfits(known.provider, settings)
    return known, problems


def detach(hub: SpanHub) -> None:
    """Take a hub off a provider of the application's; where the SDK is built otherwise, it stays and does nothing.

    Args:
        hub: One that serves nothing any more.
    """
    attached = next((attached for attached in _attached if attached.hub is hub and not attached.owned), None)
    # Private, as there is no other way to take a processor off.
    processors: Any = getattr(attached and attached.provider, "_active_span_processor", None)
    listed, lock = getattr(processors, "_span_processors", None), getattr(processors, "_lock", None)
    if attached is None or lock is None or not isinstance(listed, tuple):
        return
    with lock:
        others = tuple(other for other in processors._span_processors if other is not hub)  # noqa: SLF001 - see above
        processors._span_processors = others  # noqa: SLF001 - likewise
    _attached.remove(attached)


def make_provider(settings: Settings, problems: list[str], *, always_on: bool = False) -> TracerProvider:
    """Make a provider that keeps long conversations whole.

    Args:
        settings: Its sampler, service name and resource attributes.
        problems: Takes what is wrong with the environment's limits.
        always_on: Whether every span is recorded where neither the settings nor ``OTEL_TRACES_SAMPLER`` say otherwise;
            an application's span that is not recorded would otherwise leave out all that happens below it.
    """
    provider = TracerProvider(resource=_resource(settings), id_generator=UnseededIds(), span_limits=_limits(problems))
    # It now has the sampler that the environment asks for, and no tracer has taken it over yet.
    unasked = always_on and not os.environ.get("OTEL_TRACES_SAMPLER")
    sampler = ReplaceableSampler(ALWAYS_ON if unasked else provider.sampler)
    sampler.choose(settings.sampler)
    provider.sampler = sampler
    return provider


def limits_warning(provider: object) -> str | None:
    """Say what the span limits of a provider do to long conversations; ``None`` where they do nothing."""
    # Private, as there is no other way to learn them; where they cannot be read, nobody is warned.
    limits = getattr(provider, "_span_limits", None)
    most = getattr(limits, "max_span_attributes", None)
    longest = getattr(limits, "max_span_attribute_length", None)
    said: list[str] = []
    if isinstance(most, int) and most < _FEW_ATTRIBUTES:
        said.append(
            f"the application's TracerProvider keeps {most} attributes of a span and drops the oldest, so a "
            f"conversation of more than about {max((most - 8) // 2, 1)} messages loses messages, then its input and "
            "output; set OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=10000 or give it SpanLimits(max_span_attributes=10000)"
        )
    if isinstance(longest, int):
        said.append(
            f"the application's TracerProvider cuts attributes after {longest} characters, and JSON that is cut cannot "
            "be read; unset OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT or give it SpanLimits without a length"
        )
    return "; ".join(said) or None


def _global_provider(settings: Settings, problems: list[str]) -> trace.TracerProvider:
    found = None
    try:
        found = trace.get_tracer_provider()
    except Exception as error:  # noqa: BLE001 - OTEL_PYTHON_TRACER_PROVIDER may name what cannot be loaded
        problems.append(f"OTEL_PYTHON_TRACER_PROVIDER cannot be used ({error!r}); another provider is made")
    if found is not None and not isinstance(found, trace.ProxyTracerProvider):
        return found
    made = make_provider(settings, problems)
    trace.set_tracer_provider(made)
    found = trace.get_tracer_provider()
    if found is made:
        _attach(made, owned=True)
    else:
        # Another thread was first, and this one must not stay behind with its handler for the end of the process.
        made.shutdown()
    return found


def _attach(provider: TracerProvider, *, owned: bool, private: bool = False) -> Attachment:
    hub = SpanHub()
    provider.add_span_processor(hub)
    attached = Attachment(provider, hub, owned, private)
    _attached.append(attached)
    return attached


def _adapt(provider: TracerProvider, settings: Settings, problems: list[str]) -> None:
    """Bring what an earlier `init` chose for a provider of ours up to date."""
    if isinstance(provider.sampler, ReplaceableSampler):
        provider.sampler.choose(settings.sampler)
    wanted = Resource(_own_attributes(settings)).attributes
    if all(provider.resource.attributes.get(name) == value for name, value in wanted.items()):
        return
    # Private, and not in every version.
    update = getattr(provider, "_update_resource", None)
    if callable(update):
        update(Resource(_own_attributes(settings)))
    else:
        problems.append(
            "the service name and the resource attributes were chosen when tracing was first set up, and stay; choose "
            "them in the first init(), or in OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES"
        )


def _misfits(provider: TracerProvider, settings: Settings) -> list[str]:
    """Say which settings have no effect on an application's provider, and what its limits do."""
    attributes = getattr(getattr(provider, "resource", None), "attributes", {})
    unmet = [
        name
        for name, given in (
            ("service_name", settings.service_name not in {None, attributes.get(SERVICE_NAME)}),
            ("resource_attributes", bool(settings.resource_attributes)),
            ("sampler", settings.sampler is not None),
        )
        if given
    ]
    problems: list[str] = []
    if unmet:
        problems.append(
            f"the application has a TracerProvider of its own, so init({', '.join(f'{name}=…' for name in unmet)}) has "
            "no effect; give it to that provider"
        )
    if (warning := limits_warning(provider)) is not None:
        problems.append(warning)
    return problems


def _own_attributes(settings: Settings) -> dict[str, AttributeValue]:
    named = {} if settings.service_name is None else {SERVICE_NAME: settings.service_name}
    return {**settings.resource_attributes, **named}


def _resource(settings: Settings) -> Resource:
    return Resource.create(_own_attributes(settings))


def _limits(problems: list[str]) -> SpanLimits:
    chosen = {
        name: None if any(os.environ.get(variable) for variable in variables) else most
        for name, (most, variables) in _LIMITS.items()
    }
    try:
        return SpanLimits(**chosen)
    except ValueError as error:
        problems.append(f"{error}; the limits of the environment are ignored")
        lengths = {"max_attribute_length": SpanLimits.UNSET, "max_span_attribute_length": SpanLimits.UNSET}
        return SpanLimits(**{name: most for name, (most, _) in _LIMITS.items()}, **lengths, max_attributes=_ITEMS)


_LIMITS: Final[Mapping[str, tuple[int, tuple[str, ...]]]] = {
    "max_span_attributes": (100_000, ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "OTEL_ATTRIBUTE_COUNT_LIMIT")),
    "max_events": (_ITEMS, ("OTEL_SPAN_EVENT_COUNT_LIMIT",)),
    "max_links": (_ITEMS, ("OTEL_SPAN_LINK_COUNT_LIMIT",)),
    "max_event_attributes": (_ITEMS, ("OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT", "OTEL_ATTRIBUTE_COUNT_LIMIT")),
    "max_link_attributes": (_ITEMS, ("OTEL_LINK_ATTRIBUTE_COUNT_LIMIT", "OTEL_ATTRIBUTE_COUNT_LIMIT")),
}
