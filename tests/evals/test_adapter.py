"""Scorers of autoevals as evaluators."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import autoevals
import pytest

from pixie_otel.errors import ConfigError, EvaluatorError, ObservationError
from pixie_otel.evals.binding import bind
from pixie_otel.evals.evaluate import evaluate_sync
from pixie_otel.evals.evaluation import Need, Severity
from pixie_otel.evals.evaluators.adapter import AutoevalsAdapter, AutoevalsScorer, cut
from pixie_otel.evaluable import UNSET, Document, Evaluable, NamedData

EVALUABLE = Evaluable([NamedData("input", "q")], [NamedData("output", "hello wrld")], expectation="hello world")


class Recorder(autoevals.Scorer):
    """A scorer that keeps what it is called with."""

    def __init__(self, score: float | None = 1.0, **metadata: object) -> None:
        self.answer = autoevals.Score(name="recorder", score=score, metadata=metadata)
        self.calls: list[tuple[Any, Any, dict[str, Any]]] = []

    def _run_eval_sync(self, output: object, expected: object = None, **kwargs: object) -> autoevals.Score:
        self.calls.append((output, expected, kwargs))
        return self.answer


def test_a_scorer_judges() -> None:
    """The scorer's score is the evaluation's, with a reason that shows both sides."""
    evaluation = evaluate_sync(AutoevalsAdapter(autoevals.Levenshtein()), EVALUABLE)

    assert evaluation.score == pytest.approx(10 / 11)
    assert evaluation.reasoning == 'expected "hello world", got "hello wrld"'


def test_an_adapter_carries_what_binding_reads() -> None:
    """Name, needs, threshold and severity are the adapter's; it is a user's evaluator, with limits."""
    bound = bind(AutoevalsAdapter(Recorder(), name="r", needs="output", threshold=0.9, severity="warn"))

    assert (bound.name, bound.needs, bound.threshold) == ("r", {Need.OUTPUT}, 0.9)
    assert bound.severity is Severity.WARN
    assert not bound.trusted
    default = bind(AutoevalsAdapter(Recorder()))
    assert (default.name, default.threshold) == ("Recorder", UNSET)
    assert default.needs == {Need.OUTPUT, Need.EXPECTATION}


def test_the_scorer_gets_what_it_may_want() -> None:
    """Output, expectation and input are handed on; the context is what was retrieved, else what was given."""
    scorer = Recorder()
    adapter = AutoevalsAdapter(scorer)

    adapter(EVALUABLE)
    adapter(Evaluable(eval_output=[NamedData("output", 1)], expectation=2, context=["given"]))
    adapter(
        Evaluable(eval_output=[], expectation=None, context=["given"], retrieval_context=[Document("a"), Document("b")])
    )

    assert scorer.calls == [
        ("hello wrld", "hello world", {"input": "q"}),
        (1, 2, {"input": None, "context": ["given"]}),
        (None, None, {"input": None, "context": ["a", "b"]}),
    ]


def test_an_expectation_is_handed_on_only_where_it_is_needed() -> None:
    """A scorer that looks at the output alone takes a second argument for something else."""
    scorer = Recorder()

    evaluation = AutoevalsAdapter(scorer, needs=[Need.OUTPUT])(EVALUABLE)

    assert scorer.calls == [("hello wrld", None, {"input": "q"})]
    assert evaluation.reasoning == 'got "hello wrld"'


def test_the_scorers_own_reason_is_kept() -> None:
    """A rationale is the reason; the rest of the metadata are details, without tuples."""
    evaluation = AutoevalsAdapter(Recorder(0.5, rationale="because", pairs=[("a", 1)]))(EVALUABLE)

    assert evaluation.reasoning == "because"
    assert evaluation.details == {"rationale": "because", "pairs": [["a", 1]]}


@pytest.mark.parametrize("rationale", ["", " ", None, 5])
def test_a_reason_without_words_is_replaced(rationale: object) -> None:
    """A reason is never empty."""
    assert AutoevalsAdapter(Recorder(rationale=rationale))(EVALUABLE).reasoning.startswith("expected ")


def test_no_score_is_no_judgement() -> None:
    """Where autoevals skips with a score of None, that is an error and not a zero."""
    with pytest.raises(EvaluatorError, match='Recorder: autoevals gave no score for the output "hello wrld"'):
        AutoevalsAdapter(Recorder(None))(EVALUABLE)


def test_a_scorer_that_runs_out_of_stack_saw_too_deep_a_value() -> None:
    """Endless nesting is a failure to observe."""
    value: object = 1
    for _ in range(2000):
        value = [value]

    with pytest.raises(ObservationError, match="nested too deeply to be compared"):
        AutoevalsAdapter(autoevals.JSONDiff()).score(value, value)


@pytest.mark.parametrize("scorer", [autoevals.Levenshtein, "Levenshtein", lambda output: 1.0, SimpleNamespace(eval=5)])
def test_what_is_no_scorer_is_refused(scorer: object) -> None:
    """A class, a name and a function are no instance of a scorer."""
    with pytest.raises(ConfigError, match="takes an instance of a scorer, not"):
        AutoevalsAdapter(scorer)


@pytest.mark.parametrize(
    "make",
    [
        autoevals.EmbeddingSimilarity,
        autoevals.Factuality,
        autoevals.Moderation,
        autoevals.AnswerCorrectness,
        lambda: autoevals.JSONDiff(string_scorer=autoevals.EmbeddingSimilarity()),
        lambda: autoevals.ListContains(pairwise_scorer=autoevals.EmbeddingSimilarity()),
    ],
)
def test_a_scorer_that_would_choose_its_own_provider_is_refused(make: Callable[[], AutoevalsScorer]) -> None:
    """Without a client, autoevals sends key and data to a third party; that is said, and nothing is sent."""
    with pytest.raises(ConfigError, match="was made without `client=`"):
        AutoevalsAdapter(make())


def test_a_scorer_with_a_client_is_taken() -> None:
    """An explicit client is the user's choice."""
    import openai

    client = openai.OpenAI(api_key="none", base_url="http://127.0.0.1:9")

    assert AutoevalsAdapter(autoevals.Factuality(client=client)).name
    assert "Levenshtein" in repr(AutoevalsAdapter(autoevals.Levenshtein()))


def test_values_are_shown_cut_short() -> None:
    """Text is quoted, anything else is JSON, and neither is long."""
    assert cut("a\nb") == r'"a\nb"'
    assert cut([1.0, "é"]) == '[1,"é"]'
    assert len(cut("x" * 1000)) < 130
    assert len(cut(["x" * 1000])) < 130
