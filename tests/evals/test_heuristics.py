"""The heuristics, on the real autoevals."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.errors import (
    ConfigError,
    EvaluatorError,
    MissingExtraError,
    ObservationError,
    PixieError,
    SkipEvaluation,
)
from pixie_otel.evals.binding import bind
from pixie_otel.evals.evaluate import evaluate_sync
from pixie_otel.evals.evaluation import Evaluation
from pixie_otel.evals.evaluators import heuristics
from pixie_otel.evals.evaluators.heuristics import (
    ExactMatch,
    JSONDiff,
    LevenshteinMatch,
    ListContains,
    NumericDiff,
    ValidJSON,
)
from pixie_otel.evaluable import UNSET, Evaluable, NamedData

NAN = math.nan


def judge(evaluator: object, output: object, expectation: object = UNSET) -> Evaluation:
    """Judge one output."""
    return evaluate_sync(evaluator, Evaluable(eval_output=[NamedData("output", output)], expectation=expectation))


def nested(depth: int) -> object:
    """Make a list in a list in a list."""
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("output", "expectation", "score"),
    [
        ("hello", "hello", 1.0),
        ("hello wrld", "hello world", 10 / 11),
        ("abc", "xyz", 0.0),
        ("", "", 1.0),
        ("", "abc", 0.0),
        ("é", "e", 0.0),
        ({"b": 1, "a": 2}, {"a": 2.0, "b": 1.0}, 1.0),
        ('{"a": 1}', {"a": 1}, 1.0),
        (12, "12", 1.0),
        (12, "13", 0.5),
        ("yes", True, 0.0),
    ],
)
def test_levenshtein_is_the_share_of_text_that_stays(output: object, expectation: object, score: float) -> None:
    """Texts are compared as they are, anything else as canonical JSON."""
    assert judge(LevenshteinMatch(), output, expectation).score == pytest.approx(score)


@pytest.mark.parametrize(
    ("output", "expectation", "score"),
    [
        ("a", "a", 1),
        ("a", "A", 0),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, 1),
        ({"a": 1, "b": 2}, '{"b": 2, "a": 1}', 1),
        ([1], [1.0], 1),
        ([1], [2], 0),
        (1, "1", 1),
        (1, True, 0),
        (True, "true", 1),
        ([1], None, 0),
        ({"a": 1}, 5, 0),
        ("None", None, 0),
        (None, None, 1),
        ("x", {"a": 1}, 0),
        ('"x"', "x", 0),
    ],
)
def test_exact_match_goes_by_json(output: object, expectation: object, score: int) -> None:
    """Neither the order of keys, nor Python's names for null and true, nor 1 and 1.0 make a difference of their own."""
    assert judge(ExactMatch(), output, expectation).score == score


@pytest.mark.parametrize(
    ("output", "expectation", "score"),
    [
        (105, 100, 1 - 5 / 205),
        (100, 100, 1),
        (0, 0, 1),
        (0, 5, 0),
        (-1, 1, 0),
        (" 42 ", 42, 1),
        (42, "42.0", 1),
        ("1e3", "1000", 1),
        (1e308, 1e308, 1),
    ],
)
def test_numeric_diff_goes_by_relative_distance(output: object, expectation: object, score: float) -> None:
    """Numbers are compared, also those that stand in a text of their own."""
    assert judge(NumericDiff(), output, expectation).score == pytest.approx(score)


NO_NUMBERS = ["forty", "", "1_000", "nan", "inf", True, [1], {"a": 1}, NAN, math.inf, 10**400, "1,5"]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: repr(value)[:10])
def test_numeric_diff_of_what_is_no_number_is_no_score(value: object) -> None:
    """An output that is no number is a failure to observe, an expectation that is none a mistake in the contract."""
    with pytest.raises(ObservationError, match="compares numbers, and the output is"):
        judge(NumericDiff(), value, 1)
    with pytest.raises(ConfigError, match="compares numbers, and the expectation is"):
        judge(NumericDiff(), 1, value)


@pytest.mark.parametrize(
    ("output", "expectation", "score"),
    [
        ({"a": 1}, {"a": 1}, 1),
        ({"a": 1}, {"a": 2}, 2 / 3),
        ({"a": "x", "b": 1}, {"a": "x"}, 0.5),
        ({}, {}, 1),
        ([1, 2], [1], 0.5),
        ('{"a": 1}', {"a": 1}, 1),
        ('{"a": 1}', '{"a": 1.0}', 1),
        ("1", 1, 1),
        (None, None, 1),
        ({"a": None}, {}, 1),
        ({"a": 1}, None, 0),
    ],
)
def test_json_diff_goes_value_by_value(output: object, expectation: object, score: float) -> None:
    """Structures are compared part by part, and text that holds JSON stands for it."""
    assert judge(JSONDiff(), output, expectation).score == pytest.approx(score)


def test_json_diff_can_leave_texts_alone() -> None:
    """With `preserve_strings`, a text is a text."""
    assert judge(JSONDiff(preserve_strings=True), '{"a": 1}', {"a": 1}).score < 1


@pytest.mark.parametrize(
    ("output", "expectation", "score"),
    [
        (["a", "b"], ["b", "a"], 1),
        (["a", "b"], ["a"], 0.5),
        (["a"], ["a", "b"], 0.5),
        ([], [], 1),
        ([], ["a"], 0),
        ('["a"]', ["a"], 1),
        (["a"], '["a"]', 1),
        ([{"x": 1.0}, None, 2], [2, {"x": 1}, None], 1),
        (["abcd"], ["abcx"], 0.75),
    ],
)
def test_list_contains_pairs_items_whatever_the_order(output: object, expectation: object, score: float) -> None:
    """Items are paired by similarity; too many and too few cost alike."""
    assert judge(ListContains(), output, expectation).score == pytest.approx(score)


def test_list_contains_can_allow_what_nobody_expected() -> None:
    """With `allow_extra_entities`, only what is missing costs."""
    assert judge(ListContains(allow_extra_entities=True), ["a", "b"], ["a"]).score == 1
    assert judge(ListContains(allow_extra_entities=True), ["a"], ["a", "b"]).score == 0.5


def test_list_contains_tells_the_pairs() -> None:
    """The details hold each pair and its similarity, as JSON has it."""
    assert judge(ListContains(), ["a"], ["a"]).details == {"pairs": [["a", "a", 1.0]]}


@pytest.mark.parametrize("value", ["ab", 5, {"a": 1}, '{"a": 1}', True])
def test_list_contains_of_what_is_no_list_is_no_score(value: object) -> None:
    """A text is no list of its letters."""
    with pytest.raises(ObservationError, match="compares lists, and the output is"):
        judge(ListContains(), value, ["a"])
    with pytest.raises(ConfigError, match="compares lists, and the expectation is"):
        judge(ListContains(), ["a"], value)


def test_list_contains_without_scipy_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """The missing extra is said when the evaluator is made, not case by case."""
    monkeypatch.setitem(sys.modules, "scipy", None)

    with pytest.raises(MissingExtraError, match=r"ListContains needs .* pip install 'pixie-otel\[scipy\]'"):
        ListContains()


@pytest.mark.parametrize(
    ("output", "score", "reasoning"),
    [
        ('{"a": 1}', 1, 'JSON; got {"a":1}'),
        ("[]", 1, "JSON; got []"),
        ({"a": 1}, 1, 'JSON; got {"a":1}'),
        ("5", 0, "JSON, but neither an object nor an array; got 5"),
        ('"{}"', 0, 'JSON, but neither an object nor an array; got "{}"'),
        (5, 0, "JSON, but neither an object nor an array; got 5"),
        ("{", 0, "no JSON: Expecting property name"),
        ("", 0, "no JSON: Expecting value"),
        ('{"a": NaN}', 0, "no JSON: NaN is no JSON value"),
        ("9" * 5000, 0, "JSON, but neither an object nor an array"),
    ],
)
def test_valid_json_wants_an_object_or_an_array(output: object, score: float, reasoning: str) -> None:
    """What is no JSON, and JSON that is a mere scalar, scores 0; the reason says which."""
    evaluation = judge(ValidJSON(), output)

    assert evaluation.score == score
    assert evaluation.reasoning.startswith(reasoning)


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("output", "score", "reasoning"),
    [
        ('{"a": 1}', 1, 'JSON, as the schema has it; got {"a":1}'),
        ({"a": 1}, 1, "JSON, as the schema has it"),
        ('{"a": "x"}', 0, "not as the schema has it, at $.a: 'x' is not of type 'integer'"),
        ("{}", 0, "not as the schema has it, at $: 'a' is a required property"),
        ("{", 0, "no JSON"),
        ("[]", 0, "not as the schema has it, at $: [] is not of type 'object'"),
    ],
)
def test_valid_json_holds_the_output_against_a_schema(output: object, score: float, reasoning: str) -> None:
    """The reason says where the output breaks the schema."""
    evaluation = judge(ValidJSON(schema=SCHEMA), output)

    assert evaluation.score == score
    assert evaluation.reasoning.startswith(reasoning)


def test_a_scalar_is_fine_where_the_schema_wants_one() -> None:
    """With a schema, the schema alone decides."""
    assert judge(ValidJSON(schema={"type": "integer"}), "5").score == 1
    assert judge(ValidJSON(schema={}), "5").score == 1


def test_a_schema_may_lie_in_a_file(tmp_path: Path) -> None:
    """A text is the path of a file with the schema."""
    file = tmp_path / "schema.json"
    file.write_text(json.dumps(SCHEMA), encoding="utf-8")

    assert ValidJSON(schema=str(file)) == ValidJSON(schema=SCHEMA)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "objekt"}, r"its schema is no JSON Schema: \$.type: 'objekt' is not valid"),
        (5, "its schema is 5; a JSON Schema is an object"),
        ("nowhere.json", "the schema in nowhere.json cannot be read"),
        ("broken.json", "the schema in .*broken.json cannot be read: Expecting"),
        ("list.json", r"the schema in .*list.json is \[\]; a JSON Schema is an object"),
    ],
)
def test_a_schema_that_is_none_is_refused(
    schema: object, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong schema is said when the evaluator is made."""
    monkeypatch.chdir(tmp_path)
    Path("broken.json").write_text("{", encoding="utf-8")
    Path("list.json").write_text("[]", encoding="utf-8")

    with pytest.raises(ConfigError, match=message):
        ValidJSON(schema=schema)


@pytest.mark.parametrize("reference", ["http://127.0.0.1:9/schema", "other.json", "#/$defs/none"])
def test_what_a_schema_refers_to_is_never_fetched(reference: str) -> None:
    """A reference that leads out of the schema, or nowhere, is a mistake in the contract."""
    evaluator = ValidJSON(schema={"$id": "http://127.0.0.1:9/base", "$ref": reference})

    with pytest.raises(ConfigError, match="its schema refers to what is not in it"):
        judge(evaluator, "{}")


COMPARISONS = [ExactMatch(), LevenshteinMatch(), NumericDiff(), JSONDiff(), ListContains()]


@pytest.mark.parametrize("evaluator", COMPARISONS, ids=lambda evaluator: type(evaluator).__name__)
def test_without_an_expectation_there_is_nothing_to_compare(evaluator: object) -> None:
    """A case without an expectation is skipped; called past that check, the evaluator says what it wants."""
    with pytest.raises(SkipEvaluation):
        judge(evaluator, "x")
    with pytest.raises(ConfigError, match="compares with an expectation, and the case has none"):
        evaluator(Evaluable(eval_output=[NamedData("output", "x")]))


@pytest.mark.parametrize("evaluator", [LevenshteinMatch(), NumericDiff(), ListContains()])
def test_an_expectation_of_nothing_is_no_number_text_or_list(evaluator: object) -> None:
    """Null can be matched, not be similar to."""
    with pytest.raises(ConfigError, match="the expectation is null"):
        judge(evaluator, "x", None)


@pytest.mark.parametrize("evaluator", [*COMPARISONS, ValidJSON()], ids=lambda evaluator: type(evaluator).__name__)
def test_endless_nesting_is_said_to_be_too_deep(evaluator: object) -> None:
    """What Python cannot follow is a failure to observe, and no traceback."""
    deep = nested(100_000)

    with pytest.raises((ObservationError, ConfigError)):
        judge(evaluator, "[" * 100_000, deep)
    with pytest.raises((ObservationError, ConfigError)):
        judge(evaluator, deep, deep)


def test_what_would_take_minutes_is_not_begun() -> None:
    """Texts and lists whose comparison would stand still are said to be too long."""
    with pytest.raises(ObservationError, match="200000 characters and an expectation of 200000 are too long"):
        judge(LevenshteinMatch(), "x" * 200_000, "y" * 200_000)
    with pytest.raises(ObservationError, match="are too long to compare"):
        judge(JSONDiff(), ["x" * 200_000], ["y" * 200_000])
    with pytest.raises(ObservationError, match="2000 and 2000 items are too long"):
        judge(ListContains(), ["x"] * 2000, ["y"] * 2000)


def test_a_score_that_is_no_number_is_an_error() -> None:
    """Where autoevals computes NaN, nothing was judged."""
    with pytest.raises(EvaluatorError, match="nothing was measured"):
        judge(JSONDiff(), {"a": NAN}, {"a": 1})


def test_several_outputs_are_one_object() -> None:
    """Named outputs are compared as the mapping of their names."""
    outputs = [NamedData("a", 1), NamedData("b", 2)]

    assert evaluate_sync(ExactMatch(), Evaluable(eval_output=outputs, expectation={"b": 2, "a": 1})).score == 1


@pytest.mark.parametrize("evaluator", COMPARISONS[:2])
def test_the_reason_shows_both_sides_cut_short(evaluator: object) -> None:
    """A reason is a line, whatever the size of what was compared."""
    evaluation = judge(evaluator, "x" * 1000, ["y" * 1000])

    assert evaluation.reasoning.startswith("expected ")
    assert ', got "xxx' in evaluation.reasoning
    assert len(evaluation.reasoning) < 300


def test_importing_the_heuristics_does_not_load_autoevals() -> None:
    """autoevals, jsonschema and scipy are loaded by the first judgement, not before."""
    program = (
        "import sys; from pixie_otel.evals.evaluators.heuristics import ExactMatch, ListContains; "
        "ExactMatch(), ListContains(); "
        "print([name for name in ('autoevals', 'jsonschema', 'scipy', 'numpy', 'asyncio') if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_heuristics_are_values() -> None:
    """Equal settings make equal evaluators, and the settings show."""
    assert ExactMatch() == ExactMatch()
    assert ListContains() != ListContains(allow_extra_entities=True)
    assert "allow_extra_entities=True" in repr(ListContains(allow_extra_entities=True))
    assert bind(LevenshteinMatch(threshold=None, severity="warn")).threshold is None
    assert heuristics.__all__


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


@given(JSON, JSON | st.just(UNSET), st.sampled_from([*COMPARISONS, ValidJSON(), ValidJSON(schema=SCHEMA)]))
def test_any_values_give_a_score_or_an_error_of_ours(output: object, expectation: object, evaluator: object) -> None:
    """Whatever is compared, there is a score with a reason, or one of our own errors."""
    try:
        evaluation = judge(evaluator, output, expectation)
    except PixieError:
        return
    assert 0 <= evaluation.score <= 1
    assert evaluation.reasoning


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-9, 9) | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
        max_leaves=8,
    )
)
def test_what_is_expected_matches_exactly(value: object) -> None:
    """Every JSON value matches itself, and its own JSON text where it is no text."""
    assert judge(ExactMatch(), value, value).score == 1
    if not isinstance(value, str):
        assert value is None or judge(ExactMatch(), json.dumps(value), value).score == 1
