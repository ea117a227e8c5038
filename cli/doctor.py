"""``pixie-otel doctor``: what is wrong with traces for an evaluation, and what to change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import typer

from pixie_otel.cli import options
from pixie_otel.cli.exit_codes import exit_code_of
from pixie_otel.errors import ConfigError, InputError

if TYPE_CHECKING:
    from pixie_otel.cli.console import Console
    from pixie_otel.traces.filters import TraceFilter
    from pixie_otel.traces.findings.examination import Examination
    from pixie_otel.traces.reader import TraceReader

__all__ = ["doctor_command"]

_FOUND: Final = 1


def doctor_command(
    *,
    paths: options.Paths = None,
    fail_on: options.FailOn = None,
    kinds: options.Kinds = False,
    trace_ids: options.TraceIds = None,
    services: options.Services = None,
    since: options.Since = None,
    until: options.Until = None,
    where: options.Where = None,
    limit: options.Limit = None,
    strict: options.Strict = None,
    verbose: options.Verbose = False,
    as_json: options.Json = False,
) -> None:
    """Say what is wrong with traces for an evaluation, and what to change.

    Messages that were not recorded (with the switch of that very library), values that were cut, attributes that were
    dropped, calls recorded twice, tools without results, lost sessions, spans without parents, clocks at odds.

    Ends with 0; with 1 where --fail-on names what was found; with 3 where there is no trace. With --json, one JSON
    document.

    \b
    Examples:
      pixie-otel doctor traces.jsonl
      pixie-otel doctor exports/ --since 7d --service support-bot -v
      pixie-otel doctor traces.jsonl --fail-on content-off --fail-on torn-line
      pixie-otel doctor traces.jsonl --fail-on warning
      pixie-otel doctor --kinds
      pixie-otel doctor traces.jsonl --json | jq '.findings[].kind'
    """  # noqa: D301 - Typer rewraps every paragraph, but for one that a real \b marks
    from pixie_otel.cli.console import Console
    from pixie_otel.reports.form_lines import form_lines
    from pixie_otel.traces.filters import TraceFilter
    from pixie_otel.traces.findings.examination import Examination, kinds_to_fail_on
    from pixie_otel.traces.reader import TraceReader

    console = Console()
    if kinds:
        _list_kinds(console, as_json=as_json)
        return
    if not paths:
        raise ConfigError("no PATH was given: name a trace file, a folder, or - for standard input")
    if limit is not None and limit < 1:
        raise ConfigError(f"--limit is {limit}: give 1 or more")
    failing = kinds_to_fail_on(fail_on or ())
    wanted = TraceFilter.parse(
        trace_ids=trace_ids or (), services=services or (), since=since, until=until, where=where or ()
    )
    reader = TraceReader(*paths, strict=bool(strict))
    examined = Examination()
    read = _examine(reader, wanted, limit, examined)
    none = _nothing(reader, wanted, read) if not examined.traces else None
    found = examined.finish(reader.report)
    failed = [row.kind.name for row in found if row.kind.name in failing]
    code = exit_code_of(none) if none is not None else _FOUND if failed else 0
    if as_json:
        from pixie_otel.reports.doctor_document import doctor_document

        console.write([doctor_document(examined, found, failed, code)])
    elif found or none is None:
        from pixie_otel.reports.doctor_lines import doctor_lines

        console.write(doctor_lines(examined, found, console.width, console.style, verbose=verbose))
    for line in form_lines(reader.report.to_json(), console.width):
        console.say(line)
    if none is not None:
        raise none
    if failed:
        console.say(f"Found what --fail-on names: {', '.join(failed)}.")
        raise typer.Exit(_FOUND)


def _examine(reader: TraceReader, wanted: TraceFilter, limit: int | None, examined: Examination) -> int:
    read = 0
    for trace in reader:
        read += 1
        if wanted.matches(trace):
            examined.add(trace)
            if examined.traces == limit:
                break
    return read


def _nothing(reader: TraceReader, wanted: TraceFilter, read: int) -> InputError:
    if read:
        return InputError(f"none of {read} traces fits {wanted}")
    return InputError(f"no trace was found in {', '.join(reader.report.sources)}")


def _list_kinds(console: Console, *, as_json: bool) -> None:
    if as_json:
        from pixie_otel.reports.doctor_document import kinds_document

        console.write([kinds_document()])
    else:
        from pixie_otel.reports.doctor_lines import kind_lines

        console.write(kind_lines(console.width, console.style))
