"""``pixie-otel scan``: credentials in trace files, before anybody else sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import typer

from pixie_otel.cli import options
from pixie_otel.errors import ConfigError, InputError, PixieError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pixie_otel.cli.console import Console
    from pixie_otel.exporters.secret_search import FoundSecret
    from pixie_otel.traces.report import ReadReport

__all__ = ["scan_command"]

_FOUND: Final = 1
_MOST_PLACES: Final = 3
_TRACE_SHOWN: Final = 8
"""As much of a trace's id as `show --trace` needs, so that a place has room in a line."""

_MOST_SECRETS: Final = 10_000
_NOT_SEARCHED: Final = frozenset(
    {"bad-gzip", "bad-zstd", "compression-bomb", "document-too-long", "foreign-format", "line-too-long", "read-error"}
    | {"too-much-data"}
)


def scan_command(
    *,
    paths: options.Paths = None,
    names: options.Names = True,
    verbose: options.Verbose = False,
    as_json: options.Json = False,
) -> None:
    """Find credentials in trace files: API keys, tokens, passwords, private keys.

    By the same rules, credentials are taken out of everything that pixie-otel itself writes. All text is searched, also
    lines that are no traces. Of what is found, no more than the first four characters are shown.

    Ends with 1 where a credential was found, 0 where none was, 3 where there was nothing to search, and 4 where some of
    it could not be searched. With --json, a line of JSON for each place.

    \b
    Examples:
      pixie-otel scan traces.jsonl
      pixie-otel scan exports/ 'more/*.jsonl.gz'
      pixie-otel scan traces.jsonl && git add traces.jsonl
      pixie-otel scan traces.jsonl --no-names --json | jq .attribute
    """  # noqa: D301 - Typer rewraps every paragraph, but for one that a real \b marks
    from pixie_otel.cli.console import Console
    from pixie_otel.exporters.secret_search import find_in_source
    from pixie_otel.traces.files import find_sources
    from pixie_otel.traces.limits import ReadLimits
    from pixie_otel.traces.report import ReadReport

    if not paths:
        raise ConfigError("no PATH was given: name a trace file, a folder, or - for standard input")
    console, report, limits = Console(), ReadReport(), ReadLimits()
    account = _Account()
    sources = find_sources(paths)
    for source in sources:
        for found in find_in_source(source, limits, report, names=names):
            account.add(found, keeps_places=verbose)
            if as_json and not console.write([_document(found)]):
                break
    if not as_json:
        console.write(account.lines(verbose=verbose))
    _end(account, report, [source.name for source in sources], console)


class _Account:
    """What was found: each different credential once, with its first places."""

    def __init__(self) -> None:
        self.places = 0
        self._secrets: dict[tuple[str, str], tuple[list[FoundSecret], list[int]]] = {}
        self.is_full = False

    @property
    def secrets(self) -> int:
        """How many different credentials are kept."""
        return len(self._secrets)

    def add(self, found: FoundSecret, *, keeps_places: bool) -> None:
        """Count a place, and keep it while there is room."""
        self.places += 1
        key = found.kind, found.secret
        if key not in self._secrets and len(self._secrets) >= _MOST_SECRETS:
            self.is_full = True
            return
        kept, count = self._secrets.setdefault(key, ([], [0]))
        count[0] += 1
        if keeps_places or len(kept) < _MOST_PLACES:
            kept.append(found)

    def lines(self, *, verbose: bool) -> Iterator[str]:
        """Show each credential, masked, and where it is."""
        from pixie_otel.reports.printable import printable
        from pixie_otel.secrets import mask_secret

        for (kind, secret), (kept, (count,)) in self._secrets.items():
            yield f"{kind}: {printable(mask_secret(secret))}"
            shown = kept if verbose else kept[:_MOST_PLACES]
            for found in shown:
                yield f"  {printable(_place(found))}"
            if count > len(shown):
                yield f"  … and in {count - len(shown)} more places"


def _place(found: FoundSecret) -> str:
    from pixie_otel.secrets import masked

    where = (
        f"{found.source}:{found.line}",
        masked(found.attribute),
        found.span_id and f"span {found.span_id}",
        found.trace_id and f"trace {found.trace_id[:_TRACE_SHOWN]}",
    )
    return " · ".join(filter(None, where))


def _document(found: FoundSecret) -> str:
    import json

    from pixie_otel.secrets import mask_secret, masked

    shown = found._asdict() | {"secret": mask_secret(found.secret), "attribute": masked(found.attribute)}
    return json.dumps({name: value for name, value in shown.items() if value != ""})


def _end(account: _Account, report: ReadReport, names: list[str], console: Console) -> None:
    from pixie_otel.reports.problem_lines import problem_lines, problems_of_files
    from pixie_otel.reports.style import Style

    searched = sum(tally.total - tally.blank for s in report.sources.values() for tally in (s.lines, s.documents))
    missed = {kind: count for kind, count in report.counts.items() if kind in _NOT_SEARCHED}
    if missed:
        for line in problem_lines(problems_of_files(report), console.width, Style()):
            console.say(line)
    if not searched:
        raise InputError(f"nothing was found to search in {', '.join(names)}")
    over = f"in {_counted(searched, 'line or document', 'lines and documents')} of {_counted(len(names), 'file')}"
    if account.places:
        least = "more than " if account.is_full else ""
        secrets = _counted(account.secrets, "different credential")
        console.say(f"Found {least}{secrets} in {_counted(account.places, 'place')}, {over}.")
        raise typer.Exit(_FOUND)
    if missed:
        raise PixieError(f"no credential was found {over}, but not all of it could be searched")
    console.say(f"No credential was found {over}.")


def _counted(number: int, one: str, several: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else several or one + 's'}"
