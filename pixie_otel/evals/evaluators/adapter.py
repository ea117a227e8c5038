"""The one place that touches autoevals: it carries no types, loads much, and its scorers have habits of their own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from pixie_otel.errors import ConfigError, EvaluatorError, ObservationError
from pixie_otel.evals.evaluation import Evaluation, Need, Severity
from pixie_otel.evaluable import UNSET, Evaluable, JsonValue, Unset, canonical_json, collapse_named_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["AutoevalsAdapter", "AutoevalsScore", "AutoevalsScorer", "compared", "cut"]

_SHOWN: Final = 120


class AutoevalsScore(Protocol):
    """What a scorer of autoevals returns."""

    score: float | None
    metadata: dict[str, Any]


class AutoevalsScorer(Protocol):
    """A scorer of autoevals, as far as it is used here."""

    def eval(self, output: JsonValue, expected: JsonValue = None, **kwargs: JsonValue) -> AutoevalsScore:
        """Score an output."""
        ...


class AutoevalsAdapter:
    """Any scorer of autoevals as an evaluator.

    The scorer gets the output, the expectation where ``needs`` names it, the input as ``input``, and as ``context``
    the retrieved documents, else the context that was given.

    Scorers that ask a model must be made with ``client=``: without one, autoevals sends key and data to a gateway of
    its own choice.
    """

    def __init__(
        self,
        scorer: AutoevalsScorer,
        *,
        name: str | None = None,
        needs: Iterable[Need | str] = (Need.OUTPUT, Need.EXPECTATION),
        threshold: float | Unset | None = UNSET,
        severity: Severity | str = Severity.FAIL,
    ) -> None:
        """Wrap a scorer.

        Args:
            scorer: An instance of a scorer, for example ``autoevals.Levenshtein()``.
            name: What to call it; default: its class's name.
            needs: What a case must hold.
            threshold: The score to reach; ``None`` to measure only.
            severity: Whether missing it fails the case.

        Raises:
            ConfigError: That is no scorer, or one that would send data to nobody the user named.
        """
        if isinstance(scorer, type) or not callable(getattr(scorer, "eval", None)):
            raise ConfigError(f"AutoevalsAdapter takes an instance of a scorer, not {scorer!r}")
        _refuse_default_client(scorer, type(scorer).__name__, set())
        self.name: Final = name or type(scorer).__name__
        self.needs: Final = tuple([needs] if isinstance(needs, str) else needs)
        self.threshold: Final = threshold
        self.severity: Final = severity
        self._scorer: Final = scorer

    def __repr__(self) -> str:
        return f"AutoevalsAdapter({type(self._scorer).__name__}, name={self.name!r})"

    def __call__(self, evaluable: Evaluable) -> Evaluation:
        """Score one case.

        Args:
            evaluable: What is judged.

        Raises:
            EvaluatorError: The scorer gave no score.
        """
        output = collapse_named_data(evaluable.eval_output)
        expected = evaluable.expectation if Need.EXPECTATION in self.needs else UNSET
        extra: dict[str, JsonValue] = {"input": collapse_named_data(evaluable.eval_input)}
        if evaluable.retrieval_context is not None:
            extra["context"] = [document.content for document in evaluable.retrieval_context]
        elif evaluable.context is not None:
            extra["context"] = list(evaluable.context)
        return self.score(output, expected, **extra)

    def score(self, output: JsonValue, expected: JsonValue | Unset = UNSET, **extra: JsonValue) -> Evaluation:
        """Score an output as it is.

        Args:
            output: The output.
            expected: What a good output is; `UNSET` for a scorer that looks at the output alone.
            extra: What else the scorer takes.

        Raises:
            EvaluatorError: The scorer gave no score.
            ObservationError: The values are nested deeper than the scorer can follow.
        """
        try:
            scored = self._scorer.eval(output, None if isinstance(expected, Unset) else expected, **extra)
        except RecursionError:
            raise ObservationError(f"{self.name}: the values are nested too deeply to be compared") from None
        if scored.score is None:
            raise EvaluatorError(f"{self.name}: autoevals gave no score for the output {cut(output)}")
        details = cast("dict[str, JsonValue]", _lists(scored.metadata or {}))
        return Evaluation(scored.score, _reasoning(details, output, expected), details)


def cut(value: JsonValue) -> str:
    """Show a value in a sentence: as JSON, cut short.

    Args:
        value: The value.
    """
    if isinstance(value, str):
        return json.dumps(value if len(value) <= _SHOWN else f"{value[:_SHOWN]}…", ensure_ascii=False)
    text = canonical_json(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def compared(output: JsonValue, expected: JsonValue | Unset) -> str:
    """Say what was expected and what came.

    Args:
        output: The output.
        expected: What a good output is; `UNSET` where that was not asked.
    """
    return f"got {cut(output)}" if isinstance(expected, Unset) else f"expected {cut(expected)}, got {cut(output)}"


def _reasoning(details: Mapping[str, JsonValue], output: JsonValue, expected: JsonValue | Unset) -> str:
    rationale = details.get("rationale")
    return rationale if isinstance(rationale, str) and rationale.strip() else compared(output, expected)


def _lists(value: object) -> object:
    """Turn tuples into lists, so that details are the same after they were written and read."""
    if isinstance(value, dict):
        return {key: _lists(inner) for key, inner in cast("Any", value).items()}
    if isinstance(value, list | tuple):
        return [_lists(inner) for inner in cast("Any", value)]
    return value


def _refuse_default_client(scorer: object, name: str, seen: set[int]) -> None:
    """Refuse a scorer without a client of its own, also inside another scorer."""
    if id(scorer) in seen or not hasattr(scorer, "eval"):
        return
    seen.add(id(scorer))
    parts: dict[str, object] = getattr(scorer, "__dict__", {})
    if "client" in parts and parts["client"] is None:
        raise ConfigError(
            f"{name} asks a model, and was made without `client=`: autoevals would send your key and your data to a "
            f"gateway of its own choice. Write {name}(client=OpenAI(), …)"
        )
    for part in parts.values():
        _refuse_default_client(part, type(part).__name__, seen)
