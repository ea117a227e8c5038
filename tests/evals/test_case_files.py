"""Facts about files of finished cases."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from case_results import json_values
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.errors import ConfigError, InputError
from pixie_otel.evals.case import Case
from pixie_otel.evals.case_files import CaseFile
from pixie_otel.evaluable import UNSET, Document, Evaluable, JsonValue, NamedData, ToolCall


def _load(folder: Path, *rows: dict[str, Any]) -> list[Case]:
    return list(_text(folder, "cases.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))


def _text(folder: Path, name: str, text: str) -> CaseFile:
    (folder / name).write_text(text, encoding="utf-8")
    return CaseFile(folder / name)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give one folder to all examples of a property."""
    return tmp_path_factory.mktemp("cases")


def test_a_row_becomes_a_case(tmp_path: Path) -> None:
    """Everything that a row can give is in the case, and nothing else."""
    (case,) = _load(
        tmp_path,
        {
            "id": "q1",
            "input": "question",
            "output": {"answer": 1},
            "expectation": "x",
            "context": "ground",
            "retrieval_context": ["text", {"content": "more", "id": "d2", "score": 0.5, "metadata": {"k": 1}}],
            "tools_called": [{"name": "search", "arguments": {"q": 1}, "result": None}],
            "expected_tools": ["search"],
            "metadata": {"m": 1},
            "description": "first",
            "token_cost": 0.01,
            "completion_time": 2,
        },
    )
    assert case == Case(
        "q1",
        "first",
        Evaluable(
            [NamedData("input", "question")],
            [NamedData("output", {"answer": 1})],
            "x",
            {"m": 1},
            "first",
            ["ground"],
            [ToolCall("search")],
            retrieval_context=[Document("text"), Document("more", "d2", 0.5, {"k": 1})],
            tools_called=[ToolCall("search", {"q": 1}, result=None)],
            token_cost=0.01,
            completion_time=2.0,
        ),
    )


@given(json_values, json_values)
def test_values_come_as_they_are(folder: Path, given_input: JsonValue, output: JsonValue) -> None:
    """Inputs and outputs of any JSON type are taken over unchanged, null included."""
    (case,) = _load(folder, {"input": given_input, "output": output})
    assert case.evaluable == Evaluable([NamedData("input", given_input)], [NamedData("output", output)])
    assert case.name


def test_what_is_not_given_stays_open(tmp_path: Path) -> None:
    """Without an output the app was not run, and without an expectation none is known."""
    (case,) = _load(tmp_path, {"input": 1})
    assert case.evaluable is not None
    assert case.evaluable.eval_output is None
    assert case.evaluable.expectation is UNSET
    assert case.evaluable.tools_called is None


def test_several_inputs_and_outputs_by_name(tmp_path: Path) -> None:
    """``eval_input`` and ``eval_output`` hold named values, also none."""
    (case,) = _load(
        tmp_path, {"eval_input": [{"name": "a", "value": 1}, {"name": "b", "value": None}], "eval_output": []}
    )
    assert case.evaluable == Evaluable([NamedData("a", 1), NamedData("b", None)], [])


def test_other_tools_names_are_understood(tmp_path: Path) -> None:
    """``case_id``, ``actual_output`` and ``expected_output`` mean what they mean elsewhere; an id may be a number."""
    (case,) = _load(tmp_path, {"case_id": 7, "input": 1, "actual_output": 2, "expected_output": 3})
    assert case.id == "7"
    assert case.evaluable == Evaluable([NamedData("input", 1)], [NamedData("output", 2)], 3)


def test_a_table_holds_text(tmp_path: Path) -> None:
    """In CSV values are text, numbers of ours are numbers, lists are JSON or one text, and empty is not given."""
    first, second = _text(
        tmp_path,
        "c.csv",
        "id,input,output,context,retrieval_context,tools_called,token_cost\n"
        '1,q,42,one,two,"[{""name"": ""t""}]",0.5\n2,q2,,,"[""a"", ""b""]",,\n',
    )
    assert first.evaluable == Evaluable(
        [NamedData("input", "q")],
        [NamedData("output", "42")],
        context=["one"],
        retrieval_context=[Document("two")],
        tools_called=[ToolCall("t")],
        token_cost=0.5,
    )
    assert second.evaluable == Evaluable([NamedData("input", "q2")], retrieval_context=[Document("a"), Document("b")])


def test_ids_come_from_the_input(tmp_path: Path) -> None:
    """Without ids, the same inputs have the same ids in every file, whatever the outputs and the order of rows."""
    rows: list[dict[str, Any]] = [{"input": value, "output": 1} for value in ("a", {"x": 1}, "b")]
    ids = {str(case.evaluable): case.id for case in _load(tmp_path, *rows)}
    assert len(set(ids.values())) == 3
    assert {str(case.evaluable): case.id for case in _load(tmp_path, *rows[::-1])} == ids
    changed = _load(tmp_path, *({**row, "output": 2} for row in rows))
    assert [case.id for case in changed] == list(ids.values())


def test_the_same_input_twice_has_two_ids(tmp_path: Path) -> None:
    """Repeated inputs are counted in their ids, so that an id stands once."""
    ids = [case.id for case in _load(tmp_path, {"input": 1}, {"input": 1.0}, {"input": 1})]
    assert ids == [ids[0], f"{ids[0]}-2", f"{ids[0]}-3"]


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"input": "a\n  b"}, "a b"),
        ({"input": {"q": 1}}, '{"q":1}'),
        ({"input": "x" * 100}, "x" * 59 + "…"),
        ({"input": "q", "description": "d"}, "d"),
        ({"input": " ", "id": "i"}, "i"),
        ({"eval_input": [], "id": "i"}, "i"),
    ],
)
def test_a_case_has_a_name_for_people(tmp_path: Path, row: dict[str, Any], name: str) -> None:
    """A case is called by its description, else by its input on one line, else by its id."""
    assert [case.name for case in _load(tmp_path, row)] == [name]


def test_cases_are_read_as_often_as_one_likes(tmp_path: Path) -> None:
    """A case file knows its length and can be read again."""
    cases = _text(tmp_path, "c.json", '[{"input": 1}, {"input": 2}]')
    assert len(cases) == 2
    assert list(cases) == list(cases)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"output": 1}, "input: missing; a case has an input"),
        ({"input": 1, "eval_input": []}, "input: given beside eval_input"),
        ({"input": 1, "output": 1, "eval_output": []}, "output: given beside eval_output"),
        ({"input": 1, "output": 1, "actual_output": 1}, "output is given twice, also as actual_output"),
        ({"input": 1, "answer": 1}, "answer: no such field; there are expectation, "),
        ({"input": 1, "id": ""}, "id: String should have at least 1 character"),
        ({"input": 1, "id": "first"}, "id: 'first' stands in line 1 already"),
        ({"input": 1, "token_cost": -1}, "token_cost: Input should be greater than or equal to 0"),
        ({"input": 1, "token_cost": "1"}, "token_cost: Input should be a valid number, not '1'"),
        ({"input": 1, "retrieval_context": [{"text": 1}]}, "retrieval_context.0.content: Field required"),
        ({"input": 1, "eval_output": [{"name": "a"}]}, "eval_output.0.value: Field required"),
    ],
)
def test_a_wrong_row_is_told_with_its_line(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    """A row that is wrong is a `ConfigError` with file, line and what is wrong, before any case is judged."""
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, {"input": "fine", "id": "first"}, row)
    assert str(caught.value).startswith(f"{tmp_path / 'cases.jsonl'}:2: {said}")


def test_all_wrong_rows_are_told_at_once(tmp_path: Path) -> None:
    """Every row that is wrong is in one error."""
    with pytest.raises(ConfigError) as caught:
        _text(tmp_path, "c.jsonl", '{"input": 1}\nnonsense\n{"output": 1}\n{"input": 1, "x": 1}\n')
    assert [line.split(":")[1] for line in str(caught.value).splitlines()] == ["2", "3", "4"]


def test_an_input_nested_too_deep_is_told(tmp_path: Path) -> None:
    """A row that is nested deeper than it can be written out is a problem of its line."""
    with pytest.raises(ConfigError, match=r":1: (input: )?is nested too deep"):
        _text(tmp_path, "c.jsonl", '{"input": ' + "[" * 700 + "]" * 700 + "}")


def test_a_file_without_cases_is_no_input(tmp_path: Path) -> None:
    """A file with nothing to judge is an `InputError`, as a trace file without traces is."""
    with pytest.raises(InputError, match=r"c\.csv: holds no case"):
        _text(tmp_path, "c.csv", "input,output\n")


def test_a_big_file_is_streamed(tmp_path: Path) -> None:
    """Memory does not grow with the values in a file: 20 MB of cases are read within a small part of that."""
    path = tmp_path / "big.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for index in range(200):
            file.write(json.dumps({"id": str(index), "input": "x" * 100_000}) + "\n")
    tracemalloc.start()
    try:
        assert sum(1 for _ in CaseFile(path)) == 200
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000


@given(st.lists(st.dictionaries(st.sampled_from(["input", "output", "id"]), json_values), max_size=4))
def test_any_rows_end_in_cases_or_our_errors(folder: Path, rows: list[dict[str, Any]]) -> None:
    """Whatever the values are, the rows become cases with ids of their own, or an error of ours."""
    try:
        cases = _load(folder, *rows)
    except (ConfigError, InputError):
        return
    assert len({case.id for case in cases}) == len(cases) == len(rows)
