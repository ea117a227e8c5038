"""`init` and its opposite: one call that makes an application's LLM calls visible, and never makes it fail."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Final

from opentelemetry.util.types import AttributeValue

from pixie_otel.diagnostics import internal_error, note, warn
from pixie_otel.errors import ConfigError
from pixie_otel.tracing import lifecycle, runtime
from pixie_otel.tracing.settings import Problem, Settings, is_strict, resolve
from pixie_otel.tracing.statistics import TracingStats, collect

# Loaded by `_begin`, which says where OpenTelemetry's SDK cannot be loaded.
if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.sdk.trace.sampling import Sampler

    from pixie_otel.exporters.redaction import Redact
    from pixie_otel.tracing.provider import Attachment

__all__ = ["flush", "init", "init_for_capture", "shutdown", "stats"]

_SCOPE: Final = "pixie_otel"
_REPLACING_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class _State:
    """What is in force, and what asked for it."""

    arguments: Mapping[str, object]
    settings: Settings
    attachment: Attachment
    sends: bool
    implicit: bool

    @property
    def is_over(self) -> bool:
        """Whether the application shut the provider down, and with it the destinations."""
        return self.sends and not self.attachment.hub.destinations


_state: _State | None = None
_last: Attachment | None = None
_lock = threading.RLock()
_said: set[str] = set()


def init(
    *,
    file: str | os.PathLike[str] | None = None,
    endpoint: str | None = None,
    headers: Mapping[str, str] | None = None,
    service_name: str | None = None,
    resource_attributes: Mapping[str, AttributeValue] | None = None,
    instrument: bool | Sequence[str] | None = None,
    capture_content: bool | None = None,
    redact: bool | Redact | None = None,
    exporters: Sequence[SpanExporter] | None = None,
    sampler: Sampler | None = None,
    strict: bool | None = None,
) -> None:
    """Make LLM calls and what is wrapped visible as OpenTelemetry spans, and send them where they are wanted.

    With nothing given, ``PIXIE_OTEL_FILE``, ``_ENDPOINT``, ``_INSTRUMENT``, ``_CAPTURE_CONTENT`` and ``_REDACT``,
    ``[tool.pixie-otel]`` of the nearest ``pyproject.toml`` and then the standard ``OTEL_*`` variables decide. The
    application's TracerProvider is used where it has one, and keeps its own exporters; so call this after it was set
    up, and after what else instruments libraries: what is instrumented is not instrumented again. A second call changes
    nothing; call `shutdown` first to begin anew.

    What is wrong with a setting, an instrumentation or a destination is one warning each, to the logger ``pixie_otel``;
    the application goes on, with what can be had.

    Args:
        file: Where to write spans as OTLP JSON lines: a file, or a folder that gets a file for each process; a folder
            ends with a separator, is one, or has no suffix.
        endpoint: The base URL of an OTLP receiver, such as ``http://localhost:4318``; by HTTP, unless
            ``OTEL_EXPORTER_OTLP_PROTOCOL`` is ``grpc``.
        headers: What is sent to it with every request, such as its key.
        service_name: What the application is called, its ``service.name``; else ``OTEL_SERVICE_NAME``.
        resource_attributes: What else is said of the application with every span, as OpenTelemetry's semantic
            conventions for resources have it, such as ``{"deployment.environment.name": "staging"}``.
        instrument: Whether installed instrumentations of LLM libraries are switched on, or the names of those that are,
            such as ``["openai"]``; true, when nothing says otherwise.
        capture_content: Whether inputs and outputs are recorded; true, when nothing says otherwise. OpenTelemetry's own
            GenAI instrumentations learn it from the environment: while one is switched on here,
            ``OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`` is ``SPAN_ONLY`` and
            ``OTEL_SEMCONV_STABILITY_OPT_IN`` has ``gen_ai_latest_experimental``, unless the first is set already. That
            holds for what else reads them.
        redact: Whether credentials are taken out; a function gets each attribute's key and value, after those have been
            taken out, and gives the value to record. True, when nothing says otherwise.
        exporters: Further destinations, each with a queue of its own.
        sampler: Decides which traces are recorded; else ``OTEL_TRACES_SAMPLER``, and all of them without it.
        strict: Whether what is wrong is raised; else ``PIXIE_OTEL_STRICT``, and false without it.

    Raises:
        ConfigError: Something is wrong, and `strict` is asked for.
    """
    arguments = {
        "file": file,
        "endpoint": endpoint,
        "headers": headers,
        "service_name": service_name,
        "resource_attributes": resource_attributes,
        "instrument": instrument,
        "capture_content": capture_content,
        "redact": redact,
        "exporters": exporters,
        "sampler": sampler,
    }
    _guarded_begin({name: value for name, value in arguments.items() if value is not None}, strict=is_strict(strict))


def init_for_capture() -> runtime.Runtime | None:
    """Set tracing up as `init` with nothing given does, for what needs it and finds that nobody has.

    Returns:
        What is in force; ``None`` where the environment switches tracing off. A later `init` still takes effect fully.
    """
    if runtime.current() is None:
        _guarded_begin({}, strict=is_strict(None), implicit=True)
    return runtime.current()


def flush(timeout: float | None = 30.0) -> bool:
    """Wait until every span that has ended is where it is to go.

    Args:
        timeout: How many seconds to wait at most, for all destinations together; ``None`` for as long as it takes.

    Returns:
        Whether everything got there.
    """
    in_force = runtime.current()
    if in_force is None:
        return True
    try:
        return in_force.hub.flush(timeout)
    except Exception as error:  # noqa: BLE001 - the application only wanted to be sure
        internal_error("flush", error)
        return False


def shutdown(timeout: float | None = 30.0) -> bool:
    """End tracing: write what has been recorded, close every destination and leave the end of the process alone.

    Instrumentation stays in place, without effect. `init` may be called again.

    Args:
        timeout: How many seconds that may take, for all destinations together; ``None`` for as long as it takes.

    Returns:
        Whether everything that was recorded got to where it was to go.
    """
    global _state
    started = time.monotonic()
    # Another thread may be in `init`, where it loads libraries.
    if not _lock.acquire(timeout=-1 if timeout is None else max(timeout, 0)):
        return False
    try:
        lifecycle.end_open_streams()
        in_force, _state = runtime.current(), None
        runtime.install(None)
        lifecycle.disarm()
        if in_force is None:
            return True
        left = None if timeout is None else max(timeout - (time.monotonic() - started), 0)
        return in_force.hub.close(left)
    except Exception as error:  # noqa: BLE001 - the application may be about to end, and goes on doing so
        internal_error("shutdown", error)
        return False
    finally:
        _lock.release()


def stats() -> TracingStats:
    """Say how many spans there were and where they are; all of it zero before `init`."""
    attachment = _last
    return collect(None if attachment is None else attachment.hub)


def _guarded_begin(arguments: Mapping[str, object], *, strict: bool, implicit: bool = False) -> None:
    try:
        with _lock:
            _begin(arguments, strict=strict, implicit=implicit)
    except ConfigError:
        # Only raised where it was asked for.
        raise
    except Exception as error:
        if strict:
            raise ConfigError(f"tracing cannot be set up: {type(error).__name__}: {error}") from error
        internal_error("init", error)


def _begin(arguments: Mapping[str, object], *, strict: bool, implicit: bool) -> None:
    global _state, _last
    before = _state
    if before is not None and not before.is_over and (implicit or not before.implicit):
        _compare(before, arguments, strict=strict)
        # The first call may have come from a thread that cannot set handlers of signals.
        lifecycle.arm()
        return
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        note("disabled", "OTEL_SDK_DISABLED is true: nothing is traced")
        return
    try:
        from pixie_otel.tracing.destinations import make_redactor, open_destinations
        from pixie_otel.tracing.dispatch import hand_over
        from pixie_otel.tracing.instrumentors import activate
        from pixie_otel.tracing.provider import attach
    except Exception as error:  # noqa: BLE001 - a wrong variable, a version that does not fit
        _tell([Problem(f"OpenTelemetry's SDK cannot be loaded, so nothing is traced: {error}", error)], strict=strict)
        return
    settings, problems = resolve(arguments)
    _tell(problems, strict=strict)
    attachment, remarks = attach(settings)
    redactor = make_redactor(settings)
    queues, closed = open_destinations(settings, redactor, standard=attachment.owned)
    unmet = activate(settings.instrument, attachment.provider, capture_content=settings.capture_content)
    _tell([*closed, *unmet], strict=strict)
    for remark in remarks:
        _say_once(remark)
    if before is not None:
        before.attachment.hub.close(_REPLACING_SECONDS)
    attachment.hub.redactor = redactor
    for queue in queues:
        attachment.hub.add_destination(queue)
    tracer = attachment.provider.get_tracer(_SCOPE, _version())
    runtime.install(runtime.Runtime(tracer, attachment.hub, settings.capture_content))
    hand_over()
    _state, _last = _State(dict(arguments), settings, attachment, bool(queues), implicit), attachment
    lifecycle.arm()
    if attachment.owned and not implicit and not queues and not closed:
        _say_once(
            "pixie_otel.init(): spans are made, but go nowhere yet; give init(file=…) or init(endpoint=…), or set "
            "PIXIE_OTEL_FILE or OTEL_EXPORTER_OTLP_ENDPOINT"
        )


def _compare(before: _State, arguments: Mapping[str, object], *, strict: bool) -> None:
    """Say that a second `init` changes nothing, where it asks for something else."""
    if not arguments or arguments == before.arguments:
        return
    settings, problems = resolve(arguments)
    _tell(problems, strict=strict)
    if settings != before.settings:
        _say_once(
            "pixie_otel.init() was called again with other settings, which change nothing; call pixie_otel.shutdown() "
            "before, if they are to hold"
        )


def _tell(problems: Sequence[Problem], *, strict: bool) -> None:
    if strict and problems:
        cause = next((problem.cause for problem in problems if problem.cause is not None), None)
        raise ConfigError("\n".join(problem.message for problem in problems)) from cause
    for problem in problems:
        warn(f"init: {problem.message}", problem.message)


def _say_once(message: str) -> None:
    if message not in _said:
        _said.add(message)
        warn(f"init: {message}", message)


@cache
def _version() -> str:
    try:
        return version("pixie-otel")
    except PackageNotFoundError:
        return ""


def _renew_lock() -> None:
    # Another thread may have held it when the process was forked, and that thread is not in the child.
    global _lock  # noqa: PLW0603 - see above
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
