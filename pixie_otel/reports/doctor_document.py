"""What is wrong with traces, as one JSON document for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from pixie_otel.runs.records import encode_record
from pixie_otel.traces.findings.examination import Diagnosis, Examination
from pixie_otel.traces.findings.kinds import KINDS

__all__ = ["doctor_document", "kinds_document"]


class _DoctorDocument(Struct, frozen=True, kw_only=True):
    schema: int = 1
    exit_code: int
    traces: int
    spans: int
    llm_calls: int
    failed_on: list[str]
    findings: list[dict[str, Any]]


class _KindsDocument(Struct, frozen=True, kw_only=True):
    schema: int = 1
    kinds: list[dict[str, str]]


def doctor_document(examined: Examination, found: Sequence[Diagnosis], failed_on: Iterable[str], exit_code: int) -> str:
    """Write what is wrong with traces on one line.

    Args:
        examined: The traces that were examined.
        found: What was found.
        failed_on: The kinds among it that the command was told to fail on.
        exit_code: What the command ends with.
    """
    document = _DoctorDocument(
        exit_code=exit_code,
        traces=examined.traces,
        spans=examined.spans,
        llm_calls=examined.llm_calls,
        failed_on=sorted(failed_on),
        findings=[_finding(row) for row in found],
    )
    return encode_record(document).decode()


def _finding(row: Diagnosis) -> dict[str, Any]:
    return {
        "kind": row.kind.name,
        "weight": row.kind.weight.value,
        "title": row.kind.title,
        "count": row.count,
        "traces": row.traces,
        "fixes": [{"fix": fix, "count": count} for fix, count in row.fixes.most_common()],
        "examples": [problem.to_json() for problem in row.examples],
    }


def kinds_document() -> str:
    """Write all kinds of problems on one line."""
    kinds = [
        {"kind": kind.name, "weight": kind.weight.value, "title": kind.title, "fix": kind.fix}
        for kind in KINDS.values()
    ]
    return encode_record(_KindsDocument(kinds=kinds)).decode()
