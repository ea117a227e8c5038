"""One call of the application's, with a span around it: called exactly once, and what it gives goes through."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pixie_otel.tracing.arguments import NO_NAMES, ArgumentNames
from pixie_otel.tracing.faults import report
from pixie_otel.tracing.runtime import current
from pixie_otel.tracing.spans import AttributeValue, OpenSpan, leave_unfinished, start_span
from pixie_otel.tracing.streams import settle

__all__ = ["CallPlan", "begin", "call", "fail"]


@dataclass(frozen=True, slots=True)
class CallPlan:
    """What is recorded of the calls of one callable.

    Attributes:
        name: The name of the spans.
        start: What stands on a span from its start.
        end: What is put on it when it ends.
        arguments: What the arguments are called.
        capture_input: Whether they are recorded.
        capture_output: Whether the result is recorded.
        documents: Whether a list of texts as a result is a list of retrieved documents.
    """

    name: str
    start: Mapping[str, str]
    end: Mapping[str, AttributeValue] = field(default_factory=dict[str, AttributeValue])
    arguments: ArgumentNames = NO_NAMES
    capture_input: bool = True
    capture_output: bool = True
    documents: bool = False


def begin(plan: CallPlan, args: tuple[object, ...], kwargs: dict[str, Any]) -> OpenSpan | None:
    """Start the span of a call and make it the current one.

    Args:
        plan: What is recorded.
        args: The call's positional arguments.
        kwargs: The others.

    Returns:
        The open span; ``None`` where tracing is off or the span cannot be started.
    """
    runtime = current()
    if runtime is None:
        return None
    opened = start_span(runtime, plan.name, plan.start)
    if opened is None:
        return None
    try:
        opened.prepare(plan.end, documents=plan.documents, keeps_output=plan.capture_output)
        if opened.records and plan.capture_input:
            opened.put_arguments(plan.arguments.bind(args, kwargs))
        opened.attach()
    except Exception as fault:  # noqa: BLE001 - the call is made anyway
        report("recording the arguments of a call", fault)
    except BaseException:  # a signal handler's
        leave_unfinished(opened)
        raise
    return opened


def fail(opened: OpenSpan, error: BaseException) -> None:
    """End the span of a call that raised."""
    opened.detach()
    opened.finish(error)


def call(plan: CallPlan, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401 - whatever the callable gives
    """Call the application's callable once, with a span around it.

    Args:
        plan: What is recorded.
        function: The callable.
        args: Its positional arguments.
        kwargs: The others.

    Returns:
        Its result, or a stand-in for a stream. What it raises goes through.
    """
    # The functions called here guard themselves. What is caught is that they could not even be entered, as the stack is
    # at its end; nobody can be told then, and the application may well manage with what is left. Or that a signal
    # handler raised in the middle of them, which goes through, and leaves nothing behind.
    opened = None
    try:  # noqa: SIM105 - a context manager is one more call, and the stack may be at its end
        opened = begin(plan, args, kwargs)
    except Exception:  # noqa: BLE001, S110 - see above
        pass
    if opened is None:
        return function(*args, **kwargs)
    try:
        result = function(*args, **kwargs)
    except BaseException as error:
        try:
            fail(opened, error)
        except Exception:  # noqa: BLE001 - see above
            leave_unfinished(opened)
        except BaseException:
            leave_unfinished(opened)
            raise
        raise
    try:
        return settle(opened, result)
    except Exception:  # noqa: BLE001 - see above
        leave_unfinished(opened)
        return result
    except BaseException:
        leave_unfinished(opened)
        raise
