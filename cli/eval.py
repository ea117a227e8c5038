"""``pixie-otel eval``: judge traces, or finished cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from pixie_otel.cli import options
from pixie_otel.cli.exit_codes import INTERRUPTED, TERMINATED, exit_code_of
from pixie_otel.cli.help import HelpfulCommand
from pixie_otel.errors import ConfigError

if TYPE_CHECKING:
    from pixie_otel.cli.choices import Typed
    from pixie_otel.cli.console import Console
    from pixie_otel.cli.progress import Progress
    from pixie_otel.config import PixieConfig
    from pixie_otel.evals.case import CaseResult
    from pixie_otel.reports.case_board import CaseBoard
    from pixie_otel.runs.run import Run

__all__ = ["EvalCommand", "eval_command"]


class EvalCommand(HelpfulCommand):
    """The command ``eval``, which answers in JSON where that was asked for, also when it was called wrongly."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - as in `HelpfulCommand`
        """Take the arguments apart."""
        as_json = "--json" in args
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            # What Typer raises for wrong usage can say what is wrong; that is how it is known, whichever its class is.
            said = getattr(error, "format_message", None)
            if as_json and said is not None:
                from pixie_otel.cli.console import Console
                from pixie_otel.reports.run_document import error_document

                usage = ConfigError(said())
                Console().write([error_document(usage, exit_code_of(usage))])
            raise


@dataclass(frozen=True, slots=True)
class _Manner:
    """How the run is told."""

    as_json: bool
    quiet: bool
    verbose: bool
    no_progress: bool

    def completed(self, config: PixieConfig) -> _Manner:
        """Give the manner with what the settings say of what was not typed."""
        return _Manner(
            self.as_json,
            quiet=self.quiet or (not self.verbose and bool(config.quiet)),
            verbose=self.verbose or (not self.quiet and bool(config.verbose)),
            no_progress=self.no_progress or bool(config.no_progress),
        )


def eval_command(
    *,
    paths: options.Paths = None,
    evaluators: options.Evaluators = None,
    thresholds: options.Thresholds = None,
    pct: options.Pct = None,
    allow_errors: options.AllowErrors = None,
    timeout: options.Timeout = None,
    concurrency: options.Concurrency = None,
    select: options.Select = None,
    per: options.Per = None,
    explain: options.Explain = None,
    expect: options.Expect = None,
    cases: options.Cases = None,
    all_traces: options.AllTraces = None,
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
    """Judge the traces of exported OpenTelemetry files, offline.

    Prints a verdict with what it rests on, and keeps all results in a folder of
    their own. Ends with 0 (passed), 1 (criteria not met), 2 (usage), 3 (no trace),
    4 (not all could be judged), 130 or 143 (interrupted). Options may also stand
    in [tool.pixie-otel] of pyproject.toml, by their names.

    \b
    Examples:
      pixie-otel eval traces.jsonl
      pixie-otel eval exports/ 'more/*.jsonl.gz' --since 7d --service support-bot
      pixie-otel eval traces.jsonl -e ... -e evals/tone.py:polite --threshold 0.7
      pixie-otel eval traces.jsonl -e ExactMatch --expect expected.csv --pct 0.9
      pixie-otel eval traces.jsonl --select last_llm_call -e ValidJSON
      pixie-otel eval traces.jsonl --select 'last tool:* under agent:planner'
      pixie-otel eval traces.jsonl --per conversation
      pixie-otel eval --cases answers.csv -e LevenshteinMatch
      cat traces.jsonl | pixie-otel eval - --json > verdict.json
    """  # noqa: D301 - Typer rewraps every paragraph, but for one that a real \b marks
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
        per=per,
        explain=explain,
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
    raise typer.Exit(_run(typed, _Manner(as_json, quiet, verbose, no_progress)))


def _run(typed: Typed, manner: _Manner) -> int:
    from pixie_otel.cli.console import Console
    from pixie_otel.cli.progress import Progress
    from pixie_otel.cli.signals import raised_on_sigterm
    from pixie_otel.cli.streams import results_only
    from pixie_otel.config import get_config
    from pixie_otel.reports.case_board import CaseBoard
    from pixie_otel.reports.run_document import error_document
    from pixie_otel.runs.interrupted import Terminated

    board = CaseBoard()
    # Until the very end, as an evaluator that took too long may print at any time.
    with results_only() as out, raised_on_sigterm(Terminated):
        console = Console(out)
        try:
            config = get_config()
            manner = manner.completed(config)
            with Progress(console, shown=not (manner.quiet or manner.no_progress)) as progress:
                run = _judge(typed, config, (board, progress))
        except KeyboardInterrupt as interrupt:
            code, said = _code_of(interrupt), _said_of_interrupt(board)
            if manner.as_json:
                console.write([error_document(KeyboardInterrupt(said), code)])
            console.say(said)
            return code
        except Exception as error:
            if manner.as_json:
                console.write([error_document(error, exit_code_of(error))])
            raise
        try:
            _tell(run, manner, console, board)
        except KeyboardInterrupt as interrupt:
            return _code_of(interrupt)
    return run.exit_code


def _code_of(interrupt: KeyboardInterrupt) -> int:
    from pixie_otel.runs.interrupted import Terminated

    return TERMINATED if isinstance(interrupt, Terminated) else INTERRUPTED


def _said_of_interrupt(board: CaseBoard) -> str:
    judged = sum(count for _, count, _ in board.groups())
    if not judged:
        return "Interrupted before anything was judged."
    return f"Interrupted again, before the run was closed; the results of what was judged ({judged}) are kept."


def _judge(typed: Typed, config: PixieConfig, told: tuple[CaseBoard, Progress]) -> Run:
    from pixie_otel.cli.choices import cases_file, cases_settings, traces_settings
    from pixie_otel.runs.eval_traces import eval_cases, eval_traces
    from pixie_otel.runs.interrupted import Interrupted

    def note(result: CaseResult) -> None:
        for listener in told:
            listener.add(result)

    try:
        if cases_file(typed, config) is None:
            return eval_traces(**traces_settings(typed, config), on_case=note)
        return eval_cases(**cases_settings(typed, config), on_case=note)
    except Interrupted as interrupted:
        return interrupted.run


def _tell(run: Run, manner: _Manner, console: Console, board: CaseBoard) -> None:
    from pixie_otel.reports.form_lines import form_lines
    from pixie_otel.reports.run_document import run_document
    from pixie_otel.reports.terminal import ReportView, run_report, verdict_line

    if manner.as_json:
        console.write([run_document(run)])
    elif manner.quiet:
        console.write([verdict_line(run, console.style)])
    else:
        console.write(run_report(run, board, ReportView(console.width, console.style, manner.verbose)))
        for line in form_lines(run.manifest.reading or {}, console.width):
            console.say(line)
