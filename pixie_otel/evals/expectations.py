"""Expectations for traces, from a file that people write.

A row says which trace or which input it is for, and what a good output is:

    {"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "expectation": "Paris"}
    {"input": "What is the capital of France?", "expectation": "Paris", "context": ["France's capital is Paris."]}

A row with a trace id is for that trace; one without is for every case with that input: the case's first input value,
or all its inputs by name. Inputs are equal when they are the same JSON, where a text that is JSON counts as the JSON it
is, and other text is compared without the space around it. An input that is a conversation, as that of a model call, is
also found by the text of its last user message, and one that is an object around a single text by that text: this is
what people call the input. ``"expectation": null`` says that nothing is expected; without the key there is no
expectation, and the row gives something else. In CSV every value is text, an empty cell is not given, and the columns
``context``, ``expected_tools`` and ``eval_metadata`` may hold JSON.

Of several rows for the same trace or input the first counts; the others are reported, as are rows that fit no case.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeAlias

from pixie_otel.errors import ConfigError
from pixie_otel.evals.row_models import ExpectationRow, RowProblems, parse_rows
from pixie_otel.evaluable import UNSET, Evaluable, JsonValue, ToolCall, Unset, canonical_json, collapse_named_data
from pixie_otel.traces.report import Problem

__all__ = ["Expectation", "Expectations"]

_Key: TypeAlias = tuple[str, str]
_GIVEN: Final = ("expectation", "context", "expected_tools", "eval_metadata", "description")
_USERS: Final = frozenset({"user", "human"})
_TRACE_ID_DIGITS: Final = 32


@dataclass(frozen=True, slots=True)
class Expectation:
    """One row of an expectations file.

    Attributes:
        line: Its line.
        trace_id: The trace it is for, in lower case; ``None`` where it goes by input.
        input: The input it is for.
        expectation: What a good output is; `UNSET` where the row does not say.
        context: Ground truth for the case.
        expected_tools: The tool calls that a good run makes.
        eval_metadata: Added to the case's metadata.
        description: What the case is about.
    """

    line: int
    trace_id: str | None = None
    input: JsonValue = None
    expectation: JsonValue | Unset = UNSET
    context: list[str] | None = None
    expected_tools: list[ToolCall] | None = None
    eval_metadata: dict[str, JsonValue] | None = None
    description: str | None = None

    def apply(self, evaluable: Evaluable) -> Evaluable:
        """Give the evaluable with what the row says in place of what it had; metadata is added.

        Args:
            evaluable: What is judged; it stays as it is.
        """
        given = {name: getattr(self, name) for name in _GIVEN if getattr(self, name) is not None}
        # `None` is an expectation of its own, and "not said" is `UNSET` here.
        given.pop("expectation", None)
        if self.expectation is not UNSET:
            given["expectation"] = self.expectation
        if self.eval_metadata is not None:
            given["eval_metadata"] = {**(evaluable.eval_metadata or {}), **self.eval_metadata}
        return dataclasses.replace(evaluable, **given)


class Expectations:
    """The rows of an expectations file, found by trace or by input.

    Args:
        path: A ``.jsonl``, ``.json`` or ``.csv`` file.

    Attributes:
        path: The file.

    Raises:
        ConfigError: The file cannot be read, or rows are wrong; all of them are named.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._rows: dict[_Key, Expectation] = {}
        self._used: set[_Key] = set()
        self._doubles: list[tuple[Expectation, Expectation]] = []
        problems = RowProblems(path)
        for line, row in parse_rows(path, ExpectationRow, problems):
            if row.trace_id is None and row.input is None:
                problems.add(line, "names neither trace_id nor input: give the one or the other")
            elif not row.model_fields_set.intersection(_GIVEN):
                problems.add(line, f"gives nothing: add an expectation, or one of {', '.join(_GIVEN[1:])}")
            else:
                self._add(_expectation(line, row), problems)
        problems.check()
        if not self._rows:
            raise ConfigError(f"{self.path}: holds no expectations")

    def __len__(self) -> int:
        """Say how many rows count."""
        return len(self._rows)

    def match(self, trace_id: str | None, evaluable: Evaluable, others: Iterable[str] = ()) -> Expectation | None:
        """Find the row for a case: by its trace, else by another one of its conversation, else by its input.

        Args:
            trace_id: The trace's id, where there is a trace.
            evaluable: What is judged.
            others: The ids of the other traces of its conversation.
        """
        for key in _case_keys(trace_id, evaluable, others):
            if key in self._rows:
                self._used.add(key)
                return self._rows[key]
        return None

    def unmatched(self) -> list[Expectation]:
        """List the rows that have fitted no case so far, in their order."""
        return [row for key, row in self._rows.items() if key not in self._used]

    def problems(self, *, complete: bool = True) -> list[Problem]:
        """Say which rows count for nothing: double ones, and those that fit no case.

        Args:
            complete: Whether all cases were matched; where not, nobody knows what the others would have fitted.
        """
        doubles = [
            Problem(
                "double-expectation",
                f"for the same {_subject(row)} as line {first.line}, which counts; this row does not: remove one",
                self.path,
                row.line,
                row.trace_id,
            )
            for first, row in self._doubles
        ]
        unmatched = [
            Problem(
                "unmatched-expectation",
                f"fits no case: none has this {_subject(row)}{_hint(row)}",
                self.path,
                row.line,
                row.trace_id,
            )
            for row in (self.unmatched() if complete else ())
        ]
        return doubles + unmatched

    def _add(self, row: Expectation, problems: RowProblems) -> None:
        try:
            key = _input_key(row.input) if row.trace_id is None else _trace_key(row.trace_id)
        except RecursionError:
            problems.add(row.line, "input: is nested too deep")
            return
        first = self._rows.setdefault(key, row)
        if first is not row:
            self._doubles.append((first, row))


def _expectation(line: int, row: ExpectationRow) -> Expectation:
    return Expectation(
        line=line,
        trace_id=None if row.trace_id is None else row.trace_id.strip().lower(),
        input=row.input,
        expectation=row.expectation,
        context=row.context,
        expected_tools=row.expected_calls,
        eval_metadata=row.eval_metadata,
        description=row.description,
    )


def _trace_key(trace_id: str) -> _Key:
    return "trace_id", trace_id.lower()


def _input_key(value: JsonValue) -> _Key:
    return "input", canonical_json(_from_text(value) if isinstance(value, str) else value)


def _from_text(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()
    # A text within a text, as some programs write it, is that text.
    return _from_text(value) if isinstance(value, str) else value


def _case_keys(trace_id: str | None, evaluable: Evaluable, others: Iterable[str]) -> Iterator[_Key]:
    if trace_id is not None:
        yield _trace_key(trace_id)
    yield from map(_trace_key, others)
    if not evaluable.eval_input:
        return
    first = evaluable.eval_input[0].value
    # Recorded values may be nested deeper, and numbers longer, than Python writes out; no row can be equal to those.
    with suppress(RecursionError, ValueError):
        yield _input_key(first)
        yield _input_key(collapse_named_data(evaluable.eval_input))
    asked = _asked(_from_text(first) if isinstance(first, str) else first)
    if asked:
        yield _input_key(asked)


def _asked(value: JsonValue) -> str:
    """Give what people would call the input: what the user said last, or the one text of an object; else nothing."""
    if isinstance(value, dict):
        if isinstance(value.get("messages"), list):
            value = value["messages"]
        elif len(value) == 1:
            (only,) = value.values()
            return only if isinstance(only, str) else ""
    for message in reversed(value if isinstance(value, list) else []):
        if isinstance(message, dict):
            # Frameworks wrap what they write of their own messages.
            inner = message.get("kwargs", message.get("data"))
            fields = inner if isinstance(inner, dict) else message
            if _USERS & {str(fields.get("role")), str(fields.get("type"))}:
                return _said(fields.get("content"))
    return ""


def _said(content: JsonValue) -> str:
    if isinstance(content, str):
        return content
    parts = [part.get("text") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return "".join(part for part in parts if isinstance(part, str))


def _subject(row: Expectation) -> str:
    if row.trace_id is not None:
        return f"trace {row.trace_id}"
    shown = row.input if isinstance(row.input, str) else json.dumps(row.input, ensure_ascii=False)
    return f"input {shown if len(shown) <= 80 else shown[:79] + '…'!r}"


def _hint(row: Expectation) -> str:
    is_short = row.trace_id is not None and len(row.trace_id) < _TRACE_ID_DIGITS
    return f"; a whole id has {_TRACE_ID_DIGITS} digits" if is_short else ""
