"""The cases that a report shows."""

from __future__ import annotations

from case_results import case_result, case_results, result
from hypothesis import given, settings
from hypothesis import strategies as st

from pixie_otel.evals.case import CaseResult
from pixie_otel.reports.case_board import CaseBoard, CaseGroup, group_of


def shown(board: CaseBoard) -> list[tuple[str, int, list[str]]]:
    """Give what a board has, by ids."""
    return [(group.value, count, [kept.case.id for kept in cases]) for group, count, cases in board.groups()]


def test_those_that_need_a_look_come_first() -> None:
    """Failed cases come before errors, these before warnings, and these before what is well."""
    board = CaseBoard()
    warned = case_result("w", "passed")
    board.add(CaseResult(warned.case, (*warned.results, result("measured", warn=True))))
    for case_id, outcomes in {"p": ["passed"], "e": ["error", "failed"], "f": ["failed"], "s": ["skipped"]}.items():
        board.add(case_result(case_id, *outcomes))

    assert shown(board) == [
        ("failed", 1, ["f"]),
        ("error", 1, ["e"]),
        ("warned", 1, ["w"]),
        ("passed", 1, ["p"]),
        ("skipped", 1, ["s"]),
    ]


@given(st.permutations(range(8)))
def test_the_first_are_kept_in_whatever_order_they_come(order: list[int]) -> None:
    """Of each group the first by start and id are kept, and all are counted."""
    board = CaseBoard(3)
    for number in order:
        board.add(case_result(str(number), "passed", start=10 - number // 2))

    assert shown(board) == [("passed", 8, ["6", "7", "4"])]


def test_a_board_may_only_count() -> None:
    """With no room at all, cases are counted."""
    board = CaseBoard(0)
    board.add(case_result("a", "passed"))

    assert shown(board) == [("passed", 1, [])]


@settings(max_examples=30)
@given(case_results)
def test_every_case_has_a_group(case: CaseResult) -> None:
    """Any case belongs somewhere, is counted, and is kept without what it was made of."""
    board = CaseBoard(None)
    board.add(case)

    ((group, count, (kept,)),) = board.groups()
    assert (group, count) == (group_of(case), 1)
    assert kept.case.evaluable is None
    assert kept.results == case.results
    needs_a_look = group in {CaseGroup.FAILED, CaseGroup.ERROR, CaseGroup.WARNED}
    assert board.first_trace_to_look_at() == (case.case.trace_id if needs_a_look else None)
