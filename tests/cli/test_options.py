"""The options: what their help promises."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from typer.main import get_command

from pixie_otel.cli import options
from pixie_otel.cli.main import app
from pixie_otel.runs.eval_traces import eval_traces
from pixie_otel.traces.limits import ReadLimits

GROUP: Any = get_command(app)


@pytest.mark.parametrize("command", ["eval", "show", "evaluators"])
def test_every_option_teaches(command: str) -> None:
    """Every option that takes a value tells its default or gives an example, and often both."""
    for param in GROUP.commands[command].params:
        assert param.help, param.name
        if param.param_type_name == "option" and not param.is_flag:
            assert "Default: " in param.help or "Example" in param.help, param.name


def test_the_defaults_are_those_of_python() -> None:
    """What the help says of defaults is what `eval_traces` does when nothing is given."""
    said = {param.name: param.help for param in GROUP.commands["eval"].params}
    parameters = inspect.signature(eval_traces).parameters

    for name in ("timeout", "concurrency", "pct", "allow_errors", "select", "per", "seed"):
        default = parameters[name].default
        assert f"Default: {f'{default:g}' if isinstance(default, int | float) else default}." in said[name]
    assert f"Default: {ReadLimits().max_line_bytes} " in said["max_line_bytes"]


def test_values_complete() -> None:
    """Names of evaluators and selectors complete in a shell, whatever their case."""
    assert options._evaluator_names("exact") == ["ExactMatch"]
    assert options._selectors("l") == ["last_llm_call", "llm_calls"]
    assert options._selectors("a") == ["agent:", "attr:"]


def test_all_options_are_listed() -> None:
    """`__all__` names every option there is."""
    defined = [name for name, value in vars(options).items() if hasattr(value, "__metadata__")]

    assert sorted(options.__all__) == sorted(defined)
