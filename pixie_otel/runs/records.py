"""The lines of ``results.jsonl``: a judged case as one JSON object, and back.

Every line carries ``schema``, the version of its format. The policy of reading: what an older version wrote stays
readable, because fields are only ever added, with a default; fields that this version does not know are passed over;
and a line of a newer format than this version knows is refused with an `InputError` that says to upgrade.

What JSON in UTF-8 cannot hold is replaced: a number that is not finite by ``null``, half a surrogate pair by U+FFFD, a
value of a type that JSON does not have by its ``repr``, and what is nested deeper than readers follow, or within
itself, by a text that says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar, cast

import msgspec
from msgspec import Struct

from pixie_otel.errors import InputError, PixieError
from pixie_otel.evals.case import Case, CaseResult
from pixie_otel.evals.evaluation import Evaluation, EvaluationResult, Failure, FailureKind, Outcome, Severity
from pixie_otel.runs.evaluable_record import EvaluableRecord
from pixie_otel.traces.report import Problem

__all__ = [
    "SCHEMA",
    "CaseRecord",
    "FailureRecord",
    "ProblemRecord",
    "ResultRecord",
    "case_id_of",
    "decode_result",
    "decode_versioned",
    "encode_record",
    "encode_result",
]

SCHEMA: Final = 1
"""The format of ``results.jsonl`` and ``run.json`` that this version writes, and the newest that it reads."""

_MAX_DEPTH: Final = 200
_TOO_DEEP: Final = f"(nested deeper than {_MAX_DEPTH} levels: not kept)"
_WITHIN_ITSELF: Final = "(refers to what it is part of: not kept)"

_StructT = TypeVar("_StructT", bound=Struct)


class FailureRecord(Struct, frozen=True):
    """Why something could not be judged."""

    kind: FailureKind
    message: str
    type: str | None = None

    @classmethod
    def of(cls, failure: Failure) -> FailureRecord:
        """Take over a failure."""
        return cls(failure.kind, failure.message, failure.type)

    def failure(self) -> Failure:
        """Give the failure back."""
        return Failure(self.kind, self.message, self.type)


class ProblemRecord(Struct, frozen=True, omit_defaults=True):
    """What was wrong with an input."""

    kind: str
    message: str
    source: str
    line: int | None = None
    trace_id: str | None = None
    span_id: str | None = None
    fix: str | None = None

    @classmethod
    def of(cls, problem: Problem) -> ProblemRecord:
        """Take over a problem."""
        place = problem.source, problem.line, problem.trace_id, problem.span_id
        return cls(problem.kind, problem.message, *place, problem.fix)

    def problem(self) -> Problem:
        """Give the problem back."""
        return Problem(self.kind, self.message, self.source, self.line, self.trace_id, self.span_id, self.fix)


class ResultRecord(Struct, frozen=True, kw_only=True):
    """One evaluator on one case."""

    evaluator: str
    outcome: Outcome
    score: float | None = None
    reasoning: str | None = None
    details: dict[str, Any] | None = None
    threshold: float | None = None
    severity: Severity = Severity.FAIL
    failure: FailureRecord | None = None
    reason: str | None = None
    duration_ms: float = 0.0

    @classmethod
    def of(cls, result: EvaluationResult) -> ResultRecord:
        """Take over a result."""
        evaluation = result.evaluation
        return cls(
            evaluator=result.evaluator,
            outcome=result.outcome,
            score=result.score,
            reasoning=None if evaluation is None else evaluation.reasoning,
            details=None if evaluation is None else evaluation.details,
            threshold=result.threshold,
            severity=result.severity,
            failure=None if result.failure is None else FailureRecord.of(result.failure),
            reason=result.reason,
            duration_ms=result.duration_ms,
        )

    def result(self) -> EvaluationResult:
        """Give the result back."""
        return EvaluationResult(
            evaluator=self.evaluator,
            outcome=self.outcome,
            evaluation=None if self.score is None else Evaluation(self.score, self.reasoning or "", self.details or {}),
            threshold=self.threshold,
            severity=self.severity,
            failure=None if self.failure is None else self.failure.failure(),
            reason=self.reason,
            duration_ms=self.duration_ms,
        )


class CaseRecord(Struct, frozen=True, kw_only=True):
    """One line of ``results.jsonl``."""

    schema: int
    case_id: str
    name: str = ""
    trace_id: str | None = None
    span_id: str | None = None
    session_id: str | None = None
    start_time_unix_nano: int = 0
    outcome: Outcome
    failure: FailureRecord | None = None
    problems: list[ProblemRecord] = []
    evaluable: EvaluableRecord | None = None
    results: list[ResultRecord] = []

    @classmethod
    def of(cls, result: CaseResult) -> CaseRecord:
        """Take over a judged case, without its trace."""
        case = result.case
        return cls(
            schema=SCHEMA,
            case_id=case.id,
            name=case.name,
            trace_id=case.trace_id,
            span_id=case.span_id,
            session_id=case.session_id,
            start_time_unix_nano=case.start_time_unix_nano,
            outcome=result.outcome,
            failure=None if case.failure is None else FailureRecord.of(case.failure),
            problems=[ProblemRecord.of(problem) for problem in case.problems],
            evaluable=None if case.evaluable is None else EvaluableRecord.of(case.evaluable),
            results=[ResultRecord.of(item) for item in result.results],
        )

    def case_result(self) -> CaseResult:
        """Give the judged case back."""
        case = Case(
            id=self.case_id,
            name=self.name,
            evaluable=None if self.evaluable is None else self.evaluable.evaluable(),
            trace_id=self.trace_id,
            span_id=self.span_id,
            session_id=self.session_id,
            start_time_unix_nano=self.start_time_unix_nano,
            failure=None if self.failure is None else self.failure.failure(),
            problems=tuple(record.problem() for record in self.problems),
        )
        return CaseResult(case, tuple(record.result() for record in self.results))


class _Version(Struct, frozen=True):
    schema: int


class _CaseId(Struct, frozen=True):
    case_id: str


_CASES: Final = msgspec.json.Decoder(CaseRecord)
_CASE_IDS: Final = msgspec.json.Decoder(_CaseId)
_VERSIONS: Final = msgspec.json.Decoder(_Version)


def encode_result(result: CaseResult) -> bytes:
    """Write a judged case as one line, newline included.

    Args:
        result: The judged case; its trace is not part of the line.
    """
    return encode_record(CaseRecord.of(result)) + b"\n"


def decode_result(line: bytes, where: str) -> CaseResult:
    """Read one line of ``results.jsonl``.

    Args:
        line: The line.
        where: File and line number, for the message.

    Raises:
        InputError: The line is no result, or one of a newer format.
    """
    record = decode_versioned(_CASES, line, where)
    try:
        return record.case_result()
    except PixieError as error:
        raise InputError(f"{where}: no valid result: {error}") from error


def case_id_of(line: bytes) -> str:
    """Read the case's id from a line that this version wrote, and nothing else.

    Args:
        line: The line.
    """
    return _CASE_IDS.decode(line).case_id


def decode_versioned(
    decoder: msgspec.json.Decoder[_StructT], data: bytes, where: str, *, written_by: str | None = None
) -> _StructT:
    """Decode JSON that carries ``schema``, and say to upgrade where that is newer than this version.

    Args:
        decoder: The decoder of a record with a field ``schema``.
        data: The JSON text.
        where: File, or file and line number, for the message.
        written_by: The version of pixie-otel that wrote it, where known.

    Raises:
        InputError: The text is not what it should be, or of a newer format.
    """
    try:
        version = _VERSIONS.decode(data).schema
        if version <= SCHEMA:
            return decoder.decode(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not written by pixie-otel, or damaged: {error}") from error
    least = f">={written_by}" if written_by else ""
    raise InputError(
        f"{where}: written in format {version}, and this version reads up to {SCHEMA}: "
        f"pip install --upgrade 'pixie-otel{least}'"
    )


def encode_record(record: Struct) -> bytes:
    """Write a record as JSON, whatever values it holds.

    Args:
        record: The record.
    """
    try:
        return msgspec.json.encode(record)
    except (TypeError, ValueError, RecursionError):
        # Half a surrogate pair, endless nesting, a type that JSON does not have: no reason to lose what was judged.
        return msgspec.json.encode(_clean(record, ()))


def _clean(value: object, within: tuple[int, ...]) -> object:
    if isinstance(value, str):
        return _whole_text(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if id(value) in within:
        return _WITHIN_ITSELF
    if len(within) > _MAX_DEPTH:
        return _TOO_DEEP
    if isinstance(value, Struct):
        fields = {name: getattr(value, name) for name in value.__struct_fields__}
        return {name: _clean(inner, within) for name, inner in fields.items() if inner is not msgspec.UNSET}
    within = (*within, id(value))
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {_whole_text(str(key)): _clean(inner, within) for key, inner in items}
    if isinstance(value, list | tuple):
        return [_clean(inner, within) for inner in cast("list[object]", value)]
    try:
        return _whole_text(repr(value))
    except Exception:  # noqa: BLE001 - a repr is the user's code, and may raise anything
        return f"({type(value).__name__})"


def _whole_text(text: str) -> str:
    # Two halves that stand side by side become the character that they were meant to be.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
