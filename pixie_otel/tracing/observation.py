"""`start_observation`: an observation of a block of code."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Final, Self

from opentelemetry import context as otel_context
from opentelemetry.context import Context

from pixie_otel import attributes as keys
from pixie_otel.diagnostics import warn
from pixie_otel.evaluable import JsonValue
from pixie_otel.tracing.faults import report
from pixie_otel.tracing.labels import Kind, end_attributes, kind_attribute, text_of
from pixie_otel.tracing.runtime import current
from pixie_otel.tracing.spans import AttributeValue, OpenSpan, attach, leave_unfinished, start_span
from pixie_otel.tracing.values import encode_arguments, plain_value

__all__ = ["Observation", "start_observation"]

_KEY: Final = otel_context.create_key("pixie-otel-observation")


class Observation:
    """An observation of a block of code, for ``with`` and ``async with``; it begins and ends with the block.

    Where tracing is off it has the same methods and does nothing.
    """

    __slots__ = ("_end", "_input", "_kind", "_metadata", "_name", "_opened", "_place", "_used")

    def __init__(self, name: str, kind: str, input: object, end: dict[str, AttributeValue]) -> None:
        self._name = name
        self._kind = kind
        self._input = input
        self._end = end
        self._metadata: dict[str, JsonValue] = {}
        self._opened: OpenSpan | None = None
        self._place: _Place | None = None
        self._used = False

    @property
    def trace_id(self) -> str | None:
        """The id of the trace; ``None`` where nothing is recorded."""
        return None if self._opened is None else self._opened.ids[0]

    @property
    def span_id(self) -> str | None:
        """The id of the observation; ``None`` where nothing is recorded."""
        return None if self._opened is None else self._opened.ids[1]

    def set_output(self, value: object) -> None:
        """Record what the block gives, as it is now; what was recorded before is replaced.

        Args:
            value: Anything.
        """
        try:
            if self._opened is not None:
                self._opened.put_output(value)
        except Exception as fault:  # noqa: BLE001 - the application goes on
            report("recording an output", fault)

    def set_metadata(self, metadata: Mapping[str, object] | None = None, /, **values: object) -> None:
        """Record anything else, beside what was recorded before.

        Args:
            metadata: Values by name.
            values: More of them.
        """
        try:
            for given in (metadata, values):
                plain, _ = plain_value(given)
                if isinstance(plain, dict):
                    self._metadata.update(plain)
        except Exception as fault:  # noqa: BLE001 - the application goes on
            report("recording metadata", fault)

    def __enter__(self) -> Self:
        try:
            self._start()
        except Exception as fault:  # noqa: BLE001 - the block is run anyway
            report("starting an observation", fault)
        except BaseException as error:  # a signal handler's; the block is not run
            self.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self._finish(error)
        except Exception as fault:  # noqa: BLE001 - what the block raised goes through
            report("ending an observation", fault)
        except BaseException:  # a signal handler's, in the middle
            if self._place is not None:
                self._place.leave()
            if self._opened is not None:
                leave_unfinished(self._opened)
            raise

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, traceback)

    def _start(self) -> None:
        if self._used:
            warn("observation-again", "an observation is of one block; start another one for the next")
            return
        self._used = True
        runtime = current()
        if runtime is None:
            return
        opened = self._opened = start_span(runtime, self._name, {keys.OI_SPAN_KIND: self._kind})
        if opened is None:
            return
        opened.prepare(self._end, documents=self._kind == "RETRIEVER", keeps_output=True)
        if self._input is not None:
            opened.put_input(self._input)
        self._place = _Place()
        self._place.enter(opened.context)

    def _finish(self, error: BaseException | None) -> None:
        if self._opened is None:
            return
        if self._place is not None:
            self._place.leave()
            self._place = None
        if self._metadata:
            self._opened.attributes[keys.METADATA] = encode_arguments(self._metadata).text
        self._opened.finish(error)


class _Place:
    """Where an observation is the current one.

    A generator may be left in the middle of a block, and blocks then end in another order than they began, or in
    another task. So whoever leaves looks whether it is here at all, and whether a later one has not ended yet.
    """

    __slots__ = ("gone", "outer")

    def __init__(self) -> None:
        self.gone = False
        self.outer = otel_context.get_current()

    def enter(self, context: Context) -> None:
        """Make the observation's context the current one."""
        attach(otel_context.set_value(_KEY, self, context))

    def leave(self) -> None:
        """Make current what was current before; where a later block has not ended, it is for that one to do so."""
        self.gone = True
        later: _Place | None = None
        place: object = otel_context.get_current().get(_KEY)
        while place is not self:
            if not isinstance(place, _Place):  # another context, which never had it
                return
            if not place.gone:
                later = place
            place = place.outer.get(_KEY)
        if later is None:
            attach(self.outer)
        else:
            later.outer = self.outer


def start_observation(
    *,
    input: object = None,
    name: str = "observation",
    kind: Kind = "chain",
    session_id: str | None = None,
    user_id: str | None = None,
    metadata: Mapping[str, object] | None = None,
) -> Observation:
    """Make an observation of a block of code, to be used with ``with`` or ``async with``.

    Session and user are recorded with this observation. Those that stand in OpenTelemetry's baggage as ``session.id``
    and ``user.id`` are recorded with every span that is started while they do.

    Args:
        input: What the block is given; nothing is recorded where it is ``None``.
        name: The observation's name.
        kind: What the block is for, as of `observe`.
        session_id: The conversation that it belongs to.
        user_id: The user it is done for.
        metadata: Anything else to record.

    Returns:
        The observation; it begins where ``with`` or ``async with`` does.
    """
    try:
        label = text_of(name, "the name of an observation")
        written = kind_attribute(kind)
        end = end_attributes(label, written, session_id, user_id, None)
        observation = Observation(label, written, input, end)
        if metadata is not None:
            observation.set_metadata(metadata)
    except Exception as fault:  # noqa: BLE001 - the block is run anyway
        report("making an observation", fault)
        return Observation("observation", "CHAIN", None, {})
    return observation
