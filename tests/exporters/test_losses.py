"""Facts about what is said of losses."""

from __future__ import annotations

import logging

import pytest

from pixie_otel.exporters import losses
from pixie_otel.exporters.losses import LossWatch


def test_a_loss_with_breaks_is_one(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loss that comes and goes within a minute is said once, and its end tells all of it."""
    moment = 1000.0
    monkeypatch.setattr(losses.time, "monotonic", lambda: moment)
    watch = LossWatch("a slow disk")
    with caplog.at_level(logging.WARNING, "pixie_otel"):
        lost = 0
        for step in range(40):
            lost += step % 2
            watch.look({"queue_full": lost})
            moment += 1
        assert len(caplog.records) == 1
        moment += 59
        watch.look({"queue_full": lost})
    starts, ends = (record.getMessage() for record in caplog.records)
    assert "a slow disk: spans are being lost (queue_full: spans end faster than they can be written)" in starts
    assert ends == "a slow disk: lost 20 spans (queue_full: 20); no more are being lost now."


def test_what_is_lost_at_the_end_is_said_however_soon(caplog: pytest.LogCaptureFixture) -> None:
    """A shutdown does not wait for the minute, and says what was lost since it was last asked."""
    watch = LossWatch("an end")
    with caplog.at_level(logging.WARNING, "pixie_otel"):
        watch.look({"io_error": 3})
        watch.look({"io_error": 3}, last=True)
        watch.look({"io_error": 3}, last=True)
    assert [record.getMessage().partition("(")[0] for record in caplog.records] == [
        "an end: spans are being lost ",
        "an end: lost 3 spans ",
    ]
