"""Why a selector finds nothing in a trace: how far it comes, where it ends, and what is there instead."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pixie_otel.traces.selector_fields import FIELDS
from pixie_otel.traces.selector_steps import (
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

__all__ = ["Explanation", "Stage", "explained", "listed"]

_MOST_NAMES: Final = 8
_MOST_NESTED: Final = 8


@dataclass(frozen=True, slots=True)
class Stage:
    """How far a selector came with one more of its parts.

    Attributes:
        text: The part.
        matched: How many observations were left after it.
        of: How many there were before.
    """

    text: str
    matched: int
    of: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a selector finds in a trace, part by part, up to the first that leaves nothing.

    Attributes:
        stages: The parts; the last one failed where ``instead`` is not empty.
        instead: What is there in the place of what the last part looks for.
    """

    stages: tuple[Stage, ...]
    instead: str = ""

    def __str__(self) -> str:
        """Say it, a line for each part."""
        said = "\n".join(f"{stage.text}: {stage.matched or 'none'} of {stage.of}" for stage in self.stages)
        return f"{said}; {self.instead}" if self.instead else said


def explained(chain: Chain, view: View) -> Explanation:
    """Say how far a selector comes in a trace.

    Args:
        chain: The selector.
        view: The trace.
    """
    stages: list[Stage] = []
    instead = _follow(chain, view, stages, 0)
    return Explanation(tuple(stages), instead)


def listed(names: Iterable[str]) -> str:
    """List names, each once, and no more than people read.

    Args:
        names: The names, in order.
    """
    distinct = list(dict.fromkeys(names))
    shown = ", ".join(repr(name) for name in distinct[:_MOST_NAMES])
    return shown if len(distinct) <= _MOST_NAMES else f"{shown}, …"


def _follow(chain: Chain, view: View, stages: list[Stage], depth: int) -> str:
    """Note part by part what is left; where that becomes nothing, say what is there instead."""
    found = view.all
    combinators: Iterator[Combinator | None] = iter((None, *chain.combinators))
    for combinator, step in zip(combinators, chain.steps, strict=True):
        at = found if combinator is None else _below(view, found, combinator)
        prefix = "" if combinator is None else f"{combinator} "
        further = _further(view, found, step) if combinator == ">" else ""
        if combinator is not None and not at:
            stages.append(Stage(f"{prefix}{step.terms[0]}", 0, 0))
            names = _names(view, found)
            return f"nothing lies {'directly ' if combinator == '>' else ''}below {names}{further}"
        parts: tuple[Term | Relation, ...] = (*step.terms, *step.relations)
        for part in parts:
            left = part.among(view, at)
            stages.append(Stage(f"{prefix}{part}", len(left), len(at)))
            if not left:
                return _instead(part, view, at, depth) + (further or _elsewhere(part, view, at))
            at, prefix = left, ""
        found = step.chosen(at) if combinator is None else next_step(view, found, combinator, step)
        if not found:
            stages.append(Stage(str(Step((), (), step.position)), 0, len(at)))
            return "there are fewer" if combinator is None else "there are fewer below each"
    return ""


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
    others = part.among(view, view.all)
    return f"; {len(others)} elsewhere in the trace" if others else ""


def _instead(part: Term | Relation, view: View, at: list[int], depth: int) -> str:
    if isinstance(part, Relation):
        return _unrelated(part, view, at, depth)
    if part.negated:
        return f"{part.test} holds for all of them"
    match part.test:
        case Named(name=name):
            return "the root is elsewhere" if name == "root" and at else f"there is no LLM call{_among(view, at)}"
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
    stages: list[Stage] = []
    inner = _follow(chain, view, stages, depth + 1)
    if not inner:
        return f"what it finds is elsewhere in the trace: {_names(view, view.found(chain))}"
    return f"in the whole trace, {stages[-1].text} finds nothing: {inner}"


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
    values = list(dict.fromkeys(value for number in at for value in field.read(view.spans[number]) if value))
    if values:
        return f"the {field.plural} are {listed(values)}{_closest(test.field, test.pattern, values)}"
    if test.field == "tool" and (asked := _asked(view)):
        return f"no tool's run was recorded; the models asked for {listed(asked)} (see tools_called of the root)"
    return f"there are no {field.plural}{_among(view, at)}"


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
