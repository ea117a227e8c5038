"""The built-in evaluators as a list, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final

from pixie_otel.evals.evaluation import Need
from pixie_otel.evals.registry import BuiltinInfo
from pixie_otel.reports.layout import wrapped
from pixie_otel.reports.style import Style

__all__ = ["evaluator_lines", "evaluators_json"]

_DEFAULTS: Final = "Trace checks, on by default; '...' stands for all of them"
_ON_REQUEST: Final = "Trace checks, when asked for"
_OTHERS: Final = "Comparisons and formats"
_YOURS: Final = """\
Set them as in  -e NoRepeatedToolCalls:limit=5,severity=fail
Your own        -e evals/tone.py:polite, a function of an evaluable that gives a
                number from 0 to 1, True or False"""


def evaluator_lines(infos: Iterable[BuiltinInfo], width: int, style: Style) -> Iterator[str]:
    """List evaluators by group: what each judges, needs and costs, and what can be set.

    Args:
        infos: The evaluators.
        width: How many cells a line has.
        style: Whether to colour.
    """
    groups: dict[str, list[BuiltinInfo]] = {_DEFAULTS: [], _ON_REQUEST: [], _OTHERS: []}
    for info in infos:
        groups[_group(info)].append(info)
    for title, members in groups.items():
        yield style.paint(title, "title")
        for info in members:
            first, *others = wrapped(f"{info.name} ({_terms(info)})", width, indent="  ", hanging="    ")
            yield first.replace(info.name, style.paint(info.name, "good"), 1)
            yield from others
            yield from wrapped(info.summary, width, indent="      ", hanging="")
        yield ""
    yield from _YOURS.splitlines()


def evaluators_json(infos: Iterable[BuiltinInfo]) -> str:
    """List evaluators as one JSON document.

    Args:
        infos: The evaluators.
    """
    listed = [
        {
            "name": info.name,
            "summary": info.summary,
            "needs": _needs(info),
            "cost": info.cost,
            "settings": list(info.parameters),
            "default": info.in_default,
        }
        for info in infos
    ]
    return json.dumps(listed, indent=2)


def _group(info: BuiltinInfo) -> str:
    if info.in_default:
        return _DEFAULTS
    return _ON_REQUEST if Need.TRACE in info.needs else _OTHERS


def _needs(info: BuiltinInfo) -> list[str]:
    return [need.value for need in Need if need in info.needs]


def _terms(info: BuiltinInfo) -> str:
    settings = f"; settings: {', '.join(info.parameters)}" if info.parameters else ""
    return f"needs {' and '.join(_needs(info))}; costs {info.cost}{settings}"
