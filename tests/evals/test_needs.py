"""What a case holds and lacks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.errors import ObservationError, SkipEvaluation
from pixie_otel.evals.evaluation import Need
from pixie_otel.evals.needs import check_needs, is_absent, unmet
from pixie_otel.evaluable import Document, Evaluable, NamedData, ToolCall
from pixie_otel.traces.trace import Trace

FULL = Evaluable(
    eval_input=[NamedData("input", "hi")],
    eval_output=[NamedData("output", "ho")],
    expectation=None,
    context=["fact"],
    expected_tools=[],
    retrieval_context=[Document("page")],
    tools_called=[],
)
EMPTY = Evaluable()
TRACE = Trace("ab", [])


@pytest.mark.parametrize("need", Need)
def test_a_full_case_meets_every_need(need: Need) -> None:
    """Null is an expectation, and no tools are tools to expect and to have called."""
    assert not is_absent(need, FULL, TRACE)
    check_needs([need], FULL, TRACE)


@pytest.mark.parametrize("need", [Need.EXPECTATION, Need.CONTEXT, Need.EXPECTED_TOOLS, Need.TRACE])
def test_what_the_specification_lacks_skips(need: Need) -> None:
    """An evaluator does not apply where the specification does not give what it needs, a trace included."""
    with pytest.raises(SkipEvaluation, match=r"^no (expectation|context|expected tools) w|^the case comes from no tr"):
        check_needs([need], EMPTY, None)


@pytest.mark.parametrize("need", [Need.INPUT, Need.OUTPUT, Need.RETRIEVAL_CONTEXT, Need.TOOLS_CALLED])
def test_what_was_not_recorded_is_an_error(need: Need) -> None:
    """What a run should have left and did not is a failure to observe, and the message says what there is."""
    with pytest.raises(ObservationError, match="the case holds nothing"):
        check_needs([need], EMPTY, None)


def test_the_message_says_what_the_case_holds() -> None:
    """Whoever reads the message sees what the evaluator could have looked at."""
    evaluable = Evaluable(
        eval_input=[NamedData("input", "hi"), NamedData("lang", "en"), NamedData("none", None)],
        expectation="x",
        retrieval_context=[Document("a"), Document("b")],
        tools_called=[ToolCall("f")],
    )

    error = unmet([Need.OUTPUT], evaluable, TRACE)

    assert str(error) == (
        "no output was recorded; the case holds an input (input, lang), an expectation, 2 retrieved documents, "
        "1 tool call, a trace"
    )


def test_an_output_is_among_what_the_case_holds() -> None:
    """The outputs are named, too."""
    error = unmet([Need.INPUT], Evaluable(eval_output=[NamedData("answer", "x")]), None)

    assert str(error) == "no input was recorded; the case holds an output (answer)"


def test_what_does_not_apply_comes_before_what_is_missing() -> None:
    """Without an expectation there is nothing to compare, so a missing output is no error."""
    assert isinstance(unmet([Need.OUTPUT, Need.EXPECTATION], EMPTY, None), SkipEvaluation)


@pytest.mark.parametrize(
    "output", [None, [], [NamedData("output", None)], [NamedData("a", None), NamedData("b", None)]]
)
def test_no_value_is_no_output(output: list[NamedData] | None) -> None:
    """Not run, nothing given and nothing recorded are all no output."""
    assert is_absent(Need.OUTPUT, Evaluable(eval_output=output), None)


@pytest.mark.parametrize("value", [0, False, "", [], {}])
def test_an_empty_value_is_an_output(value: object) -> None:
    """Zero, no and the empty text are answers."""
    assert not is_absent(Need.OUTPUT, Evaluable(eval_output=[NamedData("output", value)]), None)


def test_where_nothing_is_expected_nothing_is_an_output() -> None:
    """A run that gave nothing can be judged against an expectation of null; one that did not run cannot."""
    assert not is_absent(Need.OUTPUT, Evaluable(eval_output=[], expectation=None), None)
    assert is_absent(Need.OUTPUT, Evaluable(eval_output=None, expectation=None), None)


@given(st.sets(st.sampled_from(Need)))
def test_needs_are_unmet_exactly_when_one_is_absent(needs: set[Need]) -> None:
    """`unmet` gives an error if and only if something is absent."""
    assert (unmet(needs, EMPTY, None) is None) == (not needs)
    assert unmet(needs, FULL, TRACE) is None
