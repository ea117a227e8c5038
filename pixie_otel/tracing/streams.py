"""Values that give something later: coroutines, generators, iterators, streams of clients, futures.

They are followed, never consumed: what the application gets is a stand-in that passes every step on and looks at what
comes back. The span stays open until the stream ends, however it ends, and is the current one during each step only.
"""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Callable
from contextvars import Token
from typing import Any, Final

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.trace import set_span_in_context

from pixie_otel.tracing.faults import report
from pixie_otel.tracing.spans import NO_ERRORS, OpenSpan, attach, detach, end_unfinished
from pixie_otel.tracing.stream_kinds import StreamKind, stream_kind
from pixie_otel.tracing.type_facts import MISSING
from pixie_otel.tracing.values import JSON, Encoded, encode_value

__all__ = [
    "Closing",
    "Follower",
    "Item",
    "Items",
    "LooseItem",
    "Result",
    "Role",
    "advance",
    "end_open_streams",
    "follow",
    "settle",
]

_BUDGET: Final = 4 * 2**20
_ITEM_COST: Final = 64

_open: dict[int, weakref.ref[Follower]] = {}


class Follower:
    """What is known of one open stream; all its stand-ins share it, and it ends the span when they are gone.

    Attributes:
        opened: The stream's span.
    """

    __slots__ = (
        "__weakref__",
        "_flows",
        "_inner",
        "_interrupted",
        "_left",
        "_mine",
        "_missed",
        "_outer",
        "_pieces",
        "opened",
    )

    def __init__(self, opened: OpenSpan, *, flows: bool) -> None:
        """Begin to follow.

        Args:
            opened: The stream's span, which is not the current one.
            flows: Whether it gives items, rather than one result.
        """
        self.opened = opened
        self._flows = flows
        self._pieces: list[str | Encoded] = []
        self._left = _BUDGET
        self._missed = 0
        self._interrupted = False
        # Where the last step was taken; the same with the span as the current one; what the stream made of that.
        self._outer: Context | None = None
        self._mine: Context | None = None
        self._inner: Context | None = None
        _open[id(self)] = weakref.ref(self)

    def __del__(self) -> None:
        try:  # noqa: SIM105 - at the end of the process, modules have lost their names
            self.end()
        except Exception:  # noqa: BLE001, S110 - the interpreter would print it; what `end` calls reports its faults
            pass

    def enter(self) -> tuple[Token[Context], Context]:
        """Make the span current for one step, and with it whatever the stream itself had made current before."""
        outer = otel_context.get_current()
        context = self._inner
        if context is None:
            if self._mine is None or outer is not self._outer:
                self._outer, self._mine = outer, set_span_in_context(self.opened.span, outer)
            context = self._mine
        return attach(context), context

    def leave(self, entered: tuple[Token[Context], Context]) -> None:
        """Give the context back to whoever takes the steps, and remember what the stream made of it."""
        token, context = entered
        now = otel_context.get_current()
        self._inner = None if now is context and now is self._mine else now
        detach(token)

    def keep(self, item: object) -> None:
        """Remember an item, or count it where enough are remembered."""
        self._interrupted = False
        if not (self._flows and self.opened.keeps_output and id(self) in _open):
            return
        if self._left <= 0:
            self._missed += 1
            return
        piece: str | Encoded = item if type(item) is str else encode_value(item)
        size = len(piece if isinstance(piece, str) else piece.text)
        if isinstance(piece, str) and size > self._left:
            piece = f"{piece[: self._left]}…"
        self._left -= size + _ITEM_COST
        self._pieces.append(piece)

    def interrupted(self) -> None:
        """Note that a step was given up, which the stream may survive."""
        self._interrupted = True

    def end(self, error: BaseException | None = None) -> None:
        """End the span with what flowed; only the first end counts."""
        if _open.pop(id(self), None) is None:
            return
        if error is None and self._interrupted:
            error = _cancelled()
        try:
            if self._flows and self.opened.keeps_output:
                self._put_items()
        except Exception as fault:  # noqa: BLE001 - the span is worth having without them
            report("recording what flowed", fault)
        self.opened.finish(error)

    def give(self, result: object) -> object:
        """Take the one result that was waited for, and say what the application gets in its place."""
        if _open.pop(id(self), None) is None:
            return result
        return settle(self.opened, result)

    def _put_items(self) -> None:
        pieces, missed = self._pieces, self._missed
        texts = [piece for piece in pieces if isinstance(piece, str)]
        said = f"… ({missed:,} more items)"
        if texts and len(texts) == len(pieces) and not self.opened.documents:
            encoded = encode_value("".join(texts))
            text = f"{encoded.text}{said}" if missed else encoded.text
            cut = encoded.truncated or self._left < 0
            self.opened.put_encoded_output(Encoded(text, encoded.mime_type, cut))
            return
        written = [_written(encode_value(piece) if isinstance(piece, str) else piece) for piece in pieces]
        if missed:
            written.append(json.dumps(said))
        cut = missed > 0 or any(not isinstance(piece, str) and piece.truncated for piece in pieces)
        self.opened.put_encoded_output(Encoded(f"[{','.join(written)}]", JSON, cut))
        if self.opened.documents:
            self.opened.put_documents(pieces)


class Role:
    """What the steps of a stand-in mean for its stream."""

    __slots__ = ()

    def gave(self, follower: Follower, item: object) -> None:
        """Take what a step gave back; a step on the way to something else means nothing."""

    def ended(self, follower: Follower, error: BaseException) -> object:
        """Take how a step ended, and say what stands in place of the result; `MISSING` where nothing does."""
        follower.end(error)
        return MISSING

    def closed(self, follower: Follower) -> None:
        """Take that the stand-in was closed."""


class Items(Role):
    """Each step gives an item, as of an iterator."""

    __slots__ = ()

    def gave(self, follower: Follower, item: object) -> None:
        """Keep the item."""
        follower.keep(item)

    def closed(self, follower: Follower) -> None:
        """End with what flowed until now."""
        follower.end()


class Result(Role):
    """The steps lead to one result, as of a coroutine."""

    __slots__ = ()

    def ended(self, follower: Follower, error: BaseException) -> object:
        """Take the result; where it is a stream itself, the span stays open with it."""
        if isinstance(error, StopIteration):
            given = follower.give(error.value)
            return MISSING if given is error.value else given
        follower.end(error)
        return MISSING

    def closed(self, follower: Follower) -> None:
        """End without a result."""
        follower.end()


class Item(Role):
    """The steps lead to the next item of an async generator, which does not survive an error."""

    __slots__ = ()

    def ended(self, follower: Follower, error: BaseException) -> object:
        """Keep the item, or end."""
        if isinstance(error, StopIteration):
            follower.keep(error.value)
        else:
            follower.end(error)
        return MISSING


class LooseItem(Item):
    """The same of any other async iterator: waiting for an item can be given up and tried again."""

    __slots__ = ()

    def ended(self, follower: Follower, error: BaseException) -> object:
        """Keep the item, or end, unless waiting was given up."""
        if isinstance(error, Exception):
            return super().ended(follower, error)
        # Cancelled, by whoever's event loop; or not wanted any more.
        if not isinstance(error, GeneratorExit):
            follower.interrupted()
        return MISSING


class Closing(Role):
    """The steps lead to the stream's end."""

    __slots__ = ()

    def ended(self, follower: Follower, error: BaseException) -> object:
        """End."""
        follower.end(None if issubclass(type(error), NO_ERRORS) else error)
        return MISSING


ITEMS: Final = Items()
RESULT: Final = Result()
ITEM: Final = Item()
LOOSE_ITEM: Final = LooseItem()
CLOSING: Final = Closing()


def advance(follower: Follower, role: Role, step: Callable[..., Any], args: tuple[object, ...] = ()) -> Any:  # noqa: ANN401 - whatever the stream gives
    """Take one step of a stream, once, with its span as the current one.

    Args:
        follower: What follows the stream.
        role: What the step means.
        step: The stream's own method.
        args: Its arguments.

    Returns:
        What the method returned; what it raised goes through.
    """
    entered = None
    try:
        entered = follower.enter()
    except Exception as fault:  # noqa: BLE001 - the step is taken anyway
        report("entering a stream's context", fault)
    try:
        given = step(*args)
    except BaseException as error:
        instead: object = MISSING
        try:
            if entered is not None:
                follower.leave(entered)
            instead = role.ended(follower, error)
        except Exception as fault:  # noqa: BLE001 - what the stream raised goes through
            report("following a stream", fault)
        except BaseException:  # a signal handler's
            _step_out(entered)
            raise
        if instead is MISSING:
            raise
        raise StopIteration(instead) from None
    try:
        if entered is not None:
            follower.leave(entered)
        role.gave(follower, given)
    except Exception as fault:  # noqa: BLE001 - what the stream gave goes through
        report("following a stream", fault)
    except BaseException:  # likewise
        _step_out(entered)
        raise
    return given


def _step_out(entered: tuple[Token[Context], Context] | None) -> None:
    if entered is not None:
        detach(entered[0])


def settle(opened: OpenSpan, result: object) -> Any:  # noqa: ANN401 - what the application called for
    """Take the result of a call: end its span, or follow the result where it gives something later.

    Args:
        opened: The call's span.
        result: What the call gave back.

    Returns:
        What the application gets: the result itself, or a stand-in for a stream.
    """
    try:
        opened.detach()
        kind = stream_kind(result)
        if kind is not None:
            return follow(opened, result, kind)
        opened.put_output(result)
    except Exception as fault:  # noqa: BLE001 - the application gets its result
        report("recording a result", fault)
    opened.finish()
    return result


def follow(opened: OpenSpan, stream: object, kind: StreamKind) -> Any:  # noqa: ANN401 - a stand-in for anything
    """Keep a span open until a stream ends.

    Args:
        opened: The span; not the current one any more.
        stream: The stream.
        kind: What it is.

    Returns:
        The stand-in that the application gets; a future comes back as itself.
    """
    from pixie_otel.tracing.stand_ins import stand_in

    flows = kind in (StreamKind.ITERATOR, StreamKind.ASYNC_ITERATOR)
    follower = Follower(opened, flows=flows)
    if kind is StreamKind.FUTURE:
        _follow_future(follower, stream)
        return stream
    return stand_in(stream, follower, ITEMS if flows else RESULT)


def end_open_streams() -> None:
    """End the spans of all streams that are still open, with what has flowed; for the end of the process.

    The streams themselves go on, unrecorded.
    """
    for reference in list(_open.values()):
        follower = reference()
        if follower is not None:
            follower.end()
    end_unfinished()


def _forget_inherited() -> None:
    # What was open when the process forked is ended, and recorded, by the parent.
    _open.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_inherited)


def _follow_future(follower: Follower, future: Any) -> None:  # noqa: ANN401 - asyncio's, or one that is like it
    def done(_future: object) -> None:
        try:
            # Asking for the exception would say that the application had taken notice of it.
            error = _cancelled() if future.cancelled() else getattr(future, "_exception", None)
            if error is None:
                follower.opened.put_output(future.result())
            follower.end(error)
        except Exception as fault:  # noqa: BLE001 - the event loop would log it as the application's
            report("following a future", fault)

    future.add_done_callback(done)


def _cancelled() -> BaseException:
    from asyncio import CancelledError

    return CancelledError()


def _written(encoded: Encoded) -> str:
    return encoded.text if encoded.mime_type == JSON else json.dumps(encoded.text, ensure_ascii=False)
