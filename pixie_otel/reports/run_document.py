"""A run as one JSON document, for programs."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from pixie_otel.reports.problem_lines import problems_of_run
from pixie_otel.runs.manifest import EvaluatorRecord, Problems, RunStatus
from pixie_otel.runs.records import encode_record
from pixie_otel.runs.run import Run
from pixie_otel.runs.summary import Summary

__all__ = ["DOCUMENT_SCHEMA", "error_document", "run_document"]

DOCUMENT_SCHEMA: Final = 1
"""The format of the documents; fields may be added to it, and none changes its meaning."""


class _RunDocument(Struct, frozen=True, kw_only=True):
    schema: int = DOCUMENT_SCHEMA
    exit_code: int
    passed: bool
    verdict: str
    status: RunStatus
    run_id: str
    path: str
    counts: dict[str, Any]
    summary: Summary
    evaluators: tuple[EvaluatorRecord, ...]
    problems: Problems


class _ErrorDocument(Struct, frozen=True, kw_only=True):
    schema: int = DOCUMENT_SCHEMA
    exit_code: int
    passed: bool = False
    error: dict[str, str]


def run_document(run: Run) -> str:
    """Write what a run comes to, and where its results are.

    Args:
        run: The run.
    """
    document = _RunDocument(
        exit_code=run.exit_code,
        passed=run.passed,
        verdict=run.verdict.text,
        status=run.manifest.status,
        run_id=run.id,
        path=str(run.path),
        counts=run.manifest.counts,
        summary=run.summary,
        evaluators=run.manifest.evaluators,
        problems=problems_of_run(run),
    )
    return encode_record(document).decode()


def error_document(error: BaseException, exit_code: int) -> str:
    """Write why there is no run.

    Args:
        error: What happened.
        exit_code: What the command ends with.
    """
    said = {"type": type(error).__name__, "message": str(error)}
    return encode_record(_ErrorDocument(exit_code=exit_code, error=said)).decode()
