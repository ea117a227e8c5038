"""A run as it lies on disk: its results, its summary, its verdict."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pixie_otel.errors import InputError
from pixie_otel.evals.case import CaseResult
from pixie_otel.evaluable import UNSET, collapse_named_data
from pixie_otel.runs.manifest import MANIFEST_NAME, Manifest
from pixie_otel.runs.records import decode_result
from pixie_otel.runs.summary import Summary, SummaryBuilder
from pixie_otel.runs.verdict import UNFINISHED, Verdict

__all__ = ["Run"]

RESULTS_NAME: Final = "results.jsonl"


class Run:
    """One evaluation pass: an iterable of judged cases, read from disk as they are asked for.

    Args:
        path: The run's folder.
        manifest: Its manifest.
        keep: Held as long as the run is, to keep a temporary folder alive.

    Attributes:
        path: The run's folder.
        manifest: What was run on what, and what came of it.
    """

    def __init__(self, path: Path, manifest: Manifest, *, keep: object = None) -> None:
        self.path = path
        self.manifest = manifest
        self._keep = keep
        self._summary = manifest.summary

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Run:
        """Open a run.

        A run that was killed opens too: it has the results that it wrote, and the verdict that it did not finish.

        Args:
            path: The run's folder, or a file in it.

        Raises:
            InputError: There is no run, it is damaged, or of a newer format than this version reads.
        """
        folder = Path(path)
        if folder.name in {MANIFEST_NAME, RESULTS_NAME}:
            folder = folder.parent
        return cls(folder, Manifest.load(folder))

    @property
    def id(self) -> str:
        """The run's id."""
        return self.manifest.run_id

    @property
    def summary(self) -> Summary:
        """What was found; added up from the results where the run did not get to it."""
        if self._summary is None:
            builder = SummaryBuilder(tuple(record.name for record in self.manifest.evaluators))
            for result in self:
                builder.add(result)
            self._summary = builder.build()
        return self._summary

    @property
    def verdict(self) -> Verdict:
        """What the run comes to."""
        return self.manifest.verdict or UNFINISHED

    @property
    def passed(self) -> bool:
        """Whether the verdict is exit code 0."""
        return self.verdict.passed

    @property
    def exit_code(self) -> int:
        """The exit code of the command."""
        return self.verdict.exit_code

    def __len__(self) -> int:
        """Say how many cases there are."""
        return self.summary.cases

    def __iter__(self) -> Iterator[CaseResult]:
        """Read the judged cases from disk, one at a time.

        A last line that was cut off, by a kill or a full disk, is left out: it was not finished.

        Raises:
            InputError: A line is damaged, or of a newer format than this version reads.
        """
        path = self.path / RESULTS_NAME
        try:
            with path.open("rb") as file:
                for number, line in enumerate(file, start=1):
                    if line.endswith(b"\n"):
                        yield decode_result(line, f"{path}:{number}")
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from error

    def __repr__(self) -> str:
        """Show the id and the verdict."""
        return f"<Run {self.id}: {self.verdict.text}>"

    def to_records(self) -> list[dict[str, Any]]:
        """Give one flat row per case and evaluator, as ``pandas.DataFrame`` takes them.

        A case without any evaluator's result, because it could not be made, is one row with ``evaluator`` None.
        """
        return [row for result in self for row in self._rows(result)]

    def _rows(self, result: CaseResult) -> Iterator[dict[str, Any]]:
        case, evaluable = result.case, result.case.evaluable
        shared: dict[str, Any] = {
            "run_id": self.id,
            "case_id": case.id,
            "case": case.name,
            "trace_id": case.trace_id,
            "span_id": case.span_id,
            "session_id": case.session_id,
            "case_outcome": result.outcome.value,
            "input": None if evaluable is None else collapse_named_data(evaluable.eval_input),
            "output": None if evaluable is None else collapse_named_data(evaluable.eval_output),
            "expectation": None if evaluable is None or evaluable.expectation is UNSET else evaluable.expectation,
        }
        for item in result.results or (None,):
            failure = case.failure if item is None else item.failure
            evaluation = None if item is None else item.evaluation
            yield shared | {
                "evaluator": None if item is None else item.evaluator,
                "outcome": result.outcome.value if item is None else item.outcome.value,
                "score": None if evaluation is None else evaluation.score,
                "threshold": None if item is None else item.threshold,
                "severity": None if item is None else item.severity.value,
                "reasoning": None if evaluation is None else evaluation.reasoning,
                "failure_kind": None if failure is None else failure.kind.value,
                "failure": None if failure is None else failure.message,
                "skip_reason": None if item is None else item.reason,
                "duration_ms": None if item is None else item.duration_ms,
            }
