"""What is judged: named values, test cases, and evaluables, which are test cases that ran.

A `TestCase` says what is to be tried and exists before any run. An `Evaluable` is a test case plus what really
happened. Both are plain values without behaviour, so that every evaluator sees the same thing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal, TypeAlias

__all__ = [
    "UNSET",
    "Document",
    "Evaluable",
    "JsonValue",
    "NamedData",
    "TestCase",
    "ToolCall",
    "Unset",
    "canonical_json",
    "collapse_named_data",
]

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
"""Any value that JSON can hold, as Python objects."""


class Unset(Enum):
    """The type of `UNSET`; an enum, so that type checkers can narrow it by identity."""

    UNSET = "unset"

    def __bool__(self) -> Literal[False]:
        """Say no, as None does: nothing was given."""
        return False

    def __repr__(self) -> str:
        """Show the name that users import."""
        return "UNSET"


UNSET: Final = Unset.UNSET
"""Not given at all, where ``None`` means "given, and empty". In JSON: the key is absent."""


@dataclass(frozen=True, slots=True)
class NamedData:
    """A JSON value under a name, as an input or output of what is judged.

    Attributes:
        name: What the value is called, for example ``input`` or the name given to ``wrap``.
        value: Any JSON value.
    """

    name: str
    value: JsonValue


@dataclass(frozen=True, slots=True)
class Document:
    """One retrieved document.

    Attributes:
        content: The text that was retrieved.
        id: The store's id of the document, where it was recorded.
        score: The retriever's score, in the retriever's own unit.
        metadata: Whatever else was recorded about the document.
    """

    content: str
    id: str | None = None
    score: float | None = None
    metadata: dict[str, JsonValue] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ToolCall:
    """A call of a tool, asked for by a model, made by an app or expected by a test case.

    Two calls are equal when name, arguments and result are equal, as JSON is equal: ``1`` and ``1.0`` are the same
    number, ``1`` and ``true`` are not. Ids, descriptions and reasoning are carried along, not compared.

    Attributes:
        name: The tool's name.
        arguments: The decoded arguments; text only where what was recorded is no JSON.
        id: The id that joins a call to its result.
        result: What the tool gave back; `UNSET` where that is not known.
        type: ``"FUNCTION"`` or ``"MCP"``.
        description: The tool's description.
        reasoning: Why the model called it.
    """

    name: str
    arguments: JsonValue = None
    id: str | None = None
    result: JsonValue | Unset = UNSET
    type: Literal["FUNCTION", "MCP"] = "FUNCTION"
    description: str | None = None
    reasoning: str | None = None

    def __eq__(self, other: object) -> bool:
        """Compare name, arguments and result by their JSON meaning."""
        if not isinstance(other, ToolCall):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        """Hash what `__eq__` compares, so that calls can be counted as multisets."""
        return hash(self._identity())

    def _identity(self) -> tuple[str, str, str | Unset]:
        result = UNSET if isinstance(self.result, Unset) else canonical_json(self.result)
        return (self.name, canonical_json(self.arguments), result)


@dataclass(frozen=True, slots=True, init=False)
class TestCase:
    """What is to be tried, before any run: a golden.

    The constructor also takes ``expected_output`` for ``expectation``, and it can be read by that name.

    Attributes:
        eval_input: The inputs by name; the first is the input proper.
        expectation: What a good output is; `UNSET` when not given, ``None`` when nothing is expected.
        eval_metadata: Anything else evaluators may want to know.
        description: What the case is about, for people.
        context: Ground truth given by the specification, one text an item; not what the app retrieved.
        expected_tools: The tool calls that a good run makes.
    """

    # pytest would collect a public class of this name from users' test modules.
    __test__ = False

    eval_input: list[NamedData]
    expectation: JsonValue | Unset
    eval_metadata: dict[str, JsonValue] | None
    description: str | None
    context: list[str] | None
    expected_tools: list[ToolCall] | None

    def __init__(  # noqa: PLR0917 - the fields, in their order
        self,
        eval_input: Iterable[NamedData] = (),
        expectation: JsonValue | Unset = UNSET,
        eval_metadata: dict[str, JsonValue] | None = None,
        description: str | None = None,
        context: Sequence[str] | None = None,
        expected_tools: Sequence[ToolCall] | None = None,
        *,
        expected_output: JsonValue | Unset = UNSET,
    ) -> None:
        if expectation is not UNSET and expected_output is not UNSET:
            raise TypeError("give `expectation` or `expected_output`, not both: they are one field")
        put = object.__setattr__
        put(self, "eval_input", list(eval_input))
        put(self, "expectation", expected_output if expectation is UNSET else expectation)
        put(self, "eval_metadata", eval_metadata)
        put(self, "description", description)
        put(self, "context", None if context is None else list(context))
        put(self, "expected_tools", None if expected_tools is None else list(expected_tools))

    @property
    def expected_output(self) -> JsonValue | Unset:
        """The expectation, by the name that other tools use."""
        return self.expectation


@dataclass(frozen=True, slots=True, init=False)
class Evaluable(TestCase):
    """A test case plus what really happened.

    Attributes:
        eval_output: The outputs by name; ``None`` when the app was not run, empty when it ran and gave nothing.
        retrieval_context: The documents that the run retrieved; ``None`` where no retrieval was recorded.
        tools_called: The tool calls of the run, in order; ``None`` where that is not known.
        token_cost: What the run's model calls cost, in US dollars, where recorded.
        completion_time: How long the run took, in seconds.
    """

    __test__ = False

    eval_output: list[NamedData] | None
    retrieval_context: list[Document] | None
    tools_called: list[ToolCall] | None
    token_cost: float | None
    completion_time: float | None

    def __init__(  # noqa: PLR0917 - the fields, in their order
        self,
        eval_input: Iterable[NamedData] = (),
        eval_output: Iterable[NamedData] | None = None,
        expectation: JsonValue | Unset = UNSET,
        eval_metadata: dict[str, JsonValue] | None = None,
        description: str | None = None,
        context: Sequence[str] | None = None,
        expected_tools: Sequence[ToolCall] | None = None,
        *,
        retrieval_context: Sequence[Document] | None = None,
        tools_called: Sequence[ToolCall] | None = None,
        token_cost: float | None = None,
        completion_time: float | None = None,
        expected_output: JsonValue | Unset = UNSET,
    ) -> None:
        TestCase.__init__(
            self,
            eval_input,
            expectation,
            eval_metadata,
            description,
            context,
            expected_tools,
            expected_output=expected_output,
        )
        put = object.__setattr__
        put(self, "eval_output", None if eval_output is None else list(eval_output))
        put(self, "retrieval_context", None if retrieval_context is None else list(retrieval_context))
        put(self, "tools_called", None if tools_called is None else list(tools_called))
        put(self, "token_cost", token_cost)
        put(self, "completion_time", completion_time)


def collapse_named_data(items: Iterable[NamedData] | None) -> JsonValue:
    """Give named values as one JSON value, the way most evaluators want them.

    Args:
        items: Inputs or outputs of an `Evaluable`.

    Returns:
        ``None`` for none, the value itself for one, and a mapping of name to value for several. A name that stands
        several times holds the list of its values in order, so that none is lost.
    """
    values: dict[str, list[JsonValue]] = {}
    for item in items or ():
        values.setdefault(item.name, []).append(item.value)
    if not values:
        return None
    if len(values) == 1:
        (only,) = values.values()
        return only[0] if len(only) == 1 else {next(iter(values)): only}
    return {name: found[0] if len(found) == 1 else found for name, found in values.items()}


def canonical_json(value: JsonValue) -> str:
    """Write JSON so that equal values give equal text: keys sorted, whole floats as integers.

    Args:
        value: Any JSON value.

    Returns:
        Compact JSON text, good for comparing, hashing and digests.
    """
    return json.dumps(_whole(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _whole(value: JsonValue) -> JsonValue:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _whole(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_whole(inner) for inner in value]
    return value
