"""Why a selector finds nothing in a trace: how far it comes, where it ends, and what is there instead."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable
from typing import Final

from pixie_otel.traces.selector_steps import (
    FIELDS,
    Attribute,
    Chain,
    Combinator,
    Field,
    Named,
    Nested,
    Relation,
    Step,
    Term,
    next_step,
)
from pixie_otel.traces.selector_view import View

__all__ = ["explained", "listed"]

_MOST_NAMES: Final = 8
_MOST_NESTED: Final = 8


def explained(chain: Chain, view: View) -> str:
    """Say how far a selector comes in a trace, a line for each of its parts up to the first that leaves nothing.

    Args:
        chain: The selector.
        view: The trace.
    """
    lines: list[str] = []
    instead = _follow(chain, view, lines, 0)
    said = "\n".join(lines)
    return f"{said}; {instead}" if instead else said


def listed(names: Iterable[str]) -> str:
    """List names, each once, and no more than people read.

    Args:
        names: The names, in order.
    """
    distinct = list(dict.fromkeys(names))
    shown = ", ".join(repr(name) for name in distinct[:_MOST_NAMES])
    return shown if len(distinct) <= _MOST_NAMES else f"{shown}, …"


def _follow(chain: Chain, view: View, lines: list[str], depth: int) -> str:
    """Note part by part what is left; where that becomes nothing, say what is there instead."""
    found = view.all
    for combinator, step in zip((None, *chain.combinators), chain.steps, strict=True):
        at = found if combinator is None else _below(view, found, combinator)
        prefix = "" if combinator is None else f"{combinator} "
        further = _further(view, found, step) if combinator == ">" else ""
        if combinator is not None and not at:
            lines.append(_line(f"{prefix}{step.terms[0]}", 0, 0))
            return f"nothing lies {'directly ' if combinator == '>' else ''}below {_names(view, found)}{further}"
        for part in step.parts:
            left = part.among(view, at)
            lines.append(_line(f"{prefix}{part}", len(left), len(at)))
            if not left:
                return _instead(part, view, at, depth) + (further or _elsewhere(part, view, at))
            at, prefix = left, ""
        found = step.chosen(at) if combinator is None else next_step(view, found, combinator, step)
        if not found:
            lines.append(_line(str(Step((), (), step.position)), 0, len(at)))
            return "there are fewer" if combinator is None else "there are fewer below each"
    return ""


def _line(part: str, left: int, before: int) -> str:
    return f"{part}: {left or 'none'} of {before}"


def _below(view: View, found: list[int], combinator: Combinator) -> list[int]:
    owners = view.owners(found, direct=combinator == ">")
    return [number for number in view.all if number in owners]


def _further(view: View, found: list[int], step: Step) -> str:
    """Say where the step would match if it looked further down."""
    matches = step.among(view, _below(view, found, ">>"))
    return f", but {len(matches)} further below: use >>" if matches else ""


def _elsewhere(part: Term | Relation, view: View, at: list[int]) -> str:
    """Say where else in the trace the part would have matched."""
    if len(at) == len(view.spans) or not isinstance(part, Term) or part.negated:
        return ""
    if others := part.among(view, view.all):
        return f"; {len(others)} elsewhere in the trace"
    test = part.test
    if (
        not isinstance(test, Field)
        or FIELDS[test.field].words
        or _values(test, view, view.all) == _values(test, view, at)
    ):
        return ""
    return f"; in the whole trace, {_other_values(test, view, view.all)}"


def _instead(part: Term | Relation, view: View, at: list[int], depth: int) -> str:
    if isinstance(part, Relation):
        return _unrelated(part, view, at, depth)
    if part.negated:
        return f"{part.test} holds for all of them"
    match part.test:
        case Named(name=name):
            if name == "root" and at:
                return "the root is elsewhere"
            elsewhere = view.trace.counted_in
            where = "" if elsewhere is None else f"; its one is a call of trace {elsewhere}, and counts there"
            return f"there is no LLM call{_among(view, at)}{where}"
        case Field() as test:
            return _other_values(test, view, at)
        case Attribute() as test:
            return _other_attributes(test, view, at)
        case Nested(chain=chain):
            return _within(chain, view, depth)


def _within(chain: Chain, view: View, depth: int) -> str:
    """Explain a selector within the selector."""
    if depth >= _MOST_NESTED:
        return f"({chain}) finds nothing here"
    lines: list[str] = []
    inner = _follow(chain, view, lines, depth + 1)
    if not inner:
        return f"what it finds is elsewhere in the trace: {_names(view, view.found(chain))}"
    return f"in the whole trace, {lines[-1]}; {inner}"


def _unrelated(relation: Relation, view: View, at: list[int], depth: int) -> str:
    chain = Chain((relation.step,))
    others = view.found(chain)
    if not others:
        return _within(chain, view, depth)
    where = "below" if relation.word == "under" else "above"
    return f"none of {_names(view, at)} lies {where} {_names(view, others)}"


def _other_values(test: Field, view: View, at: list[int]) -> str:
    field = FIELDS[test.field]
    if test.field == "kind":
        return f"the kinds are {_kinds(view, at)}" if at else "there are no spans"
    if values := _values(test, view, at):
        return f"the {field.plural} are {listed(values)}{_closest(test.field, test.pattern, values)}"
    if test.field == "tool" and not view.trace.tool_spans and (asked := _asked(view)):
        return f"no tool's run was recorded; the models asked for {listed(asked)} (see tools_called of the root)"
    return f"there are no {field.plural}{_among(view, at)}"


def _values(test: Field, view: View, at: list[int]) -> list[str]:
    read = FIELDS[test.field].read
    return list(dict.fromkeys(value for number in at for value in read(view.spans[number]) if value))


def _other_attributes(test: Attribute, view: View, at: list[int]) -> str:
    known: dict[str, list[object]] = {}
    for number in at:
        for attributes in (view.spans[number].attributes, view.spans[number].resource):
            for key, value in attributes.items():
                known.setdefault(key, []).append(value)
    if test.key in known:
        return f"its values are {listed(str(value)[:40] for value in known[test.key])}"
    close = " or ".join(difflib.get_close_matches(test.key, known, 3))
    return f"no span has {test.key}{f' (did you mean {close}?)' if close else ''}"


def _asked(view: View) -> list[str]:
    return [
        call.name
        for span in view.calls.values()
        for message in span.output_messages
        for call in getattr(message, "tool_calls", ())
    ]


def _closest(field: str, pattern: str, values: list[str]) -> str:
    bare = pattern.strip("*").lower()
    by_lower = {value.lower(): value for value in reversed(values)}
    close = difflib.get_close_matches(bare, by_lower, 1) or [low for low in by_lower if bare and bare in low][:1]
    return f" (did you mean {Field(field, by_lower[close[0]])}?)" if close else ""


def _among(view: View, at: list[int]) -> str:
    return f" among {_kinds(view, at)}" if at else ""


def _kinds(view: View, at: list[int]) -> str:
    kinds = Counter(view.spans[number].kind.value for number in at)
    return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))


def _names(view: View, at: Iterable[int]) -> str:
    return listed(view.spans[number].name for number in sorted(at))
