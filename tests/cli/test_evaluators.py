"""`pixie-otel evaluators`."""

from __future__ import annotations

import json

from command_calls import Pixie

from pixie_otel.evals.registry import BUILTINS, DEFAULTS


def test_lists_every_evaluator(pixie: Pixie) -> None:
    """Every built-in evaluator is listed with what it needs and costs, within 80 columns."""
    done = pixie("evaluators")

    assert done.code == 0
    for name in BUILTINS:
        assert f"  {name} (needs " in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_lists_them_for_programs(pixie: Pixie) -> None:
    """`--json` gives the same as one document."""
    listed = json.loads(pixie("evaluators", "--json").out)

    assert [item["name"] for item in listed] == list(BUILTINS)
    assert [item["name"] for item in listed if item["default"]] == list(DEFAULTS)
    assert {"name", "summary", "needs", "cost", "settings", "default"} == set(listed[0])
