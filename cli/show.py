"""``pixie-otel show``: traces as trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pixie_otel.cli import options
from pixie_otel.errors import ConfigError, InputError

if TYPE_CHECKING:
    from pixie_otel.cli.console import Console
    from pixie_otel.traces.filters import TraceFilter
    from pixie_otel.traces.reader import TraceReader
    from pixie_otel.traces.report import ReadReport

__all__ = ["show_command"]

_NARROWEST: Final = 20


@dataclass(frozen=True, slots=True)
class _Manner:
    """How traces are shown; without a width, nothing is cut."""

    as_json: bool
    width: int | None
    verbose: bool


def show_command(
    *,
    paths: options.Paths = None,
    trace_ids: options.TraceIds = None,
    services: options.Services = None,
    since: options.Since = None,
    until: options.Until = None,
    where: options.Where = None,
    limit: options.Limit = None,
    strict: options.Strict = None,
    width: options.Width = None,
    full: options.Full = False,
    verbose: options.Verbose = False,
    as_json: options.Json = False,
) -> None:
    """Print traces as trees: kinds, names, durations, models, tokens, inputs and outputs.

    Ends with 3 where there is no trace to show. With --json, a line of JSON for each trace.

    \b
    Examples:
      pixie-otel show traces.jsonl
      pixie-otel show traces.jsonl --trace 4bf92f35 --full
      pixie-otel show exports/ --where status=error --limit 5
      pixie-otel show traces.jsonl --json | jq '.spans[].name'
    """  # noqa: D301 - Typer rewraps every paragraph, but for one that a real \b marks
    from pixie_otel.cli.console import Console
    from pixie_otel.traces.filters import TraceFilter
    from pixie_otel.traces.reader import TraceReader

    if not paths:
        raise ConfigError("no PATH was given: name a trace file, a folder, or - for standard input")
    if limit is not None and limit < 1:
        raise ConfigError(f"--limit is {limit}: give 1 or more")
    wanted = TraceFilter.parse(
        trace_ids=trace_ids or (), services=services or (), since=since, until=until, where=where or ()
    )
    console = Console()
    manner = _Manner(as_json, None if full else max(width or console.width, _NARROWEST), verbose)
    reader = TraceReader(*paths, strict=bool(strict))
    read, shown = _show(reader, wanted, limit, manner, console)
    _say_problems(reader.report, console, verbose=verbose)
    if read and not shown:
        raise InputError(f"none of {read} traces fits {wanted}")
    if not shown:
        raise InputError(f"no trace was found in {', '.join(reader.report.sources)}")


def _show(
    reader: TraceReader, wanted: TraceFilter, limit: int | None, manner: _Manner, console: Console
) -> tuple[int, int]:
    from pixie_otel.reports.trace_document import trace_document
    from pixie_otel.reports.trace_lines import trace_lines

    read = shown = 0
    for trace in reader:
        read += 1
        if not wanted.matches(trace):
            continue
        shown += 1
        if manner.as_json:
            is_read = console.write([trace_document(trace)])
        else:
            blank = [""] if shown > 1 else []
            is_read = console.write([*blank, *trace_lines(trace, manner.width, console.style, verbose=manner.verbose)])
        if not is_read or shown == limit:
            break
    return read, shown


def _say_problems(report: ReadReport, console: Console, *, verbose: bool) -> None:
    from pixie_otel.reports.form_lines import form_lines
    from pixie_otel.reports.problem_lines import problem_lines, problems_of_files
    from pixie_otel.reports.style import Style

    for line in problem_lines(problems_of_files(report), console.width, Style(), verbose=verbose):
        console.say(line)
    for line in form_lines(report.to_json(), console.width):
        console.say(line)
