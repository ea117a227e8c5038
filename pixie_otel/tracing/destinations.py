"""Where spans go: a file, an OTLP endpoint, exporters of the application's, and what ``OTEL_*`` variables name.

Exporters are found by entry point, ours among them, so that one that is installed can be named without being imported
here. Each gets a queue of its own: a slow or dead destination holds up neither the application nor the others.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import entry_points
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter

from pixie_otel import attributes as keys
from pixie_otel.diagnostics import warn
from pixie_otel.errors import ConfigError
from pixie_otel.exporters.redaction import STATUS_DESCRIPTION, Redactor, hide_from_environment
from pixie_otel.exporters.span_queue import span_queue
from pixie_otel.exporters.work_queue import WorkQueue
from pixie_otel.tracing.instrumentors import hiding_config
from pixie_otel.tracing.settings import Problem, Settings

__all__ = ["make_redactor", "open_destinations"]

_OURS: Final = "pixie_otel.exporters"
_STANDARD: Final = "opentelemetry_traces_exporter"
_PROTOCOLS: Final = {"grpc": "otlp_proto_grpc", "http/protobuf": "otlp_proto_http"}
_TRACES_PATH: Final = "/v1/traces"
_GRPC_PORT: Final = 4317
# Contents in other vocabularies than OpenInference's, which its configuration does not know; and what exceptions say,
# which often quotes what they were raised for.
_CONTENTS: Final = (
    STATUS_DESCRIPTION,
    keys.EXCEPTION_MESSAGE,
    keys.EXCEPTION_STACKTRACE,
    keys.GENAI_COMPLETION,
    keys.GENAI_EVENT_CONTENT,
    keys.GENAI_INPUT_MESSAGES,
    keys.GENAI_OUTPUT_MESSAGES,
    keys.GENAI_PROMPT,
    keys.GENAI_RETRIEVAL_DOCUMENTS,
    keys.GENAI_RETRIEVAL_QUERY,
    keys.GENAI_SYSTEM_INSTRUCTIONS,
    keys.GENAI_TOOL_CALL_ARGUMENTS,
    keys.GENAI_TOOL_CALL_RESULT,
    keys.TRACELOOP_ENTITY_INPUT,
    keys.TRACELOOP_ENTITY_OUTPUT,
)


class _Destination(NamedTuple):
    """A destination that is to be opened."""

    name: str
    """What it is called in the statistics."""

    where: str
    """What asked for it."""

    make: Callable[[], SpanExporter]
    """Makes its exporter."""

    redacts: bool = False
    """Whether the exporter itself redacts, which spares looking twice at what it has encoded."""


def make_redactor(settings: Settings) -> Redactor:
    """Make what takes out of spans what is not to leave the process.

    Without content, inputs and outputs are taken out here too: spans also come from instrumentation that others
    switched on.
    """
    if settings.capture_content:
        return Redactor(settings.redact, hide=hide_from_environment())
    config = hiding_config()

    def hide(key: str, value: object) -> object:
        masked: object = None if key.startswith(_CONTENTS) else config.mask(key, value)
        return masked

    return Redactor(settings.redact, hide=hide)


def open_destinations(
    settings: Settings, redactor: Redactor, *, standard: bool
) -> tuple[list[WorkQueue[ReadableSpan]], list[Problem]]:
    """Open every destination that the settings and the environment name.

    Args:
        settings: Name a file, an endpoint and exporters.
        redactor: Takes credentials out before a span leaves.
        standard: Whether ``OTEL_TRACES_EXPORTER`` and ``OTEL_EXPORTER_OTLP_ENDPOINT`` count; with a provider of the
            application's own they are the application's business.

    Returns:
        A queue for each, and what could not be opened.
    """
    queues: list[WorkQueue[ReadableSpan]] = []
    problems: list[Problem] = []
    names: set[str] = set()
    named = (*_chosen(settings, redactor), *(_standard(settings, redactor) if standard else ()))
    for name, where, make, redacts in named:
        try:
            exporter = make()
        except Exception as error:  # noqa: BLE001 - whatever an exporter needs and does not find, the application goes on
            said = str(error) if isinstance(error, ConfigError) else f"{type(error).__name__}: {error}"
            problems.append(Problem(f"{where}: no spans go to {name}: {said}", error))
            continue
        number = 2
        unique = name
        while unique in names:
            unique, number = f"{name} ({number})", number + 1
        names.add(unique)
        queues.append(span_queue(unique, exporter, redactor=None if redacts else redactor))
    return queues, problems


def _chosen(settings: Settings, redactor: Redactor) -> Iterator[_Destination]:
    if (file := settings.file) is not None:
        yield _Destination(f"file {file}", "file", lambda: _load(_OURS, "jsonl")(file, redact=redactor), redacts=True)
    if (endpoint := settings.endpoint) is not None:
        yield _Destination(f"otlp {_without_credentials(endpoint)}", "endpoint", lambda: _otlp(endpoint, settings))
    for exporter in settings.exporters:
        yield _Destination(type(exporter).__name__, "exporters", partial(_itself, exporter))


def _standard(settings: Settings, redactor: Redactor) -> Iterator[_Destination]:
    listed = os.environ.get("OTEL_TRACES_EXPORTER", "").strip()
    where = "OTEL_TRACES_EXPORTER"
    if not listed and (variable := _endpoint_variable()) is not None:
        listed, where = "otlp", variable
    names = list(dict.fromkeys(name.strip() for name in listed.split(",") if name.strip()))
    if "none" in names:
        return
    for name in names:
        # What `init` was given for the same kind of destination counts instead.
        if name.startswith("otlp"):
            if settings.endpoint is None:
                yield _Destination(name, where, partial(_from_environment, name))
        elif name != "pixie_otel":
            yield _Destination(name, where, partial(_from_environment, name))
        elif settings.file is None:
            yield _Destination(name, where, partial(_from_environment, name, redact=redactor), redacts=True)


def _itself(exporter: SpanExporter) -> SpanExporter:
    return exporter


def _from_environment(name: str, **arguments: object) -> SpanExporter:
    return _load(_STANDARD, _protocol() if name == "otlp" else name)(**arguments)


def _endpoint_variable() -> str | None:
    variables = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    return next((variable for variable in variables if os.environ.get(variable, "").strip()), None)


def _load(group: str, name: str) -> Callable[..., SpanExporter]:
    for entry_point in entry_points(group=group, name=name):
        loaded: Any = entry_point.load()
        return loaded  # type: ignore[no-any-return]  # an entry point may hold anything
    installed = sorted({entry_point.name for entry_point in entry_points(group=group)})
    raise ConfigError(f"no exporter called {name!r} is installed; there are {', '.join(installed) or 'none'}")


def _protocol() -> str:
    """Say which of the official exporters the environment asks for; the standard's default is OTLP over HTTP."""
    for variable in ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        if protocol := os.environ.get(variable, "").strip().lower():
            if protocol in _PROTOCOLS:
                return _PROTOCOLS[protocol]
            raise ConfigError(f"{variable} is {protocol!r}; there are {', '.join(_PROTOCOLS)}")
    return _PROTOCOLS["http/protobuf"]


def _otlp(endpoint: str, settings: Settings) -> SpanExporter:
    protocol = _protocol()
    make = _load(_STANDARD, protocol)
    if protocol == _PROTOCOLS["grpc"]:
        # gRPC refuses names with capitals.
        headers = tuple((name.lower(), value) for name, value in settings.headers.items())
        return make(endpoint=endpoint, headers=headers or None)
    if urlsplit(endpoint).port == _GRPC_PORT:
        warn(
            "otlp-port",
            f"endpoint: port {_GRPC_PORT} is usually that of gRPC, and spans are sent over HTTP; give port 4318, or "
            "set OTEL_EXPORTER_OTLP_PROTOCOL=grpc",
        )
    return make(endpoint=_traces_url(endpoint), headers=dict(settings.headers) or None)


def _traces_url(endpoint: str) -> str:
    parts = urlsplit(endpoint)
    path = parts.path.rstrip("/")
    return urlunsplit(parts._replace(path=path if path.endswith(_TRACES_PATH) else path + _TRACES_PATH))


def _without_credentials(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment=""))
