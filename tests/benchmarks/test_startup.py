"""How long it takes until the package, or the command's help, is there."""

import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.benchmark

ROUNDS = 20
"""The fastest of this many starts counts: everything that disturbs a measurement only ever makes it slower."""


def seconds(*arguments: str) -> float:
    """Time one start of an interpreter with these arguments."""
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def ratio(ours: tuple[str, ...], theirs: tuple[str, ...]) -> float:
    """Compare two programs, started in turns so that a busy machine slows both."""
    pairs = [(seconds(*ours), seconds(*theirs)) for _ in range(ROUNDS)]
    return min(our for our, _ in pairs) / min(their for _, their in pairs)


def test_importing_the_package_is_as_quick_as_importing_the_tracing_api() -> None:
    """`import pixie_otel` takes at most 1.3 times as long as `import opentelemetry.trace`, interpreter included."""
    measured = ratio(("-c", "import pixie_otel"), ("-c", "import opentelemetry.trace"))
    print(f"import pixie_otel: {measured:.2f} times import opentelemetry.trace")

    assert measured <= 1.3


def test_help_is_as_quick_as_importing_its_library() -> None:
    """`pixie-otel --help` takes at most 1.5 times as long as `import typer`, interpreter included."""
    measured = ratio(("-m", "pixie_otel", "--help"), ("-c", "import typer"))
    print(f"pixie-otel --help: {measured:.2f} times import typer")

    assert measured <= 1.5
