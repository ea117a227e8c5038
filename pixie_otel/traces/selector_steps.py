"""What a selector is made of, and what it finds: steps of terms, each with what lies above or below it.

A `Chain` is a sequence of steps, each looked for below what the one before it found. A `Step` is a list of terms that
all hold for an observation, with what must lie above or below it, and which of several is meant. All are values that
compare by what they say, and whose text can be read again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from pixie_otel import attributes as keys
from pixie_otel.traces.conditions import attribute_test, attribute_values
from pixie_otel.traces.spans import AgentSpan, EmbeddingSpan, LLMSpan, ObservationKind, ObserveSpan, ToolSpan

if TYPE_CHECKING:
    from pixie_otel.traces.selector_view import View

__all__ = [
    "FIELDS",
    "NAMED",
    "Attribute",
    "Chain",
    "Combinator",
    "Field",
    "FieldKind",
    "Named",
    "Nested",
    "Relation",
    "Step",
    "Term",
    "Test",
    "next_step",
    "quoted",
]

Combinator: TypeAlias = Literal[">", ">>"]
"""``>`` looks directly below, ``>>`` anywhere below."""

NAMED: Final = ("root", "last_llm_call", "llm_calls")
"""What has a name instead of a field and a value."""


@dataclass(frozen=True, slots=True)
class FieldKind:
    """A field of observations.

    Attributes:
        read: Gives what an observation says of it; nothing for one that has no such field.
        plural: What the values are called.
        words: The values there are, where they are not free.
    """

    read: Callable[[ObserveSpan], Iterable[str]]
    plural: str
    words: tuple[str, ...] = ()


def _tools(span: ObserveSpan) -> Iterable[str]:
    return (span.tool_name or span.name,) if isinstance(span, ToolSpan) else ()


def _agents(span: ObserveSpan) -> Iterable[str]:
    return (span.agent_name or span.name,) if isinstance(span, AgentSpan) else ()


def _wraps(span: ObserveSpan) -> Iterable[str]:
    if keys.PIXIE_WRAP_PURPOSE not in span.attributes:
        return ()
    return (str(span.attributes.get(keys.PIXIE_WRAP_NAME) or span.name),)


def _models(span: ObserveSpan) -> Iterable[str]:
    if isinstance(span, LLMSpan):
        return filter(None, (span.response_model, span.request_model))
    return (span.model,) if isinstance(span, EmbeddingSpan) and span.model else ()


FIELDS: Final[dict[str, FieldKind]] = {
    "name": FieldKind(lambda span: (span.name,), "names"),
    "kind": FieldKind(lambda span: (span.kind.value,), "kinds", tuple(ObservationKind)),
    "tool": FieldKind(_tools, "tools"),
    "agent": FieldKind(_agents, "agents"),
    "wrap": FieldKind(_wraps, "wrapped values"),
    "model": FieldKind(_models, "models"),
    "status": FieldKind(lambda span: ("ok" if span.error is None else "error",), "statuses", ("error", "ok")),
}

_BARE: Final = re.compile(r"[\w*?\[\]./@%+:,-]+")
_BARE_KEY: Final = re.compile(r"[\w.-]+")


def quoted(value: str) -> str:
    """Write a value so that it is read as one: as it is where that is plain, else in quotes.

    Args:
        value: Any text.
    """
    return value if _BARE.fullmatch(value) else _in_quotes(value)


@dataclass(frozen=True, slots=True)
class Named:
    """What has a name: the trace's root, its model calls, the last of them.

    Attributes:
        name: One of `NAMED`.
    """

    name: str

    def __str__(self) -> str:
        """Give the name."""
        return self.name

    def among(self, view: View, at: Iterable[int]) -> list[int]:
        """Give those of some observations that it stands for; model calls by their end."""
        if self.name == "root":
            return [position for position in at if position == view.root]
        wanted = set(at)
        calls = [position for position in view.calls if position in wanted]
        return calls if self.name == "llm_calls" else [position for position in calls if position == view.last_call]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an observation and a pattern for it.

    Attributes:
        field: One of `FIELDS`.
        pattern: A glob; for kinds and status, a word.
    """

    field: str
    pattern: str

    def __str__(self) -> str:
        """Write it as ``field:pattern``."""
        return f"{self.field}:{quoted(self.pattern)}"

    def among(self, view: View, at: Iterable[int]) -> list[int]:
        """Give those of some observations whose field fits."""
        read, pattern = FIELDS[self.field].read, self.pattern
        return [position for position in at if any(fnmatchcase(value, pattern) for value in read(view.spans[position]))]


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of a span or its resource.

    Attributes:
        key: The attribute's key.
        operator: One of ``= != ~ !~ > >= < <=``; empty where the attribute only has to be there.
        value: What it is compared with.
    """

    key: str
    operator: str = ""
    value: str = ""

    def __str__(self) -> str:
        """Write it as ``attr:key``, an operator and a value."""
        key = self.key if _BARE_KEY.fullmatch(self.key) else _in_quotes(self.key)
        return f"attr:{key}{self.operator}{quoted(self.value) if self.operator else ''}"

    def among(self, view: View, at: Iterable[int]) -> list[int]:
        """Give those of some observations that have it; ``!=`` and ``!~`` are the opposite of ``=`` and ``~``."""
        fits = self._fits()
        return [position for position in at if fits(view.spans[position])]

    def _fits(self) -> Callable[[ObserveSpan], bool]:
        key = self.key
        if not self.operator:
            return lambda span: any(True for _ in attribute_values(span, key))
        is_negated = self.operator.startswith("!")
        test = attribute_test(self.operator.removeprefix("!"), self.value)
        return lambda span: any(map(test, attribute_values(span, key))) is not is_negated


@dataclass(frozen=True, slots=True)
class Nested:
    """A selector in parentheses: what it finds in the whole trace.

    Attributes:
        chain: The selector.
    """

    chain: Chain

    def __str__(self) -> str:
        """Write it in parentheses."""
        return f"({self.chain})"

    def among(self, view: View, at: Iterable[int]) -> list[int]:
        """Give those of some observations that the selector finds, too."""
        found = view.found(self.chain)
        return [position for position in at if position in found]


Test: TypeAlias = Named | Field | Attribute | Nested
"""What one term asks."""


@dataclass(frozen=True, slots=True)
class Term:
    """One thing that must hold for an observation, or must not.

    Attributes:
        test: What is asked.
        negated: Whether it must not hold.
    """

    test: Test
    negated: bool = False

    def __str__(self) -> str:
        """Write it, with ``!`` where it must not hold."""
        return f"{'!' if self.negated else ''}{self.test}"

    def among(self, view: View, at: list[int]) -> list[int]:
        """Give those of some observations for which it holds."""
        found = self.test.among(view, at)
        if not self.negated:
            return found
        excluded = set(found)
        return [position for position in at if position not in excluded]


@dataclass(frozen=True, slots=True)
class Relation:
    """What must lie above an observation, or below it, at any distance.

    Attributes:
        word: ``under`` or ``above``.
        step: What lies there; a step without relations of its own.
    """

    word: Literal["under", "above"]
    step: Step

    def __str__(self) -> str:
        """Write it as ``under …`` or ``above …``."""
        return f"{self.word} {self.step}"

    def among(self, view: View, at: list[int]) -> list[int]:
        """Give those of some observations for which it holds."""
        others = view.found(Chain((self.step,)))
        near = view.below(others) if self.word == "under" else view.above(others)
        return [position for position in at if position in near]


@dataclass(frozen=True, slots=True)
class Step:
    """What one step of a selector looks for.

    Attributes:
        terms: What must hold, all of it; at least one.
        relations: What must lie above or below.
        position: Which of several: 1 for the first, 2 for the second, -1 for the last; ``None`` for each.
    """

    terms: tuple[Term, ...]
    relations: tuple[Relation, ...] = ()
    position: int | None = None

    def __str__(self) -> str:
        """Write the position, the terms and the relations, with spaces between."""
        return " ".join((*self._position(), *map(str, self.parts)))

    @property
    def parts(self) -> tuple[Term | Relation, ...]:
        """The terms and the relations, in the order in which they are asked."""
        return (*self.terms, *self.relations)

    @property
    def is_single(self) -> bool:
        """Whether it finds no more than one."""
        return self.position is not None or self.names("root") or self.names("last_llm_call")

    def names(self, *wanted: str) -> bool:
        """Say whether it looks for what has one of some names."""
        return any(
            isinstance(term.test, Named) and term.test.name in wanted and not term.negated for term in self.terms
        )

    def among(self, view: View, at: list[int]) -> list[int]:
        """Give all of some observations for which everything holds, whichever of them is meant."""
        for part in self.parts:
            at = part.among(view, at)
        return at

    def chosen(self, found: list[int]) -> list[int]:
        """Give those of what was found that are meant."""
        if self.position is None:
            return found
        index = self.position - 1 if self.position > 0 else self.position
        return found[index : index + 1 or None]

    def _position(self) -> Iterator[str]:
        if self.position is not None:
            yield {1: "first", -1: "last"}.get(self.position, f"nth({self.position})")


@dataclass(frozen=True, slots=True)
class Chain:
    """A whole selector: steps, each below the one before.

    Attributes:
        steps: The steps; at least one.
        combinators: How near below, between each two steps.
    """

    steps: tuple[Step, ...]
    combinators: tuple[Combinator, ...] = ()

    def __str__(self) -> str:
        """Write the selector so that it can be read again."""
        rest = zip(self.combinators, self.steps[1:], strict=True)
        return " ".join([str(self.steps[0]), *(f"{combinator} {step}" for combinator, step in rest)])

    @property
    def is_single(self) -> bool:
        """Whether it finds no more than one observation of a trace."""
        return all(step.is_single for step in self.steps)

    def find(self, view: View) -> list[int]:
        """Give the observations of a trace that it finds, each once: in order of start, model calls by their end.

        Args:
            view: The trace.
        """
        found = self.steps[0].chosen(self.steps[0].among(view, view.all))
        for combinator, step in zip(self.combinators, self.steps[1:], strict=True):
            found = next_step(view, found, combinator, step)
        return found


def next_step(view: View, above: list[int], combinator: Combinator, step: Step) -> list[int]:
    """Give what a step finds below what the step before it found.

    Args:
        view: The trace.
        above: What the step before found.
        combinator: How near below.
        step: The step. Its position counts within each of ``above``: of nested ones, within the nearest.
    """
    owners = view.owners(above, direct=combinator == ">")
    matches = step.among(view, [position for position in view.all if position in owners])
    if step.position is None:
        return matches
    groups: dict[int, list[int]] = {}
    for match in matches:
        groups.setdefault(owners[match], []).append(match)
    meant = {position for group in groups.values() for position in step.chosen(group)}
    return [match for match in matches if match in meant]


def _in_quotes(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
