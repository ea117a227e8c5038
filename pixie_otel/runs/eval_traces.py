"""Evaluating traces and finished cases: the main job, as the command and the Python API do it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pixie_otel.errors import ConfigError
from pixie_otel.evals.case import Case, CaseResult
from pixie_otel.evals.case_files import CaseFile
from pixie_otel.evals.engine import EngineSettings, judge_sync
from pixie_otel.evals.evaluation import ScoreThreshold
from pixie_otel.evals.expectations import Expectations
from pixie_otel.evals.references import load_evaluators
from pixie_otel.evals.thresholds import Thresholds
from pixie_otel.runs.intake import Intake
from pixie_otel.runs.interrupted import Interrupted, Terminated
from pixie_otel.runs.manifest import EvaluatorRecord, InputFile, RunStatus
from pixie_otel.runs.run import Run
from pixie_otel.runs.summary import Summary
from pixie_otel.runs.verdict import Stop, Verdict, decide
from pixie_otel.runs.writer import RunWriter, check_out
from pixie_otel.secrets import masked_value
from pixie_otel.traces.filters import TraceFilter, sampled
from pixie_otel.traces.limits import ReadLimits
from pixie_otel.traces.reader import TraceReader
from pixie_otel.traces.report import Problem
from pixie_otel.traces.selectors import AnySelector, selector_of

if TYPE_CHECKING:
    from pixie_otel.evals.binding import BoundEvaluator

__all__ = ["eval_cases", "eval_traces"]

_Evaluators: TypeAlias = str | Callable[..., Any] | Iterable[str | Callable[..., Any]]
_Criteria: TypeAlias = Thresholds | ScoreThreshold | float | Mapping[str, float | None] | None

_DEFAULTS: Final = ("...",)
_PER: Final = ("trace", "conversation")


def eval_traces(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    evaluators: _Evaluators = _DEFAULTS,
    *,
    select: AnySelector = "root",
    per: str = "trace",
    explain: bool = False,
    expect: str | os.PathLike[str] | None = None,
    filter: TraceFilter | None = None,
    thresholds: _Criteria = None,
    pct: float = 1.0,
    allow_errors: float = 0.0,
    limit: int | None = None,
    sample: float | None = None,
    seed: int = 0,
    include_empty: bool = False,
    out: str | os.PathLike[str] | None = None,
    strict: bool = False,
    limits: ReadLimits | None = None,
    timeout: float | None = 60.0,
    concurrency: int = 16,
    on_case: Callable[[CaseResult], object] | None = None,
) -> Run:
    """Judge the traces of files.

    Args:
        paths: Files, folders, globs, or ``-`` for standard input.
        evaluators: References as on the command line, and evaluators themselves, several or one; by default the
            built-in trace checks, for which ``"..."`` stands.
        select: Which observation of a trace is judged: a text such as ``root``, ``last_llm_call``, ``tool:GLOB`` or
            ``last kind:llm under agent:planner``, what `pixie_otel.select` makes of one, or one of the functions
            `pixie_otel.root`, `pixie_otel.last_llm_call` and `pixie_otel.llm_calls`.
        per: ``trace``; or ``conversation``, to judge the traces of a session as one, and those without a session where
            one goes on with the other, see `pixie_otel.conversations`. Filters, limit and sample are then about
            conversations, too.
        explain: Whether a case for which the selector matches nothing says which part of it left nothing.
        expect: A file of expectations, matched by trace id or input.
        filter: Which traces are judged.
        thresholds: The score to reach, from 0 to 1: one for all, or by evaluator name, or both as `Thresholds`; a
            `ScoreThreshold` gives the one for all and, in place of ``pct``, the share.
        pct: The share of judged cases that must pass, from 0 to 1.
        allow_errors: The share of cases that may have errors, from 0 to 1.
        limit: How many traces at most, by start time.
        sample: The share of traces to take, by their ids.
        seed: Another seed takes another sample.
        include_empty: Judge also traces with neither model calls nor recorded inputs or outputs.
        out: The folder in which the run's own folder is made; ``None`` keeps the run only as long as it is referenced.
        strict: Whether the first thing that is wrong with the input ends it all.
        limits: Bounds of reading.
        timeout: Seconds that one call of a user's evaluator may take; ``None`` for no limit.
        concurrency: How many calls of users' evaluators run at the same time.
        on_case: Called with every judged case as it is done.

    Returns:
        The run: an iterable of judged cases with a summary and a verdict.

    Raises:
        ConfigError: Something the user set or wrote is wrong; nothing was judged.
        InputError: Nothing can be read, or nothing of it is left to judge.
        Interrupted: Ctrl-C; what was done is in its ``run``.
    """
    reached, pct = _criteria(thresholds, pct)
    settings = EngineSettings(thresholds=reached, timeout_s=timeout, concurrency=concurrency)
    _check_shares(pct=pct, allow_errors=allow_errors, sample=sample, limit=limit)
    if per not in _PER:
        raise ConfigError(f"per is {per!r}: give {' or '.join(_PER)}")
    selector = selector_of(select)
    loaded = _loaded(evaluators, settings.thresholds)
    expectations = None if expect is None else Expectations(expect)
    # Reading may take long, and this is known before.
    check_out(out)
    reader = TraceReader(*_listed(paths), limits=limits, strict=strict)
    intake = Intake(
        reader=reader,
        selector=selector,
        filter=filter or TraceFilter(),
        expectations=expectations,
        limit=limit,
        sample=sample,
        seed=seed,
        include_empty=include_empty,
        per_conversation=per == "conversation",
        explain=explain,
    )

    work = _Work(
        settings=settings,
        evaluators=loaded,
        pct=pct,
        allow_errors=allow_errors,
        said={
            "select": selector.text,
            "per": per,
            "explain": explain,
            "filter": str(intake.filter),
            "limit": limit,
            "sample": sample,
            "seed": seed,
            "include_empty": include_empty,
            "strict": strict,
            "max_line_bytes": (limits or ReadLimits()).max_line_bytes,
        },
        # What is piped in comes only once, and is named.
        inputs=lambda: [
            InputFile(path=source.name) if source.path is None else InputFile.of(source.path)
            for source in reader.sources
        ],
        expectations=expectations,
        counts=intake.counts.to_json,
        reading=reader.report_json,
        problems=lambda: reader.report.problems,
        on_case=on_case,
    )
    return work.run(intake.cases(), out)


def eval_cases(
    path: str | os.PathLike[str],
    evaluators: _Evaluators,
    *,
    thresholds: _Criteria = None,
    pct: float = 1.0,
    allow_errors: float = 0.0,
    limit: int | None = None,
    sample: float | None = None,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    timeout: float | None = 60.0,
    concurrency: int = 16,
    on_case: Callable[[CaseResult], object] | None = None,
) -> Run:
    """Judge finished cases: rows with an input, an output and whatever else evaluators need.

    Args:
        path: A JSON lines, JSON or CSV file; see `pixie_otel.evals.case_files`.
        evaluators: As for `eval_traces`; there is no trace, so that trace checks are skipped.
        thresholds: As for `eval_traces`, and so on for the rest.
        pct: The share of judged cases that must pass.
        allow_errors: The share of cases that may have errors.
        limit: How many cases at most, in the file's order.
        sample: The share of cases to take, by their ids.
        seed: Another seed takes another sample.
        out: The folder in which the run's own folder is made.
        timeout: Seconds that one call of a user's evaluator may take.
        concurrency: How many calls of users' evaluators run at the same time.
        on_case: Called with every judged case as it is done.

    Returns:
        The run.

    Raises:
        ConfigError: Something the user set or wrote is wrong; nothing was judged.
        InputError: The file holds no case.
        Interrupted: Ctrl-C; what was done is in its ``run``.
    """
    reached, pct = _criteria(thresholds, pct)
    settings = EngineSettings(thresholds=reached, timeout_s=timeout, concurrency=concurrency)
    _check_shares(pct=pct, allow_errors=allow_errors, sample=sample, limit=limit)
    loaded = _loaded(evaluators, settings.thresholds)
    cases = CaseFile(path)
    taken = 0

    def chosen() -> Iterator[Case]:
        nonlocal taken
        for case in cases:
            if (sample is None or sampled(case.id, sample, seed)) and (limit is None or taken < limit):
                taken += 1
                yield case

    work = _Work(
        settings=settings,
        evaluators=loaded,
        pct=pct,
        allow_errors=allow_errors,
        said={"cases": os.fspath(path), "limit": limit, "sample": sample, "seed": seed},
        inputs=lambda: [InputFile.of(path)],
        counts=lambda: {"read": len(cases), "judged": taken, "left_out": len(cases) - taken},
        reading=lambda: None,
        problems=list,
        on_case=on_case,
    )
    return work.run(chosen(), out)


@dataclass(frozen=True, slots=True)
class _Work:
    """Judges cases into a run."""

    settings: EngineSettings
    evaluators: list[BoundEvaluator]
    pct: float
    allow_errors: float
    said: Mapping[str, Any]
    inputs: Callable[[], list[InputFile]]
    counts: Callable[[], Mapping[str, int]]
    reading: Callable[[], Mapping[str, Any] | None]
    problems: Callable[[], Iterable[Problem]]
    on_case: Callable[[CaseResult], object] | None
    expectations: Expectations | None = None
    started: datetime = field(default_factory=lambda: datetime.now(UTC))

    def run(self, cases: Iterable[Case], out: str | os.PathLike[str] | None) -> Run:
        writer = RunWriter(
            out,
            settings={
                **self.said,
                "pct": self.pct,
                "allow_errors": self.allow_errors,
                "timeout": self.settings.timeout_s,
                "concurrency": self.settings.concurrency,
            },
            evaluators=[self._record(evaluator) for evaluator in self.evaluators],
            inputs=self.inputs(),
            expect=None if self.expectations is None else InputFile.of(self.expectations.path),
            started=self.started,
        )
        with writer:
            try:
                for result in judge_sync(cases, self.evaluators, self.settings):
                    writer.write(result)
                    if self.on_case is not None:
                        self.on_case(result)
                return self._finish(writer, None, RunStatus.FINISHED)
            except KeyboardInterrupt as interrupt:
                stop = Stop.TERMINATED if isinstance(interrupt, Terminated) else Stop.INTERRUPTED
                raise Interrupted(self._finish(writer, stop, RunStatus.INTERRUPTED)) from None

    def _finish(self, writer: RunWriter, stop: Stop | None, status: RunStatus) -> Run:
        rows = [] if self.expectations is None else self.expectations.problems(complete=stop is None)
        return writer.finish(
            self._verdict(writer.summary, stop),
            status=status,
            counts=self.counts(),
            reading=self.reading(),
            problems=[*self.problems(), *rows],
        )

    def _verdict(self, summary: Summary, stop: Stop | None) -> Verdict:
        return decide(summary, pct=self.pct, allow_errors=self.allow_errors, stop=stop)

    def _record(self, evaluator: BoundEvaluator) -> EvaluatorRecord:
        bar = self.settings.thresholds.bar(evaluator)
        return EvaluatorRecord(
            name=evaluator.name,
            reference=evaluator.reference or evaluator.source,
            source=evaluator.source,
            sha256=evaluator.digest,
            parameters={name: masked_value(name, value) for name, value in evaluator.parameters.items()},
            threshold=bar.threshold,
            severity=bar.severity.value,
        )


def _loaded(evaluators: _Evaluators, thresholds: Thresholds) -> list[BoundEvaluator]:
    several = [evaluators] if isinstance(evaluators, str) or callable(evaluators) else evaluators
    loaded = load_evaluators(several)
    if not loaded:
        raise ConfigError("no evaluator was given: name some, or leave them out for the trace checks")
    thresholds.check([evaluator.name for evaluator in loaded])
    return loaded


def _criteria(given: _Criteria, pct: float) -> tuple[Thresholds, float]:
    if isinstance(given, Thresholds):
        return given, pct
    if isinstance(given, ScoreThreshold):
        return Thresholds(general=given.threshold), given.pct
    if given is None or isinstance(given, int | float):
        return Thresholds(general=given), pct
    return Thresholds(by_name=dict(given)), pct


def _check_shares(*, pct: float, allow_errors: float, sample: float | None, limit: int | None) -> None:
    for name, share in (("pct", pct), ("allow_errors", allow_errors), ("sample", sample)):
        # Written this way round, the comparison refuses NaN too.
        if share is not None and not 0 <= share <= 1:
            raise ConfigError(f"{name} is {share!r}: give a share from 0 to 1")
    if limit is not None and limit < 1:
        raise ConfigError(f"limit is {limit!r}: give 1 or more")


def _listed(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[str | os.PathLike[str]]:
    return [paths] if isinstance(paths, str | os.PathLike) else list(paths)
