"""A span of ours while it is open: started, current or not, filled, ended; whatever fails in it stays in it.

Everything here runs in the application's path. A step that fails is told to `diagnostics` and left out; only what is no
`Exception` passes, as it would without us.
"""

from __future__ import annotations

import gc
import os
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from contextvars import Token
from time import time_ns
from traceback import format_exception
from typing import Any, Final, TypeAlias

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.trace import Span, Status, StatusCode, format_span_id, format_trace_id, set_span_in_context

from pixie_otel import attributes as keys
from pixie_otel.tracing.faults import report
from pixie_otel.tracing.runtime import Runtime
from pixie_otel.tracing.type_facts import type_name
from pixie_otel.tracing.values import Encoded, encode_arguments, encode_value

__all__ = [
    "NO_ERRORS",
    "AttributeValue",
    "OpenSpan",
    "attach",
    "detach",
    "end_unfinished",
    "leave_unfinished",
    "start_span",
]

AttributeValue: TypeAlias = str | int | float | bool | list[str] | tuple[str, ...]

NO_ERRORS: Final = (GeneratorExit, StopIteration, StopAsyncIteration)
"""What ends a stream or a coroutine without anything being wrong."""

_LONGEST_MESSAGE: Final = 2**16
_MOST_FRAMES: Final = 64
_MOST_DOCUMENTS: Final = 32
_LISTS: Final = (list, tuple)
# The key is private to OpenTelemetry, and yet the one by which every instrumentation is told to keep still.
_SUPPRESSED: Final[str] = getattr(otel_context, "_SUPPRESS_INSTRUMENTATION_KEY", "suppress_instrumentation")

_unfinished: deque[OpenSpan] = deque()
_phases: dict[str, object] = {}


class OpenSpan:
    """One span that has started and not yet ended.

    Attributes:
        span: The span itself.
        context: The context in which it is the current span.
        records: Whether values are worth encoding: the span is recorded, and content is wanted.
        keeps_output: Whether that holds for the output too.
        documents: Whether an output of texts is a list of retrieved documents.
        attributes: What is put on the span when it ends.
    """

    __slots__ = (
        "_cut",
        "_ended",
        "_ended_at",
        "_token",
        "attributes",
        "context",
        "documents",
        "keeps_output",
        "records",
        "span",
    )

    def __init__(self, span: Span, context: Context, *, records: bool) -> None:
        self.span = span
        self.context = context
        self.records = records
        self.keeps_output = records
        self.documents = False
        self.attributes: dict[str, Any] = {}
        self._token: Token[Context] | None = None
        self._cut: tuple[str, ...] = ()
        self._ended = False
        self._ended_at: int | None = None

    @property
    def ids(self) -> tuple[str, str]:
        """The ids of its trace and of itself, as they are written."""
        found = self.span.get_span_context()
        return format_trace_id(found.trace_id), format_span_id(found.span_id)

    def prepare(self, attributes: Mapping[str, AttributeValue], *, documents: bool, keeps_output: bool) -> None:
        """Say what is put on the span when it ends, and what becomes of its output."""
        if attributes:
            self.attributes.update(attributes)
        self.documents = documents
        self.keeps_output = keeps_output and self.records

    def attach(self) -> None:
        """Make it the current span."""
        self._token = attach(self.context)

    def detach(self) -> None:
        """Make the span before it current again, where this is still the context in which it was attached."""
        if self._token is not None:
            detach(self._token)
            self._token = None

    def put_input(self, value: object) -> None:
        """Keep a value as the span's input, as it is now."""
        if self.records:
            self._put(keys.INPUT_VALUE, keys.INPUT_MIME_TYPE, encode_value(value))

    def put_arguments(self, arguments: Mapping[str, object]) -> None:
        """Keep the arguments of a call as the span's input."""
        if self.records:
            self._put(keys.INPUT_VALUE, keys.INPUT_MIME_TYPE, encode_arguments(arguments))

    def put_output(self, value: object) -> None:
        """Keep a value as the span's output, as it is now."""
        if not self.keeps_output:
            return
        self.put_encoded_output(encode_value(value))
        if self.documents and type(value) in _LISTS:
            self.put_documents(value)  # type: ignore[arg-type] # a list or a tuple, by the line above

    def put_encoded_output(self, encoded: Encoded) -> None:
        """Keep what was encoded piece by piece as the span's output."""
        self._put(keys.OUTPUT_VALUE, keys.OUTPUT_MIME_TYPE, encoded)

    def put_documents(self, items: Sequence[object]) -> None:
        """Keep a short list of texts as documents too, since readers find documents in an output, but no texts."""
        if len(items) <= _MOST_DOCUMENTS and all(type(item) is str for item in items):
            for number, text in enumerate(items):
                key = f"{keys.OI_RETRIEVAL_DOCUMENTS}.{number}.{keys.OI_DOCUMENT_CONTENT}"
                self.attributes[key] = encode_value(text).text

    def finish(self, error: BaseException | None = None) -> None:
        """End the span, once; an error is recorded as OpenTelemetry records it."""
        if self._ended:
            return
        self._ended = True
        if error is not None and not issubclass(type(error), NO_ERRORS) and self.span.is_recording():
            try:
                self._record(error)
            except Exception as fault:  # noqa: BLE001 - the error is the application's, and goes its way whatever we do
                report("recording an exception", fault)
        if next(reversed(_phases), None) == "start":
            # Ending a span may take locks, and what the collector interrupted may hold them.
            leave_unfinished(self)
            return
        self._end()

    def _put(self, key: str, mime_key: str, encoded: Encoded) -> None:
        self.attributes[key] = encoded.text
        self.attributes[mime_key] = encoded.mime_type
        if encoded.truncated or self._cut:
            others = tuple(cut for cut in self._cut if cut != key)
            self._cut = (*others, key) if encoded.truncated else others
            if self._cut:
                self.attributes[keys.PIXIE_TRUNCATED] = self._cut
            else:
                del self.attributes[keys.PIXIE_TRUNCATED]

    def _end(self) -> None:
        try:
            if self.attributes:
                self.span.set_attributes(self.attributes)
        except Exception as fault:  # noqa: BLE001 - the span is still worth having without them
            report("setting the attributes of a span", fault)
        try:
            self.span.end(self._ended_at)
        except Exception as fault:  # noqa: BLE001 - a span processor of anybody's failed
            report("ending a span", fault)

    def _record(self, error: BaseException) -> None:
        kind = type_name(type(error))
        self.attributes[keys.ERROR_TYPE] = kind
        try:
            message = str.__str__(str(error))
        except Exception:  # noqa: BLE001 - the application's own class cannot say what it is
            message = "<the exception has no text>"
        message = _cut(message)
        self.span.set_status(Status(StatusCode.ERROR, f"{kind.rpartition('.')[2]}: {message}"))
        event = {keys.EXCEPTION_TYPE: kind, keys.EXCEPTION_MESSAGE: message}
        with suppress(Exception):  # it walks all causes, and looks at classes of the application's
            # A long recursion passes as many spans as frames, so that all frames for each would take minutes.
            event[keys.EXCEPTION_STACKTRACE] = _cut("".join(format_exception(error, limit=-_MOST_FRAMES)))
        self.span.add_event(keys.EXCEPTION_EVENT, event)


def start_span(runtime: Runtime, name: str, attributes: Mapping[str, str]) -> OpenSpan | None:
    """Start a span below the current one, without making it current.

    Args:
        runtime: What is in force.
        name: The span's name.
        attributes: What samplers and other processors may want to know from the start.

    Returns:
        The open span; ``None`` where instrumentation is suppressed or the span cannot be started.
    """
    if _unfinished:
        end_unfinished()
    try:
        outer = otel_context.get_current()
        if outer.get(_SUPPRESSED):
            return None
        span = runtime.tracer.start_span(name, outer, attributes=attributes)
        return OpenSpan(span, set_span_in_context(span, outer), records=runtime.capture_content and span.is_recording())
    except Exception as fault:  # noqa: BLE001 - a sampler, an id generator or a span processor of anybody's failed
        report("starting a span", fault)
        return None


def _cut(text: str) -> str:
    """Shorten a text that is too long to its two ends: a message begins with what matters, a traceback ends with it."""
    if len(text) <= _LONGEST_MESSAGE:
        return text
    half = _LONGEST_MESSAGE // 2
    return f"{text[:half]}…{text[-half:]}"


def attach(context: Context) -> Token[Context]:
    """Make a context the current one, or change nothing, whatever a signal handler raises in the middle."""
    outer = otel_context.get_current()
    try:
        return otel_context.attach(context)
    except BaseException:
        otel_context.attach(outer)
        raise


def detach(token: Token[Context]) -> None:
    """Undo an attachment; nothing happens where that was done already, or in another context, which never had it.

    OpenTelemetry's own function logs an error there, although leaving a context behind is all that was wanted.
    """
    try:
        token.var.reset(token)
    except (RuntimeError, ValueError):
        return
    except Exception:  # noqa: BLE001 - another way of keeping the context, which has tokens of its own
        otel_context.detach(token)


def leave_unfinished(opened: OpenSpan) -> None:
    """Leave it to the next span, or to the end, to end this one; takes no lock."""
    opened._ended = True  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - the two are one
    opened._ended_at = time_ns()  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - likewise
    _unfinished.append(opened)
    try:  # noqa: SIM105 - a context manager is one more call, and the stack may be at its end
        opened.detach()
    except Exception:  # noqa: BLE001, S110 - the span is left, and nobody can be told
        pass


def end_unfinished() -> None:
    """End the spans that could not be ended where they were left."""
    while _unfinished:
        try:
            opened = _unfinished.popleft()
        except IndexError:  # another thread was quicker
            return
        if opened.span.is_recording():  # it may have been left just after its end
            opened._end()  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - the two are one


# The last key is the phase that the collector is in. A function in Python would be a place where signal handlers run,
# and the collector drops what they raise there: the application would miss its interrupt.
gc.callbacks.extend((_phases.pop, _phases.__setitem__))
if hasattr(os, "register_at_fork"):
    # What was left before a fork is the parent's to end.
    os.register_at_fork(after_in_child=_unfinished.clear)
