"""What a run is to do: what was typed, else what the project's settings say, else the default."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from pixie_otel.config import PixieConfig
from pixie_otel.errors import ConfigError
from pixie_otel.evals.binding import BoundEvaluator
from pixie_otel.evals.references import load_evaluators
from pixie_otel.evals.thresholds import Thresholds, parse_thresholds
from pixie_otel.traces.filters import TraceFilter
from pixie_otel.traces.limits import ReadLimits

__all__ = ["Typed", "cases_file", "cases_settings", "traces_settings"]

_T = TypeVar("_T")
_OUT: Final = Path("pixie-runs")
_OF_TRACES: Final = {
    "paths": "PATH",
    "select": "--select",
    "per": "--per",
    "explain": "--explain",
    "expect": "--expect",
    "all_traces": "--all",
    "trace_ids": "--trace",
    "services": "--service",
    "since": "--since",
    "until": "--until",
    "where": "--where",
    "strict": "--strict",
    "max_line_bytes": "--max-line-bytes",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """What was typed for ``pixie-otel eval``; empty or ``None`` where it was not, see `pixie_otel.cli.options`."""

    paths: list[str] | None
    evaluators: list[str] | None
    thresholds: list[str] | None
    pct: float | None
    allow_errors: float | None
    timeout: float | None
    concurrency: int | None
    select: str | None
    per: str | None
    explain: bool | None
    expect: str | None
    cases: str | None
    all_traces: bool | None
    trace_ids: list[str] | None
    services: list[str] | None
    since: str | None
    until: str | None
    where: list[str] | None
    limit: int | None
    sample: float | None
    seed: int | None
    strict: bool | None
    max_line_bytes: int | None
    out: str | None


def traces_settings(typed: Typed, config: PixieConfig) -> dict[str, Any]:
    """Give the arguments of `pixie_otel.eval_traces`.

    Args:
        typed: What was typed.
        config: The project's settings.

    Raises:
        ConfigError: Something of it cannot be used.
    """
    if not typed.paths:
        raise ConfigError("no PATH was given: name a trace file, a folder, - for standard input, or give --cases FILE")
    limits = ReadLimits()
    longest = _first(typed.max_line_bytes, config.max_line_bytes, default=limits.max_line_bytes)
    if longest < 1:
        raise ConfigError(f"--max-line-bytes is {longest}: give 1 or more")
    return {
        **_shared(typed, config),
        "paths": typed.paths,
        "select": _first(typed.select, config.select, default="root"),
        "per": _first(typed.per, config.per, default="trace"),
        "explain": _first(typed.explain, config.explain, default=False),
        "expect": _first(typed.expect, config.expect, default=None),
        "filter": TraceFilter.parse(
            trace_ids=typed.trace_ids or config.trace,
            services=typed.services or config.service,
            since=_first(typed.since, config.since, default=None),
            until=_first(typed.until, config.until, default=None),
            where=typed.where or config.where,
        ),
        "include_empty": _first(typed.all_traces, config.all, default=False),
        "strict": _first(typed.strict, config.strict, default=False),
        "limits": dataclasses.replace(limits, max_line_bytes=longest),
    }


def cases_file(typed: Typed, config: PixieConfig) -> str | None:
    """Give the file of finished cases that are to be judged; ``None`` where traces are.

    Args:
        typed: What was typed.
        config: The project's settings.
    """
    if typed.cases is not None:
        return typed.cases
    return None if typed.paths or config.cases is None else str(config.cases)


def cases_settings(typed: Typed, config: PixieConfig) -> dict[str, Any]:
    """Give the arguments of `pixie_otel.runs.eval_traces.eval_cases`.

    Args:
        typed: What was typed.
        config: The project's settings.

    Raises:
        ConfigError: Something of it cannot be used, or is about traces.
    """
    misplaced = [option for name, option in _OF_TRACES.items() if getattr(typed, name) not in (None, False, [])]
    if misplaced:
        raise ConfigError(
            f"--cases judges finished cases, and {', '.join(misplaced)} is about traces: give one or the other"
        )
    if {*(typed.evaluators or config.evaluators)} <= {"..."}:
        raise ConfigError("--cases needs evaluators, as the trace checks need traces: name them, as in -e ExactMatch")
    return {**_shared(typed, config), "path": cases_file(typed, config)}


def _shared(typed: Typed, config: PixieConfig) -> dict[str, Any]:
    evaluators = load_evaluators(typed.evaluators or config.evaluators or ("...",))
    return {
        "evaluators": evaluators,
        "thresholds": _thresholds(typed, config, evaluators),
        "pct": _first(typed.pct, config.pct, default=1.0),
        "allow_errors": _first(typed.allow_errors, config.allow_errors, default=0.0),
        "limit": _first(typed.limit, config.limit, default=None),
        "sample": _first(typed.sample, config.sample, default=None),
        "seed": _first(typed.seed, config.seed, default=0),
        "out": _first(typed.out, config.out, default=_OUT),
        # 0 is how one types "no limit".
        "timeout": _first(typed.timeout, config.timeout, default=60.0) or None,
        "concurrency": _first(typed.concurrency, config.concurrency, default=16),
    }


def _thresholds(typed: Typed, config: PixieConfig, evaluators: list[BoundEvaluator]) -> Thresholds:
    given = parse_thresholds(typed.thresholds or ())
    configured = dict(config.thresholds)
    if typed.evaluators:
        # The settings are for all of the project's evaluators, of which only some were asked for.
        names = {evaluator.name for evaluator in evaluators}
        configured = {name: threshold for name, threshold in configured.items() if name in names}
    return Thresholds(_first(given.general, config.threshold, default=None), {**configured, **given.by_name})


def _first(typed: _T | None, configured: _T | None, *, default: _T) -> _T:
    if typed is not None:
        return typed
    return default if configured is None else configured
