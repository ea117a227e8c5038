"""What is said inside somebody else's application."""

import logging

import pytest

from pixie_otel import diagnostics
from pixie_otel.errors import PixieError, WrapRegistryMissError, WrapTypeMismatchError


@pytest.fixture(autouse=True)
def _nothing_said_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_last", "_held_back", "_errors"):
        monkeypatch.setattr(diagnostics, name, {})


def test_a_warning_of_one_kind_is_logged_once_a_minute(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within a minute the same kind is not logged again; the next message says how many were held back."""
    now = [1000.0]
    monkeypatch.setattr(diagnostics.time, "monotonic", lambda: now[0])

    for _ in range(4):
        diagnostics.warn("disk", "the disk is full")
    diagnostics.warn("other", "something else")
    now[0] += 61
    diagnostics.warn("disk", "the disk is full")

    assert caplog.messages == [
        "the disk is full",
        "something else",
        "the disk is full (and 3 times more since it was last said)",
    ]


def test_notes_are_no_warnings(caplog: pytest.LogCaptureFixture) -> None:
    """What is good to know is logged on the level of information."""
    with caplog.at_level(logging.INFO, "pixie_otel"):
        diagnostics.note("off", "tracing is off")

    assert [(record.levelname, record.message) for record in caplog.records] == [("INFO", "tracing is off")]


def test_a_fault_of_our_own_is_counted_and_said(caplog: pytest.LogCaptureFixture) -> None:
    """Each internal error counts under what was being done; its traceback shows on level DEBUG only."""
    with caplog.at_level(logging.DEBUG, "pixie_otel"):
        diagnostics.internal_error("recording a value", ValueError("inner"))
        diagnostics.internal_error("recording a value", ValueError("inner"))

    assert diagnostics.internal_errors() == {"recording a value": 2}
    assert [record.levelname for record in caplog.records] == ["WARNING", "DEBUG", "DEBUG"]
    assert "recording a value failed inside pixie-otel (ValueError)" in caplog.messages[0]
    assert caplog.records[1].exc_info is not None


def test_a_log_handler_that_fails_or_comes_back_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    """A handler of the application may raise, or log through the same way again, without end or exception."""
    seen: list[str] = []

    class Hostile(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(record.getMessage())
            diagnostics.warn("again", "a warning from within a log handler")
            raise RuntimeError("a broken handler")

    handler = Hostile()
    diagnostics.LOGGER.addHandler(handler)
    monkeypatch.setattr(diagnostics.LOGGER, "propagate", False)
    try:
        diagnostics.warn("first", "said once")
        diagnostics.warn("second", "and then another")
    finally:
        diagnostics.LOGGER.removeHandler(handler)

    assert seen == ["said once", "and then another"]


def test_an_error_whose_report_fails_stays_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where counting itself fails, reporting an internal error raises nothing."""
    monkeypatch.setattr(diagnostics, "_errors", None)

    diagnostics.internal_error("anything", MemoryError())


def test_the_errors_of_replayed_inputs_say_what_to_do() -> None:
    """They name the wrap, what there was instead and where to correct it, and survive pickling."""
    import pickle

    miss = WrapRegistryMissError("docs", ("profile",))
    mismatch = WrapTypeMismatchError("docs", "list[str]", "it is 3")

    assert issubclass(WrapRegistryMissError, PixieError)
    assert issubclass(WrapRegistryMissError, KeyError)
    assert issubclass(WrapTypeMismatchError, PixieError)
    assert issubclass(WrapTypeMismatchError, TypeError)
    assert str(miss) == (
        "wrap(purpose=\"input\", name='docs'): no recorded value has this name; there are 'profile'. "
        "Add it to the entry's eval_input, or correct the name."
    )
    assert "cannot become list[str]: it is 3" in str(mismatch)
    for error in (miss, mismatch):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again)) == (type(error), str(error))
