"""``pixie-otel convert``: traces of any form as clean OTLP JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from time import monotonic
from typing import TYPE_CHECKING, Final

import typer

from pixie_otel.cli import options
from pixie_otel.cli.exit_codes import INTERRUPTED, TERMINATED
from pixie_otel.errors import ConfigError, InputError, PixieError

if TYPE_CHECKING:
    from pixie_otel.cli.console import Console
    from pixie_otel.cli.targets import Target
    from pixie_otel.traces.conversion import Conversion, Converted

__all__ = ["convert_command"]

_PAUSE_S: Final = 0.1
_PROBLEMS_SHOWN: Final = 3


@dataclass(slots=True)
class _Account:
    """What was written."""

    traces: int = 0
    spans: int = 0
    log_records: int = 0
    bytes: int = 0

    def add(self, converted: Converted) -> None:
        """Count a trace."""
        self.traces += 1
        self.spans += converted.spans
        self.log_records += converted.log_records
        self.bytes += sum(len(line) + 1 for line in converted.lines)


@dataclass(frozen=True, slots=True)
class _Manner:
    """How the command tells what it did."""

    as_json: bool
    verbose: bool
    no_progress: bool


def convert_command(
    *,
    paths: options.Paths = None,
    out: options.OutFile = None,
    force: options.Force = False,
    split_by: options.SplitBy = None,
    select: options.SelectParts = None,
    drop_content: options.DropContent = False,
    trace_ids: options.TraceIds = None,
    services: options.Services = None,
    since: options.Since = None,
    until: options.Until = None,
    where: options.Where = None,
    limit: options.Limit = None,
    strict: options.Strict = None,
    max_line_bytes: options.MaxLineBytes = None,
    as_json: options.Json = False,
    verbose: options.Verbose = False,
    no_progress: options.NoProgress = False,
) -> None:
    """Write traces of any form as clean OTLP JSON lines: converted, merged, split, filtered, without content.

    Takes OTLP in all its forms (also protobuf, and lines of Docker, Kubernetes and
    Java's loggers), and what Jaeger, Phoenix, Langfuse, LangSmith, MLflow,
    CloudWatch, Zipkin, ClickHouse and the ConsoleSpanExporter give. Each trace
    becomes one line, and its log records another. Ends with 0, 2 (usage, or the
    file is there already), 3 (no trace), 4 (cannot be written), 130 or 143
    (interrupted).

    \b
    Examples:
      pixie-otel convert jaeger.json -o traces.jsonl
      pixie-otel convert exports/ 'more/*.pb' -o merged.jsonl.gz
      pixie-otel convert traces.jsonl -o slow/ --split-by trace --where 'cost>1'
      pixie-otel convert traces.jsonl -o shared.jsonl --drop-content
      kubectl logs pod | pixie-otel convert - -o agents.jsonl --select kind:agent
    """  # noqa: D301 - Typer rewraps every paragraph, but for one that a real \b marks
    from dataclasses import replace

    from pixie_otel.cli.console import Console
    from pixie_otel.cli.targets import find_target
    from pixie_otel.traces.conversion import Conversion, RecordReader
    from pixie_otel.traces.filters import TraceFilter
    from pixie_otel.traces.limits import ReadLimits
    from pixie_otel.traces.selectors import parse_selector

    if not paths:
        raise ConfigError("no PATH was given: name a trace file, a folder, or - for standard input")
    for option, number in (("--limit", limit), ("--max-line-bytes", max_line_bytes)):
        if number is not None and number < 1:
            raise ConfigError(f"{option} is {number}: give 1 or more")
    wanted = TraceFilter.parse(
        trace_ids=trace_ids or (), services=services or (), since=since, until=until, where=where or ()
    )
    selector = None if select is None else parse_selector(select)
    target = find_target(out, split_by, force=force, as_json=as_json)
    limits = ReadLimits()
    limits = limits if max_line_bytes is None else replace(limits, max_line_bytes=max_line_bytes)
    reader = RecordReader(*paths, limits=limits, strict=bool(strict))
    conversion = Conversion(reader, wanted, selector, drop_content, limit)
    raise typer.Exit(_run(conversion, target, _Manner(as_json, verbose, no_progress), Console()))


def _run(conversion: Conversion, target: Target, manner: _Manner, console: Console) -> int:
    from pixie_otel.cli.signals import raised_on_sigterm
    from pixie_otel.runs.interrupted import Terminated

    account = _Account()
    is_shown = console.shows_progress and not manner.no_progress
    try:
        with raised_on_sigterm(Terminated):
            traces = _counted(conversion, account, console if is_shown else None)
            first = next(traces, None)
            if first is None:
                raise InputError(_nothing(conversion))
            is_taken = target.write(chain([first], traces))
    except OSError as error:
        raise PixieError(f"{target} cannot be written: {error.strerror or error}") from error
    except KeyboardInterrupt as interrupt:
        console.say("Interrupted." if account.traces and target.is_stream else f"Interrupted; {target} is as it was.")
        return TERMINATED if isinstance(interrupt, Terminated) else INTERRUPTED
    finally:
        if is_shown:
            console.show_progress("")
    if is_taken:
        _tell(conversion, account, target, manner, console)
    return 0


def _counted(conversion: Conversion, account: _Account, shown: Console | None) -> Iterator[Converted]:
    """Count traces on their way, and show how many there are where somebody can see it."""
    if shown is not None:
        shown.show_progress("Reading …")
    next_time = 0.0
    for converted in conversion:
        account.add(converted)
        if shown is not None and monotonic() >= next_time:
            next_time = monotonic() + _PAUSE_S
            shown.show_progress(f"Converted {account.traces} …")
        yield converted


def _nothing(conversion: Conversion) -> str:
    """Say why there is nothing to write."""
    report, read = conversion.reader.report, conversion.read
    if conversion.unselected and conversion.selector is not None:
        return f"in none of {conversion.unselected} traces does --select {conversion.selector.text} pick anything"
    if read:
        return f"none of {read} traces fits {conversion.filter}"
    reasons = [f"{problem.location}: {problem.message}" for problem in report.problems[:_PROBLEMS_SHOWN]]
    if report.log_records and not report.spans_read:
        logs = _counted_in_words(report.log_records, "log record")
        reasons.append(f"{logs} and no span; give the file with the spans as well")
    said = "".join(f"\n  {reason}" for reason in reasons)
    return f"no trace was found in {', '.join(report.sources)}{':' if said else ''}{said}"


def _tell(conversion: Conversion, account: _Account, target: Target, manner: _Manner, console: Console) -> None:
    from pixie_otel.reports.form_lines import form_lines
    from pixie_otel.reports.layout import wrapped
    from pixie_otel.reports.printable import printable
    from pixie_otel.reports.problem_lines import problem_lines, problems_of_files
    from pixie_otel.reports.style import Style

    report = conversion.reader.report
    if manner.as_json:
        counts = {
            "traces": account.traces,
            "spans": account.spans,
            "log_records": account.log_records,
            "bytes": account.bytes,
        }
        console.write([json.dumps({"out": str(target), **counts, "reading": report.to_json()})])
        return
    for line in problem_lines(problems_of_files(report), console.width, Style(), verbose=manner.verbose):
        console.say(line)
    for line in form_lines(report.to_json(), console.width):
        console.say(line)
    for said in _said(conversion, account, target):
        for line in wrapped(printable(said), console.width):
            console.say(line)


def _said(conversion: Conversion, account: _Account, target: Target) -> Iterator[str]:
    logs = f" and {_counted_in_words(account.log_records, 'log record')}" if account.log_records else ""
    spans = _counted_in_words(account.spans, "span")
    yield f"Wrote {_counted_in_words(account.traces, 'trace')} with {spans}{logs} to {target}."
    left_out = _left_out(conversion, account)
    if left_out:
        yield f"Left out: {'; '.join(left_out)}."


def _left_out(conversion: Conversion, account: _Account) -> list[str]:
    """Say what was in the inputs and is not in the output although it was not asked to be left out."""
    report = conversion.reader.report
    found: list[str] = []
    if report.bad_spans:
        found.append(f"{_counted_in_words(report.bad_spans, 'span')} that cannot be read")
    if report.duplicate_spans:
        found.append(f"{_counted_in_words(report.duplicate_spans, 'span')} that stood there twice")
    is_whole = conversion.selector is None and conversion.limit is None and not str(conversion.filter)
    if is_whole and report.log_records > account.log_records:
        found.append(f"{_counted_in_words(report.log_records - account.log_records, 'log record')} of no trace")
    if report.metrics:
        found.append(f"metrics of {_counted_in_words(report.metrics, 'resource')}")
    return found


def _counted_in_words(number: int, one: str) -> str:
    return f"{number:,} {one if number == 1 else one + 's'}"
