"""Finished cases from a file: what went into an app and what came out, to be judged without a trace.

    {"input": "What is the capital of France?", "output": "Paris.", "expectation": "Paris"}

A row has ``input`` and ``output`` (any JSON), or ``eval_input`` and ``eval_output`` with several values by name; and
it may have ``expectation`` (or ``expected_output``), ``context``, ``retrieval_context``, ``tools_called``,
``expected_tools``, ``metadata``, ``description``, ``id``, ``token_cost`` and ``completion_time``. Without ``output``
the app counts as not run; ``null`` says that it ran and gave nothing. In CSV every value is text, an empty cell is not
given, and the columns that hold lists or objects hold JSON.

A case without an ``id`` gets one from its input, so that the same question has the same id in every run, wherever its
row stands.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from typing import cast

from pixie_otel.errors import InputError
from pixie_otel.evals.case import Case
from pixie_otel.evals.row_models import CaseRow, NamedValueRow, RowProblems, parse_rows
from pixie_otel.evaluable import UNSET, Evaluable, JsonValue, NamedData, canonical_json, collapse_named_data

__all__ = ["CaseFile"]


class CaseFile:
    """The cases of a file: checked as a whole at first, then read one at a time as they are asked for.

    Args:
        path: A ``.jsonl``, ``.json`` or ``.csv`` file.

    Attributes:
        path: The file.

    Raises:
        ConfigError: The file cannot be read, or rows are wrong; all of them are named.
        InputError: There is no case in it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._count = sum(1 for _ in self)
        if not self._count:
            raise InputError(f"{self.path}: holds no case")

    def __len__(self) -> int:
        """Say how many cases there are."""
        return self._count

    def __iter__(self) -> Iterator[Case]:
        """Read the cases, one at a time.

        Raises:
            ConfigError: Rows are wrong; said after the last row, with all of them.
        """
        problems = RowProblems(self.path)
        lines: dict[str, int] = {}
        inputs: Counter[str] = Counter()
        for line, row in parse_rows(self.path, CaseRow, problems):
            try:
                evaluable = _evaluable(row)
                case_id = row.id or _input_id(evaluable, inputs)
                name = (row.description or "").strip() or _title(evaluable) or case_id
            except ValueError as error:
                problems.add(line, str(error))
                continue
            except RecursionError:
                problems.add(line, "input: is nested too deep")
                continue
            if case_id in lines:
                problems.add(line, f"id: {case_id!r} stands in line {lines[case_id]} already")
                continue
            lines[case_id] = line
            yield Case(id=case_id, name=name, evaluable=evaluable)
        problems.check()


def _evaluable(row: CaseRow) -> Evaluable:
    if row.input is UNSET and row.eval_input is None:
        raise ValueError("input: missing; a case has an input, or eval_input with several by name")
    for field in ("input", "output"):
        if getattr(row, field) is not UNSET and getattr(row, f"eval_{field}") is not None:
            raise ValueError(f"{field}: given beside eval_{field}; give the one or the other")
    return Evaluable(
        eval_input=_named("input", cast("JsonValue", row.input))
        if row.eval_input is None
        else _all_named(row.eval_input),
        eval_output=_outputs(row),
        expectation=row.expectation,
        eval_metadata=row.eval_metadata,
        description=row.description,
        context=row.context,
        expected_tools=row.expected_calls,
        retrieval_context=None
        if row.retrieval_context is None
        else [item.document() for item in row.retrieval_context],
        tools_called=None if row.tools_called is None else [item.tool_call() for item in row.tools_called],
        token_cost=row.token_cost,
        completion_time=row.completion_time,
    )


def _outputs(row: CaseRow) -> list[NamedData] | None:
    if row.eval_output is not None:
        return _all_named(row.eval_output)
    return None if row.output is UNSET else _named("output", row.output)


def _named(name: str, value: JsonValue) -> list[NamedData]:
    return [NamedData(name, value)]


def _all_named(rows: list[NamedValueRow]) -> list[NamedData]:
    return [NamedData(row.name, row.value) for row in rows]


def _input_id(evaluable: Evaluable, seen: Counter[str]) -> str:
    text = canonical_json(collapse_named_data(evaluable.eval_input))
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    seen[digest] += 1
    return digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"


def _title(evaluable: Evaluable) -> str:
    value: JsonValue = evaluable.eval_input[0].value if evaluable.eval_input else ""
    text = " ".join((value if isinstance(value, str) else canonical_json(value)).split())
    return text if len(text) <= 60 else f"{text[:59]}…"
