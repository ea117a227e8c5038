"""The registry says what the classes say."""

import inspect
import subprocess
import sys
from importlib import import_module

import pytest

from pixie_otel.evals.binding import bind
from pixie_otel.evals.evaluators import checks, heuristics
from pixie_otel.evals.registry import BUILTINS, DEFAULTS, BuiltinInfo

NUMBERS = {
    "MaxLatency": {"seconds": 1},
    "MaxTokens": {"tokens": 1},
    "MaxLLMCalls": {"calls": 1},
    "MaxToolCalls": {"calls": 1},
}


@pytest.mark.parametrize("info", BUILTINS.values(), ids=lambda info: info.name)
def test_every_row_describes_its_class(info: BuiltinInfo) -> None:
    """Name, needs, parameters and summary of a row are those of the class, which is trusted."""
    cls: object = getattr(import_module(info.module), info.attribute)

    bound = bind(cls(**NUMBERS.get(info.name, {})))

    assert bound.name == info.name
    assert bound.needs == info.needs
    assert bound.trusted
    assert set(info.parameters) == set(inspect.signature(cls).parameters)
    assert info.summary == inspect.getdoc(cls).partition("\n")[0].replace("``", "")
    assert info.cost == "nothing"


def test_every_evaluator_of_ours_is_listed() -> None:
    """No check and no heuristic is left out."""
    others = {"DEFAULT_CHECKS", "TraceCheck", "AutoevalsAdapter"}

    assert set(BUILTINS) == {*checks.__all__, *heuristics.__all__} - others


def test_the_defaults_are_the_default_checks() -> None:
    """`...` stands for the trace checks that want no number, in their order."""
    assert list(DEFAULTS) == [check.__name__ for check in checks.DEFAULT_CHECKS]


def test_the_registry_imports_none_of_what_it_lists() -> None:
    """Listing the evaluators loads neither autoevals, nor a check, nor asyncio."""
    program = (
        "import sys, pixie_otel.evals.registry; "
        "print([name for name in sys.modules if name.startswith('pixie_otel.evals.evaluators') "
        "or name in ('autoevals', 'asyncio', 'jsonschema')])"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
