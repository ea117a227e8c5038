"""``pixie-otel eval``: judge traces, or finished cases."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING

import typer

from pixie_otel.cli import options
from pixie_otel.errors import PixieError

if TYPE_CHECKING:
    from pixie_otel.cli.choices import Typed
    from pixie_otel.cli.console import Console
    from pixie_otel.reports.case_board import CaseBoard
    from pixie_otel.runs.run import Run

__all__ = ["eval_command"]


@dataclass(frozen=True, slots=True)
class _Manner:
    """How the run is told."""

    as_json: bool
    quiet: bool
    verbose: bool
    progress: bool


def eval_command(
    paths: options.Paths = None,
    evaluators: options.Evaluators = None,
    thresholds: options.Thresholds = None,
    pct: options.Pct = None,
    allow_errors: options.AllowErrors = None,
    timeout: options.Timeout = 60.0,
    concurrency: options.Concurrency = 16,
    select: options.Select = None,
    expect: options.Expect = None,
    cases: options.Cases = None,
    all_traces: options.AllTraces = False,
    trace_ids: options.TraceIds = None,
    services: options.Services = None,
    since: options.Since = None,
    until: options.Until = None,
    where: options.Where = None,
    limit: options.Limit = None,
    sample: options.Sample = None,
    seed: options.Seed = None,
    strict: options.Strict = None,
    max_line_bytes: options.MaxLineBytes = None,
    out: options.Out = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    no_progress: options.NoProgress = False,
) -> None:
    r"""Judge the traces of exported OpenTelemetry files, offline.

    Prints a verdict with what it rests on, keeps all results in a folder of their own, and ends with 0 (passed), 1 (criteria not met), 2 (usage), 3 (no trace), 4 (not all could be judged), 130 or 143 (interrupted). Options may also stand in [tool.pixie-otel] of pyproject.toml.

    \b
    Examples:
      pixie-otel eval traces.jsonl
      pixie-otel eval exports/ 'more/*.jsonl.gz' --since 7d --service support-bot
      pixie-otel eval traces.jsonl -e ... -e evals/tone.py:polite --threshold 0.7
      pixie-otel eval traces.jsonl -e ExactMatch --expect expected.csv --pct 0.9
      pixie-otel eval traces.jsonl --select last_llm_call -e ValidJSON
      pixie-otel eval --cases answers.csv -e LevenshteinMatch
      cat traces.jsonl | pixie-otel eval - --json > verdict.json
    """  # noqa: D301, E501 -- Typer rewraps each paragraph, and leaves one marked by \b as it is
    from pixie_otel.cli.choices import Typed

    typed = Typed(
        paths=paths,
        evaluators=evaluators,
        thresholds=thresholds,
        pct=pct,
        allow_errors=allow_errors,
        timeout=timeout,
        concurrency=concurrency,
        select=select,
        expect=expect,
        cases=cases,
        all_traces=all_traces,
        trace_ids=trace_ids,
        services=services,
        since=since,
        until=until,
        where=where,
        limit=limit,
        sample=sample,
        seed=seed,
        strict=strict,
        max_line_bytes=max_line_bytes,
        out=out,
    )
    raise typer.Exit(_run(typed, _Manner(as_json, quiet, verbose, progress=not (quiet or no_progress))))


def _run(typed: Typed, manner: _Manner) -> int:
    from pixie_otel.cli.console import Console
    from pixie_otel.reports.case_board import CaseBoard
    from pixie_otel.reports.run_document import error_document

    console, board = Console(), CaseBoard()
    # What users' evaluators print must not get between the results. It stays so until the end, as one that took too
    # long may print at any time.
    with contextlib.redirect_stdout(sys.stderr), _terminable():
        try:
            run = _judge(typed, manner, console, board)
        except PixieError as error:
            if manner.as_json:
                console.write([error_document(error, exit_code_of(error))])
            raise
        _tell(run, manner, console, board)
    return run.exit_code
