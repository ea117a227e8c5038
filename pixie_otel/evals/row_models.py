"""What a row of an expectations or cases file may hold, checked by pydantic; the errors name file, line and field."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pixie_otel.errors import ConfigError
from pixie_otel.evals.row_files import Row, read_rows
from pixie_otel.evaluable import UNSET, Document, ToolCall

__all__ = [
    "CaseRow",
    "DocumentRow",
    "ExpectationRow",
    "NamedValueRow",
    "RowProblems",
    "SpecificationRow",
    "ToolCallRow",
    "parse_rows",
]

_MAX_PROBLEMS: Final = 50
_STRUCTURED: Final = ("context", "expected_tools", "eval_metadata", "retrieval_context", "tools_called")


def _named(field: str) -> BeforeValidator:
    return BeforeValidator(lambda value: {field: value} if isinstance(value, str) else value)


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _numbered(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ToolCallRow(_Model):
    """A tool call; a text stands for the tool's name."""

    name: str
    arguments: Any = None
    id: str | None = None
    result: Any = UNSET
    type: Literal["FUNCTION", "MCP"] = "FUNCTION"
    description: str | None = None
    reasoning: str | None = None

    def tool_call(self) -> ToolCall:
        """Give the tool call."""
        return ToolCall(self.name, self.arguments, self.id, self.result, self.type, self.description, self.reasoning)


class DocumentRow(_Model):
    """A retrieved document; a text stands for its content."""

    content: str
    id: str | None = None
    score: float | None = None
    metadata: dict[str, Any] | None = None

    def document(self) -> Document:
        """Give the document."""
        return Document(self.content, self.id, self.score, self.metadata)


class NamedValueRow(_Model):
    """A value under a name."""

    name: str
    value: Any


_Texts: TypeAlias = Annotated[list[str], BeforeValidator(_listed)]
_Tools: TypeAlias = list[Annotated[ToolCallRow, _named("name")]]
_Documents: TypeAlias = Annotated[list[Annotated[DocumentRow, _named("content")]], BeforeValidator(_listed)]
_Id: TypeAlias = Annotated[str, Field(min_length=1), BeforeValidator(_numbered)]


class SpecificationRow(_Model):
    """What both kinds of rows may give: the specification of a case.

    Attributes:
        other_names: Names that are understood as well, and what they mean.
    """

    other_names: ClassVar[Mapping[str, str]] = {"expected_output": "expectation", "metadata": "eval_metadata"}

    expectation: Any = UNSET
    context: _Texts | None = None
    expected_tools: _Tools | None = None
    eval_metadata: dict[str, Any] | None = None
    description: str | None = None

    @property
    def expected_calls(self) -> list[ToolCall] | None:
        """The expected tools as tool calls."""
        return None if self.expected_tools is None else [row.tool_call() for row in self.expected_tools]


class ExpectationRow(SpecificationRow):
    """A row of an expectations file.

    Attributes:
        trace_id: The trace it is for.
        input: The input it is for, where it names no trace; with both it is for the trace.
    """

    trace_id: str | None = None
    input: Any = None


class CaseRow(SpecificationRow):
    """A row of a cases file.

    Attributes:
        id: The case's id.
        input: The input; any JSON.
        output: What the app gave.
        eval_input: Several inputs by name, in place of ``input``.
        eval_output: Several outputs by name, in place of ``output``.
        retrieval_context: The documents that the app retrieved.
        tools_called: The tool calls that it made.
        token_cost: What its model calls cost, in US dollars.
        completion_time: How long it took, in seconds.
    """

    other_names: ClassVar[Mapping[str, str]] = {
        **SpecificationRow.other_names,
        "case_id": "id",
        "actual_output": "output",
    }

    id: _Id | None = None
    input: Any = UNSET
    output: Any = UNSET
    eval_input: list[NamedValueRow] | None = None
    eval_output: list[NamedValueRow] | None = None
    retrieval_context: _Documents | None = None
    tools_called: _Tools | None = None
    token_cost: Annotated[float, Field(ge=0)] | None = None
    completion_time: Annotated[float, Field(ge=0)] | None = None


class RowProblems:
    """What is wrong with a file of rows, told all at once.

    Args:
        path: The file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        self._lines: dict[str, int] = {}
        self._repeats: Counter[str] = Counter()
        self._untold = 0

    def add(self, line: int, message: str) -> None:
        """Note a problem; the first ones are kept in full, one that rows have in common once, and all are counted.

        Args:
            line: The line it is in.
            message: What is wrong.
        """
        if message in self._lines:
            self._repeats[message] += 1
        elif len(self._lines) < _MAX_PROBLEMS:
            self._lines[message] = line
        else:
            self._untold += 1

    def check(self) -> None:
        """Raise what was noted.

        Raises:
            ConfigError: Something was noted.
        """
        told = [f"{self._path}:{line}: {message}{self._also(message)}" for message, line in self._lines.items()]
        if told:
            raise ConfigError("\n".join([*told, *([f"and {self._untold} more"] if self._untold else [])]))

    def _also(self, message: str) -> str:
        repeats = self._repeats[message]
        return f" (and in {repeats} more {'row' if repeats == 1 else 'rows'})" if repeats else ""


_RowT = TypeVar("_RowT", bound=SpecificationRow)


def parse_rows(path: str | os.PathLike[str], model: type[_RowT], problems: RowProblems) -> Iterator[tuple[int, _RowT]]:
    """Read and check the rows of a file, one at a time.

    Args:
        path: The file.
        model: What a row is.
        problems: Where to note what is wrong; rows with problems are left out.

    Yields:
        The line and the row.

    Raises:
        ConfigError: The file cannot be read at all.
    """
    is_csv = os.fspath(path).lower().endswith(".csv")
    for row in read_rows(path):
        if row.problem is not None:
            problems.add(row.line, row.problem)
            continue
        try:
            values = _renamed(row, model)
            # A cell of a table is text, also where a number is meant; in JSON a text is no number.
            yield row.line, model.model_validate(_opened(values) if is_csv else values, strict=not is_csv)
        except ValidationError as error:
            for message in _messages(error, model):
                problems.add(row.line, message)
        except ValueError as error:
            problems.add(row.line, str(error))


def _renamed(row: Row, model: type[SpecificationRow]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in row.values.items():
        field = model.other_names.get(name, name)
        if field in values:
            raise ValueError(f"{field} is given twice, also as {name}: they are one field")
        values[field] = value
    return values


def _opened(cells: dict[str, Any]) -> dict[str, Any]:
    """Decode the columns that hold lists and objects, and leave every text a text."""
    opened = dict(cells)
    for name in _STRUCTURED:
        cell = cells.get(name, "")
        if cell.lstrip()[:1] in {"[", "{"}:
            try:
                opened[name] = json.loads(cell)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{name}: this column holds JSON, and {cell[:60]!r} is none: {error}") from error
    return opened


def _messages(error: ValidationError, model: type[SpecificationRow]) -> Iterator[str]:
    for detail in error.errors(include_url=False, include_context=False):
        spot = ".".join(map(str, detail["loc"]))
        if detail["type"] == "extra_forbidden" and len(detail["loc"]) == 1:
            known = [*model.model_fields, *model.other_names]
            close = get_close_matches(spot.lower(), known, n=1, cutoff=0.8)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
            yield f"{spot}: no such field; {hint}"
        else:
            shown = repr(cast("object", detail["input"]))
            yield f"{spot}: {detail['msg']}, not {shown if len(shown) <= 80 else shown[:79] + '…'}"
