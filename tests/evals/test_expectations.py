"""Facts about expectations files."""

import json
from pathlib import Path
from typing import Any

import pytest
from case_results import evaluables, json_values
from hypothesis import given

from pixie_otel.errors import ConfigError
from pixie_otel.evals.expectations import Expectation, Expectations
from pixie_otel.evaluable import UNSET, Evaluable, JsonValue, NamedData, ToolCall


def _load(folder: Path, *rows: dict[str, Any]) -> Expectations:
    path = folder / "expected.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return Expectations(path)


def _text(folder: Path, name: str, text: str) -> Expectations:
    (folder / name).write_text(text, encoding="utf-8")
    return Expectations(folder / name)


def _case(value: JsonValue, *others: tuple[str, JsonValue]) -> Evaluable:
    return Evaluable([NamedData("input", value), *(NamedData(*other) for other in others)])


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give one folder to all examples of a property."""
    return tmp_path_factory.mktemp("expectations")


def test_a_row_is_found_by_its_trace(tmp_path: Path) -> None:
    """A trace id leads to its row, in either case of letters and whatever the input is."""
    found = _load(tmp_path, {"trace_id": " ABC1 ", "expectation": "x"}).match("abC1", _case("anything"))
    assert found == Expectation(1, "abc1", expectation="x")


def test_the_trace_goes_before_the_input(tmp_path: Path) -> None:
    """Of a row for the trace and one for the input, the one for the trace counts."""
    rows = _load(tmp_path, {"input": "q", "expectation": 1}, {"trace_id": "t", "expectation": 2})
    by_trace, by_input = rows.match("t", _case("q")), rows.match("u", _case("q"))
    assert by_trace is not None
    assert by_trace.expectation == 2
    assert by_input is not None
    assert by_input.expectation == 1
    assert rows.match("u", _case("other")) is None
    assert rows.match(None, Evaluable([])) is None


def test_a_row_with_both_is_for_the_trace(tmp_path: Path) -> None:
    """A row with a trace id and an input is for that trace alone."""
    rows = _load(tmp_path, {"trace_id": "t", "input": "q", "expectation": 1})
    assert rows.match("u", _case("q")) is None
    assert rows.match("t", _case("other")) is not None


@given(json_values.filter(lambda value: value is not None))
def test_equal_inputs_match_as_json(folder: Path, value: JsonValue) -> None:
    """An input matches the row with the same JSON, as value or as the text that a program wrote of it."""
    rows = _load(folder, {"input": value, "expectation": 1})
    assert rows.match(None, _case(value)) is not None
    assert rows.match(None, _case(json.dumps(value, indent=1))) is not None
    assert _load(folder, {"input": json.dumps(value), "expectation": 1}).match(None, _case(value)) is not None


@pytest.mark.parametrize(
    ("row", "case"),
    [
        ("question", " question\n"),
        ({"a": 1, "b": [2.0]}, {"b": [2], "a": 1.0}),
        ("42", 42),
        (" 42 ", "42"),
        ("42", '"42"'),
        ('{"a": 1}', {"a": 1}),
    ],
)
def test_inputs_that_mean_the_same_match(tmp_path: Path, row: JsonValue, case: JsonValue) -> None:
    """Space around text, the order of keys and the form of numbers make no difference."""
    assert _load(tmp_path, {"input": row, "expectation": 1}).match(None, _case(case)) is not None


@pytest.mark.parametrize(("row", "case"), [("a", "b"), (1, True), ([1, 2], [2, 1]), ("a b", "a  b"), ({"a": 1}, "a")])
def test_inputs_that_differ_do_not_match(tmp_path: Path, row: JsonValue, case: JsonValue) -> None:
    """Other text, other types and another order of a list are other inputs."""
    assert _load(tmp_path, {"input": row, "expectation": 1}).match(None, _case(case)) is None


def test_several_inputs_match_by_the_first_or_all(tmp_path: Path) -> None:
    """A case with named inputs is found by its first value, and by all of them by name."""
    case = _case("q", ("plan", "pro"))
    assert _load(tmp_path, {"input": "q", "expectation": 1}).match(None, case) is not None
    both = _load(tmp_path, {"input": {"plan": "pro", "input": "q"}, "expectation": 1})
    assert both.match(None, case) is not None


QUESTION = "What is the capital of France?"


@pytest.mark.parametrize(
    "recorded",
    [
        [{"role": "user", "content": QUESTION}],
        [
            {"role": "user", "content": "Hello."},
            {"role": "assistant", "content": "Hi."},
            {"role": "user", "content": f" {QUESTION}\n"},
            {"role": "assistant", "content": "", "tool_calls": [{"name": "search"}]},
            {"role": "tool", "content": "Paris"},
        ],
        [{"role": "user", "content": [{"type": "image", "url": "x"}, {"type": "text", "text": QUESTION}]}],
        {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": QUESTION}], "k": 1},
        json.dumps({"messages": [{"type": "human", "data": {"content": QUESTION, "type": "human"}}]}),
        {"messages": [{"lc": 1, "id": ["HumanMessage"], "kwargs": {"content": QUESTION, "type": "human"}}]},
        {"question": QUESTION},
    ],
)
def test_a_conversation_is_found_by_what_the_user_said_last(tmp_path: Path, recorded: JsonValue) -> None:
    """A plain question fits the conversation that ends in it, in every form that producers record, and the one text."""
    rows = _load(tmp_path, {"input": QUESTION, "expectation": "Paris"})
    assert rows.match(None, _case(recorded, ("plan", "pro"))) is not None
    assert rows.unmatched() == []


@pytest.mark.parametrize(
    "recorded",
    [
        [{"role": "user", "content": QUESTION}, {"role": "user", "content": "Never mind."}],
        [{"role": "user", "content": [{"type": "image", "url": "x"}]}],
        [{"role": "user", "content": None}],
        [{"role": "assistant", "content": QUESTION}],
        {"messages": QUESTION, "k": 1},
        {"question": QUESTION, "style": "short"},
        {"messages": []},
        [QUESTION],
        [],
        {},
    ],
)
def test_a_question_within_something_else_is_no_input(tmp_path: Path, recorded: JsonValue) -> None:
    """What the user said earlier, what others said, and one text among other values are not the input."""
    rows = _load(tmp_path, {"input": QUESTION, "expectation": "Paris"}, {"input": "", "expectation": ""})
    assert rows.match(None, _case(recorded)) is None


def test_the_whole_conversation_goes_before_its_last_message(tmp_path: Path) -> None:
    """Of a row for the conversation and one for its last user message, the one that says more counts."""
    conversation: JsonValue = [{"role": "user", "content": "Hi."}, {"role": "user", "content": QUESTION}]
    rows = _load(tmp_path, {"input": QUESTION, "expectation": 1}, {"input": conversation, "expectation": 2})
    found = rows.match(None, _case(conversation))
    assert found is not None
    assert found.expectation == 2


def test_recorded_inputs_may_be_nested_without_end(tmp_path: Path) -> None:
    """A recorded input that Python cannot even write out matches nothing, and its trace id still does."""
    deep: JsonValue = []
    for _ in range(5000):
        deep = [deep]
    rows = _load(tmp_path, {"trace_id": "t", "expectation": 1}, {"input": "q", "expectation": 2})
    assert rows.match("u", _case(deep)) is None
    assert rows.match("t", _case(deep)) is not None
    assert rows.match("u", _case(10**5000)) is None


def test_null_expects_nothing_and_absence_says_nothing(tmp_path: Path) -> None:
    """``null`` is an expectation; a row without the key leaves it open and gives something else."""
    rows = _load(tmp_path, {"input": 1, "expectation": None}, {"input": 2, "context": "ground"})
    (null, absent) = (rows.match(None, _case(value)) for value in (1, 2))
    assert null is not None
    assert null.apply(_case(1)).expectation is None
    assert absent is not None
    assert absent.expectation is UNSET
    assert absent.apply(_case(2)) == Evaluable([NamedData("input", 2)], context=["ground"])


@given(evaluables)
def test_a_row_changes_only_what_it_gives(evaluable: Evaluable) -> None:
    """A row that gives nothing new leaves an equal evaluable, and the original is never touched."""
    before = repr(evaluable)
    assert Expectation(1).apply(evaluable) == evaluable
    changed = Expectation(1, expectation=[1], eval_metadata={"k": 1}, description="d").apply(evaluable)
    assert changed.expectation == [1]
    assert changed.description == "d"
    assert changed.eval_metadata == {**(evaluable.eval_metadata or {}), "k": 1}
    assert changed.eval_output == evaluable.eval_output
    assert repr(evaluable) == before


def test_everything_that_a_row_can_give(tmp_path: Path) -> None:
    """A row gives expectation, context, tools, metadata and description; texts stand for one context or tool."""
    rows = _load(
        tmp_path,
        {
            "input": "q",
            "expected_output": {"x": 1},
            "context": ["a", "b"],
            "expected_tools": ["search", {"name": "book", "arguments": {"id": 1}}],
            "metadata": {"k": "v"},
            "description": "d",
        },
    )
    row = rows.match(None, _case("q"))
    assert row is not None
    found = row.apply(_case("q"))
    assert found.expectation == {"x": 1}
    assert found.context == ["a", "b"]
    assert found.expected_tools == [ToolCall("search"), ToolCall("book", {"id": 1})]
    assert found.eval_metadata == {"k": "v"}
    assert found.description == "d"


def test_a_table_holds_text(tmp_path: Path) -> None:
    """In CSV every expectation is text, an empty cell is not given, and lists and objects are JSON."""
    rows = _text(
        tmp_path,
        "e.csv",
        'input,expectation,context,expected_tools,eval_metadata\nq1,42,,,\nq2,,one text,"[""search""]","{""k"": 1}"\n'
        'q3,"[1]","[""a"", ""b""]",,\n',
    )
    found = [rows.match(None, _case(value)) for value in ("q1", "q2", "q3")]
    assert found == [
        Expectation(2, None, "q1", "42"),
        Expectation(3, None, "q2", UNSET, ["one text"], [ToolCall("search")], {"k": 1}),
        Expectation(4, None, "q3", "[1]", ["a", "b"]),
    ]


def test_an_array_is_read_like_lines(tmp_path: Path) -> None:
    """A JSON document may hold the rows as an array."""
    assert len(_text(tmp_path, "e.json", '[{"input": 1, "expectation": 2}, {"input": 3, "expectation": 4}]')) == 2


def test_double_and_unmatched_rows_are_reported(tmp_path: Path) -> None:
    """Of several rows for one key the first counts; the others, and rows that fit no case, are problems with a line."""
    rows = _load(
        tmp_path,
        {"input": "q", "expectation": 1},
        {"input": " q ", "expectation": 2},
        {"trace_id": "t", "expectation": 3},
        {"input": {"long": "x" * 200}, "expectation": 4},
    )
    found = rows.match(None, _case("q"))
    assert found is not None
    assert found.expectation == 1
    assert [row.line for row in rows.unmatched()] == [3, 4]
    assert [problem.line for problem in rows.problems(complete=False)] == [2]
    problems = rows.problems()
    assert [(problem.kind, problem.line) for problem in problems] == [
        ("double-expectation", 2),
        ("unmatched-expectation", 3),
        ("unmatched-expectation", 4),
    ]
    assert "as line 1, which counts" in problems[0].message
    assert problems[1].trace_id == "t"
    assert problems[1].message == "fits no case: none has this trace t; a whole id has 32 digits"
    assert len(problems[2].message) < 200
    assert all(problem.source == str(tmp_path / "expected.jsonl") for problem in problems)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"expectation": 1}, "names neither trace_id nor input: give the one or the other"),
        ({"input": None, "expectation": 1}, "names neither trace_id nor input"),
        ({"input": 1}, "gives nothing: add an expectation, or one of context, "),
        ({"input": 1, "expectation": 1, "expected": 1}, "expected: no such field; there are expectation, "),
        ({"input": 1, "expectation": 1, "expected_output": 1}, "expectation is given twice, also as expected_output"),
        ({"trace_id": 7, "expectation": 1}, "trace_id: Input should be a valid string, not 7"),
        ({"input": 1, "context": [1]}, "context.0: Input should be a valid string, not 1"),
        ({"input": 1, "expected_tools": [{"name": "t", "x": 1}]}, "expected_tools.0.x: Extra inputs"),
        ({"input": 1, "eval_metadata": "x" * 200}, "eval_metadata: Input should be a valid dictionary, not 'xxx"),
    ],
)
def test_a_wrong_row_is_told_with_its_line(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    """A row that is wrong is a `ConfigError` with file, line and what is wrong."""
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, {"input": "fine", "expectation": 1}, row)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'expected.jsonl'}:2: {said}")
    assert len(message) < 400


def test_all_wrong_rows_are_told_at_once(tmp_path: Path) -> None:
    """Rows that are no JSON and rows that are wrong are one error; what goes past fifty is counted."""
    text = "\n".join(["nonsense", '{"input": 1}', *(f'{{"a{number}": 1, "b{number}": 2}}' for number in range(40))])
    with pytest.raises(ConfigError) as caught:
        _text(tmp_path, "e.jsonl", text)
    lines = str(caught.value).splitlines()
    assert [line.split(":")[1] for line in lines[:4]] == ["1", "2", "3", "3"]
    assert len(lines) == 51
    assert lines[-1] == "and 32 more"


def test_what_is_wrong_with_every_row_is_told_once(tmp_path: Path) -> None:
    """A column that nobody knows is one problem, however many rows there are, and says which one may be meant."""
    rows = "".join(f"q{number},x,y,z\n" for number in range(100))
    with pytest.raises(ConfigError) as caught:
        _text(tmp_path, "e.csv", f"Input,Expectation,Context,note\n{rows}")
    lines = str(caught.value).splitlines()
    where = f"{tmp_path / 'e.csv'}:2: "
    assert lines[0] == f"{where}Input: no such field; did you mean input? (and in 99 more rows)"
    assert [line.removeprefix(where).partition(":")[0] for line in lines] == ["Input", "Expectation", "Context", "note"]


def test_a_structured_cell_that_is_no_json_is_told(tmp_path: Path) -> None:
    """A cell that begins like a list or an object has to be one."""
    with pytest.raises(ConfigError, match=r"e\.csv:2: context: this column holds JSON, and '\[a' is none"):
        _text(tmp_path, "e.csv", "input,context\nq,[a\n")


def test_an_input_nested_too_deep_is_told(tmp_path: Path) -> None:
    """A row's input that is too deep to be compared is a problem of its line."""
    with pytest.raises(ConfigError, match=r":1: (input: )?is nested too deep"):
        _text(tmp_path, "e.jsonl", '{"input": ' + "[" * 700 + "]" * 700 + ', "expectation": 1}')


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_a_file_without_rows_is_refused(tmp_path: Path, text: str) -> None:
    """A file that expects nothing of anything is surely the wrong one."""
    with pytest.raises(ConfigError, match="holds no expectations"):
        _text(tmp_path, "e.jsonl", text)
