"""Facts about the lines of ``results.jsonl``."""

import json
from typing import Any

import pytest
from case_results import case_result, case_results, json_values
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.errors import InputError
from pixie_otel.evals.case import Case, CaseResult
from pixie_otel.evals.evaluation import Evaluation, EvaluationResult, Outcome
from pixie_otel.evaluable import UNSET, Evaluable, JsonValue, NamedData, ToolCall
from pixie_otel.runs.records import SCHEMA, case_id_of, decode_result, encode_result


def _with_output(value: Any) -> CaseResult:
    return CaseResult(Case("a", "a", Evaluable([], [NamedData("output", value)])), ())


def _output(result: CaseResult) -> JsonValue:
    assert result.case.evaluable is not None
    assert result.case.evaluable.eval_output is not None
    return result.case.evaluable.eval_output[0].value


@given(case_results)
def test_a_line_gives_back_the_case_that_it_was_made_of(result: CaseResult) -> None:
    """A judged case comes back from its line equal in every part, given or not, null or not."""
    line = encode_result(result)
    # Not `==` alone, as two tool calls with different ids are equal and must still come back with theirs.
    assert repr(decode_result(line, "results.jsonl:1")) == repr(result)
    assert decode_result(line, "results.jsonl:1") == result
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert case_id_of(line) == result.case.id


@given(json_values)
def test_a_line_is_plain_json(value: JsonValue) -> None:
    """Any JSON reader finds in a line the values that went in."""
    line = json.loads(encode_result(_with_output(value)))
    assert line["evaluable"]["eval_output"] == [{"name": "output", "value": value}]
    assert line["schema"] == SCHEMA


def test_an_expectation_that_was_not_given_is_no_null() -> None:
    """`UNSET` leaves the key out, and None writes a null, for expectations and for tools' results."""
    given = Evaluable([], expectation=None, tools_called=[ToolCall("t", result=None)])
    absent = Evaluable([], tools_called=[ToolCall("t")])
    lines = [json.loads(encode_result(CaseResult(Case("a", "a", item), ())))["evaluable"] for item in (given, absent)]
    assert lines[0]["expectation"] is None
    assert lines[0]["tools_called"] == [{"name": "t", "result": None}]
    assert "expectation" not in lines[1]
    assert lines[1]["tools_called"] == [{"name": "t"}]


@given(st.text(st.characters(categories=["Cs", "Lu"]), max_size=6))
def test_halves_of_surrogate_pairs_are_replaced(text: str) -> None:
    """Text that UTF-8 cannot hold is kept but for the halves of surrogate pairs, and pairs become one character."""
    read = _output(decode_result(encode_result(_with_output({text: [text]})), "here"))
    expected = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert read == {expected: [expected]}


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_no_line_holds_a_number_that_is_not_finite(number: float) -> None:
    """NaN and the infinities are written as null, also where something else makes the line unusual."""
    assert _output(decode_result(encode_result(_with_output(number)), "here")) is None
    assert _output(decode_result(encode_result(_with_output([number, "\ud800"])), "here")) == [None, "\ufffd"]


def test_endless_nesting_costs_only_what_is_deep() -> None:
    """A value nested without end is cut where readers stop to follow, and the cut says so."""
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    read: Any = _output(decode_result(encode_result(_with_output(["kept", deep])), "here"))
    assert read[0] == "kept"
    levels = 0
    while isinstance(read, list):
        read, levels = read[-1], levels + 1
    assert levels > 100
    assert "not kept" in read


def test_a_value_within_itself_costs_only_that_place() -> None:
    """Nodes that know their parents, as evaluators may put them into details, are written down to where they repeat."""
    root: dict[str, Any] = {"name": "root"}
    root["children"] = [{"name": str(number), "parent": root, "root": root} for number in range(3)]
    result = EvaluationResult("E", Outcome.MEASURED, Evaluation(1, "good", root))
    read = decode_result(encode_result(CaseResult(Case("a", "a", None), (result,))), "here").results[0].evaluation
    assert read is not None
    children: Any = read.details["children"]
    assert [child["name"] for child in children] == ["0", "1", "2"]
    assert "not kept" in children[2]["parent"]


def test_values_that_json_does_not_have_are_shown() -> None:
    """What an evaluator puts into its details is kept as text where JSON has nothing for it."""

    class Loud:
        def __repr__(self) -> str:
            return "<loud>"

    class Broken:
        def __repr__(self) -> str:
            raise ValueError

    details: dict[str, Any] = {"loud": Loud(), "broken": Broken(), "tuple": (1, Loud())}
    result = EvaluationResult("E", Outcome.MEASURED, Evaluation(1, "good", details))
    read = decode_result(encode_result(CaseResult(Case("a", "a", None), (result,))), "here").results[0].evaluation
    assert read is not None
    assert read.details == {"loud": "<loud>", "broken": "(Broken)", "tuple": [1, "<loud>"]}


def test_fields_that_are_not_known_are_passed_over() -> None:
    """A line with fields of a later version in the same format is read without them."""
    line = json.loads(encode_result(case_result("a", "passed")))
    line["novel"] = 1
    line["results"][0]["novel"] = {"x": 1}
    assert decode_result(json.dumps(line).encode(), "here") == case_result("a", "passed")


def test_fields_that_are_missing_have_defaults() -> None:
    """A line of an earlier version that had fewer fields is read."""
    line = {"schema": 1, "case_id": "a", "outcome": "passed", "results": [{"evaluator": "E", "outcome": "skipped"}]}
    read = decode_result(json.dumps(line).encode(), "here")
    assert read.case == Case("a", "", None)
    assert read.results == (EvaluationResult("E", Outcome.SKIPPED),)


def test_a_newer_format_is_refused_by_name() -> None:
    """A line of a newer format, whatever is in it, says where it is and to upgrade."""
    with pytest.raises(InputError, match=rf"^r.jsonl:7: written in format {SCHEMA + 1}.*pip install --upgrade"):
        decode_result(json.dumps({"schema": SCHEMA + 1, "case_id": 7}).encode(), "r.jsonl:7")


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"nonsense",
        b"{}",
        b"\xff",
        b'{"schema": "1"}',
        b'{"schema": 1, "case_id": "a"}',
        b"[" * 100_000,
        b'{"schema": 1, "case_id": "a", "outcome": "passed", "results": [{"evaluator": "E", "outcome": "x"}]}',
    ],
)
def test_a_damaged_line_is_told_with_its_place(line: bytes) -> None:
    """A line that is no result is an `InputError` that names file and line."""
    with pytest.raises(InputError, match=r"^results\.jsonl:3: "):
        decode_result(line, "results.jsonl:3")


def test_a_score_that_is_none_is_told() -> None:
    """A line that was edited into a score out of range is no valid result."""
    line = encode_result(case_result("a", "passed")).replace(b'"score":1.0', b'"score":7')
    with pytest.raises(InputError, match=r"^r:1: no valid result: a score lies between 0 and 1"):
        decode_result(line, "r:1")


def test_the_expectation_survives_as_unset() -> None:
    """An evaluable without an expectation has none after reading, and not a None."""
    read = decode_result(encode_result(case_result("a")), "here").case.evaluable
    assert read is not None
    assert read.expectation is UNSET
