"""The built-in evaluators as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from pixie_otel.evals.evaluation import Need
from pixie_otel.evals.registry import BuiltinInfo
from pixie_otel.reports.layout import wrapped
from pixie_otel.reports.style import Style

__all__ = ["evaluator_lines"]

_GROUPS: Final = (
    ("Trace checks, on by default ('...' stands for all of them)", lambda info: info.in_default),
    ("Trace checks, when asked for", lambda info: Need.TRACE in info.needs and not info.in_default),
    ("Comparisons and formats", lambda info: Need.TRACE not in info.needs),
)


def evaluator_lines(infos: Iterable[BuiltinInfo], width: int, style: Style) -> Iterator[str]:
    """List evaluators by group: what each judges, needs and costs, and what can be set.

    Args:
        infos: The evaluators.
        width: How many cells a line has.
        style: Whether to colour.
    """
    listed = list(infos)
    for title, belongs in _GROUPS:
        yield style.paint(title, "title")
        for info in filter(belongs, listed):
            yield f"  {style.paint(info.name, 'good')}"
            yield from wrapped(info.summary, width, indent="      ", hanging="")
            for line in wrapped(_terms(info), width, indent="      ", hanging=""):
                yield style.paint(line, "quiet")
        yield ""


def _terms(info: BuiltinInfo) -> str:
    needs = ", ".join(sorted(info.needs, key=list(Need).index))
    settings = f"; settings: {', '.join(info.parameters)}" if info.parameters else ""
    return f"needs: {needs}; costs: {info.cost}{settings}"
