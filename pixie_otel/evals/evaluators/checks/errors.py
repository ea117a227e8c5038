"""The check for spans that failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from pixie_otel.errors import ConfigError
from pixie_otel.evals.evaluation import Evaluation, Severity
from pixie_otel.evals.evaluators.checks.check import Finding, TraceCheck, clean, found
from pixie_otel.evals.evaluators.checks.wording import counted, listed, shortened
from pixie_otel.evaluable import Evaluable

if TYPE_CHECKING:
    from pixie_otel.traces.spans import ObserveSpan
    from pixie_otel.traces.trace import Trace
    from pixie_otel.traces.tree import ObservationNode

__all__ = ["SpanErrors"]

_SCOPES: Final = ("root", "any")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanErrors(TraceCheck):
    """The run did not end in an error; ``scope=any``: no span at all did.

    An error within a run that went well was dealt with, and is told without being held against it. Where the root is
    no observation of its own, such as an HTTP server's span, the run is the last of the observations right below it.

    Attributes:
        scope: ``root`` for errors that reached a root, ``any`` for those of all spans.
    """

    name: ClassVar[str] = "SpanErrors"

    severity: Severity = Severity.FAIL
    scope: Literal["root", "any"] = "root"

    def __post_init__(self) -> None:
        """Take the settings as they are typed, too."""
        TraceCheck.__post_init__(self)
        if self.scope not in _SCOPES:
            raise ConfigError(f"{self.name}: scope={self.scope!r} is none; give 'root' or 'any'")

    def __call__(self, _: Evaluable, /, trace: Trace) -> Evaluation:
        """Check one case."""
        failed = [span for span in trace.spans if span.error is not None]
        if not failed:
            return clean("no span failed")
        if self.scope == "any":
            return found(f"{counted(len(failed), 'span')} failed: {_told(failed)}", _findings(failed))
        runs = {id(span) for span in _runs(trace)}
        reached = [span for span in failed if id(span) in runs]
        inner = [span for span in failed if id(span) not in runs]
        within = f"{counted(len(inner), 'span')} within it failed: {_told(inner)}"
        details: Finding = {"inner": [*_findings(inner[:20])], "inner_count": len(inner)} if inner else {}
        if not reached:
            return clean(f"the run ended well, though {within}", **details)
        also = f"; {within}" if inner else ""
        return found(f"the run failed: {_told(reached)}{also}", _findings(reached), **details)


def _runs(trace: Trace) -> list[ObserveSpan]:
    """Give the spans that stand for the run: true roots, and the last observation below those that recorded nothing."""
    true_roots = [root for root in trace.roots if root.span.parent_span_id is None]
    runs: list[ObserveSpan] = []
    for root in true_roots or trace.roots:
        runs.append(root.span)
        if root.span.error is None and not _is_recorded(root):
            topmost = _topmost_recorded(root)
            if topmost:
                runs.append(max(topmost, key=lambda span: (span.end_time_unix_nano, span.span_id)))
    return runs


def _topmost_recorded(root: ObservationNode) -> list[ObserveSpan]:
    topmost: list[ObserveSpan] = []
    pending = [*root.children]
    while pending:
        node = pending.pop()
        if _is_recorded(node):
            topmost.append(node.span)
        else:
            pending.extend(node.children)
    return topmost


def _is_recorded(node: ObservationNode) -> bool:
    return node.span.input is not None or node.span.output is not None


def _told(spans: Sequence[ObserveSpan]) -> str:
    return listed([f"{shortened(span.name, 60)} (span {span.span_id}: {shortened(str(span.error))})" for span in spans])


def _findings(spans: Sequence[ObserveSpan]) -> list[Finding]:
    return [
        {
            "name": span.name,
            "kind": span.kind.value,
            "span_id": span.span_id,
            "error": None if span.error is None else shortened(str(span.error), 500),
        }
        for span in spans
    ]
