"""Anything that can judge, bound."""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import autoevals
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.errors import ConfigError
from pixie_otel.evals.binding import BoundEvaluator, bind, bind_all, distinct
from pixie_otel.evals.evaluation import Evaluation, Need, Severity
from pixie_otel.evals.evaluators.checks import SpanErrors
from pixie_otel.evals.evaluators.heuristics import ExactMatch, LevenshteinMatch
from pixie_otel.evaluable import UNSET, Evaluable
from pixie_otel.traces.trace import Trace

EVALUABLE = Evaluable()
TRACE = Trace("ab", [])


def plain(evaluable: Evaluable) -> float:
    """Judge without a trace."""
    return 0.5


def tracing(evaluable: Evaluable, trace: Trace | None) -> bool:
    """Judge with a trace."""
    return trace is TRACE


async def waiting(evaluable: Evaluable, *, trace: Trace | None = None) -> bool:
    """Judge asynchronously."""
    return trace is TRACE


class Judge:
    """An evaluator class with all attributes."""

    name = "judge"
    needs = ("output", Need.TRACE)
    threshold = 1
    severity = "warn"

    def __call__(self, evaluable: Evaluable) -> float:
        """Judge one case."""
        return 0.5

    def method(self, evaluable: Evaluable, trace: Trace) -> float:
        """Judge as a method."""
        return 0.5


class AsyncJudge:
    """An evaluator whose `__call__` is a coroutine function."""

    async def __call__(self, evaluable: Evaluable) -> float:
        """Judge one case."""
        return 0.5


def test_a_function_is_bound_by_its_name() -> None:
    """A function has its own name, needs nothing, and has no threshold of its own."""
    bound = bind(plain)

    assert bound.name == "plain"
    assert bound.needs == frozenset()
    assert bound.threshold is UNSET
    assert bound.severity is Severity.FAIL
    assert (bound.takes_trace, bound.is_async, bound.trusted) == (False, False, False)
    assert bound.source.endswith("test_binding:plain")
    assert bound(EVALUABLE, TRACE) == 0.5


@pytest.mark.parametrize(
    "evaluator", [tracing, functools.partial(tracing), lambda evaluable, trace=None: trace is TRACE]
)
def test_a_parameter_called_trace_gets_the_trace(evaluator: Callable[..., bool]) -> None:
    """The trace is given where the signature takes it by that name."""
    bound = bind(evaluator)

    assert bound.takes_trace
    assert bound(EVALUABLE, TRACE) is True


def test_keyword_arguments_alone_take_no_trace() -> None:
    """Only a parameter of that name asks for the trace."""

    def lenient(evaluable: Evaluable, **options: object) -> bool:
        return bool(options)

    assert bind(lenient)(EVALUABLE, TRACE) is False


@pytest.mark.parametrize(
    ("evaluator", "found"),
    [
        (waiting, ("waiting", True, True)),
        (functools.partial(waiting), ("waiting", True, True)),
        (AsyncJudge(), ("AsyncJudge", False, True)),
        (AsyncJudge, ("AsyncJudge", False, True)),
        (AsyncJudge().__call__, ("__call__", False, True)),
        (Judge().method, ("method", True, False)),
        (functools.partial(plain), ("plain", False, False)),
    ],
)
def test_every_kind_of_callable_is_seen_for_what_it_is(evaluator: object, found: tuple[str, bool, bool]) -> None:
    """Functions, partials, methods, instances and classes are told apart, sync and async."""
    bound = bind(evaluator)

    assert (bound.name, bound.takes_trace, bound.is_async) == found


@pytest.mark.parametrize(
    "evaluator", [Judge, Judge(), functools.partial(Judge()), functools.partial(functools.partial(Judge()))]
)
def test_attributes_are_read_from_the_evaluator(evaluator: object) -> None:
    """Name, needs, threshold and severity are the evaluator's own, also through a partial and a class."""
    bound = bind(evaluator)

    assert bound.name == "judge"
    assert bound.needs == {Need.OUTPUT, Need.TRACE}
    assert bound.threshold == 1.0
    assert bound.severity is Severity.WARN


def test_attributes_may_be_set_on_a_function() -> None:
    """A function carries attributes as an object does; a need alone is one need, not letters."""

    def judge(evaluable: Evaluable) -> float:
        return 0.5

    judge.needs = "expectation"
    judge.threshold = None
    judge.name = " my judge "

    bound = bind(judge)

    assert bound.needs == {Need.EXPECTATION}
    assert bound.threshold is None
    assert bound.name == "my judge"


def test_the_name_that_is_given_counts() -> None:
    """A name given to `bind` goes before the evaluator's own, also for one that is bound already."""
    assert bind(Judge(), name="other").name == "other"
    assert bind(bind(Judge()), name="other").name == "other"
    bound = bind(Judge())
    assert bind(bound) is bound


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        (
            {"needs": ["outputs"]},
            r"'x': needs is \['outputs'\]; give any of: input, output, expectation, context, retr",
        ),
        ({"needs": 5}, "'x': needs is 5; give any of"),
        ({"threshold": 1.5}, "'x': threshold is 1.5; give a number from 0 to 1, or None"),
        ({"threshold": True}, "'x': threshold is True"),
        ({"threshold": "0.5"}, "'x': threshold is '0.5'"),
        ({"threshold": float("nan")}, "'x': threshold is nan"),
        ({"severity": "fatal"}, "'x': severity is 'fatal'; give fail or warn"),
        ({"name": 5}, "an evaluator's name is a text, not 5"),
        ({"name": " "}, "an evaluator's name is a text, not ' '"),
    ],
)
def test_attributes_that_are_wrong_are_refused(attributes: dict[str, object], message: str) -> None:
    """A wrong attribute is an error that names the evaluator, the value and what is valid."""
    evaluator = type("x", (), {"__call__": lambda self, evaluable: 1.0, **attributes})()

    with pytest.raises(ConfigError, match=message):
        bind(evaluator)


class TakesNothing:
    """A class that wants an argument."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def __call__(self, evaluable: Evaluable) -> float:
        """Judge one case."""
        return 1.0


@pytest.mark.parametrize(
    ("evaluator", "message"),
    [
        ("ExactMatch", r"'ExactMatch' \(str\) is no evaluator: it cannot be called"),
        (EVALUABLE, "is no evaluator: it cannot be called"),
        (lambda: 1.0, "is called with the evaluable alone"),
        (lambda output, expected: 1.0, "missing a required argument: 'expected'"),
        (lambda trace: 1.0, "multiple values for argument 'trace'"),
        (TakesNothing, "TakesNothing is a class, and wants arguments: missing a required argument: 'limit'"),
        (autoevals.Levenshtein(), r"is a scorer of autoevals: wrap it, AutoevalsAdapter\(Levenshtein\(…\)\)"),
    ],
)
def test_what_cannot_judge_is_refused(evaluator: object, message: str) -> None:
    """What cannot be called with an evaluable is found out before anything is judged."""
    with pytest.raises(ConfigError, match=message):
        bind(evaluator)


def test_a_callable_without_a_signature_is_taken_at_its_word() -> None:
    """Callables written in C may have no signature to check."""

    class Opaque:
        """A callable that does not tell its signature."""

        __signature__ = "none"

        def __call__(self, evaluable: Evaluable) -> float:
            return 1.0

    assert not bind(Opaque()).takes_trace
    with pytest.raises(ConfigError, match=r"\(dict\) is no evaluator"):
        bind(dict)


@pytest.mark.parametrize("ours", [SpanErrors(), ExactMatch(), LevenshteinMatch(threshold=0.9), ExactMatch])
def test_our_own_evaluators_are_trusted(ours: object) -> None:
    """What the registry lists is called on the spot."""
    assert bind(ours).trusted


def test_nothing_of_a_users_is_taken_for_ours() -> None:
    """Neither a subclass, nor a class of the same name, nor one that lies about its module is trusted."""

    @dataclass(frozen=True)
    class Mine(ExactMatch):
        """A subclass."""

    class ExactMatch_:  # noqa: N801 - it is renamed below
        """A namesake."""

        trusted = True

        def __call__(self, evaluable: Evaluable) -> float:
            return 1.0

    ExactMatch_.__name__ = "ExactMatch"
    ExactMatch_.__module__ = ExactMatch.__module__

    assert not bind(Mine()).trusted
    assert not bind(ExactMatch_()).trusted
    assert not bind(ExactMatch().__call__).trusted


def test_evaluators_of_one_name_are_numbered() -> None:
    """The same evaluator with other parameters gets a name of its own, in order."""
    bound = bind_all([LevenshteinMatch(threshold=0.5), plain, LevenshteinMatch(threshold=0.9), LevenshteinMatch()])

    assert [evaluator.name for evaluator in bound] == [
        "LevenshteinMatch",
        "plain",
        "LevenshteinMatch-2",
        "LevenshteinMatch-3",
    ]
    assert distinct(bound) == bound


def test_a_number_that_is_taken_is_passed_over() -> None:
    """An evaluator that is itself called `plain-2` keeps its name."""
    names = [evaluator.name for evaluator in bind_all([plain, bind(plain, name="plain-2"), plain])]

    assert names == ["plain", "plain-2", "plain-3"]


@given(st.lists(st.sampled_from(["a", "a-2", "a-3", "b", "a-2-2"]), max_size=8))
def test_names_are_unique_and_the_first_of_each_stays(names: list[str]) -> None:
    """Whatever the names, none stands twice afterwards, and numbering again changes nothing."""
    named = distinct([BoundEvaluator(name, plain) for name in names])

    found = [evaluator.name for evaluator in named]
    assert len(set(found)) == len(names)
    assert set(names) <= set(found)
    assert distinct(named) == named


def test_a_bound_evaluator_gives_back_what_the_evaluator_returns() -> None:
    """Binding judges nothing: nonsense comes back as it is."""
    nonsense: object = object()

    assert bind(lambda evaluable: nonsense)(EVALUABLE) is nonsense
    assert bind(lambda evaluable: Evaluation(1, "a"))(EVALUABLE) == Evaluation(1, "a")


@pytest.mark.parametrize("key", ["name", "needs", "threshold", "severity"])
def test_an_attribute_that_raises_is_told(key: str) -> None:
    """A property of a user's evaluator that fails is a wrong evaluator, and no bug of ours."""

    def fail(_: object) -> None:
        raise RuntimeError("not ready")

    kind = type("Lazy", (), {key: property(fail), "__call__": lambda _self, _evaluable: 1.0})

    with pytest.raises(ConfigError, match=rf"evaluator Lazy: its {key} cannot be read: RuntimeError: not ready"):
        bind(kind())
