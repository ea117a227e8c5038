"""Tracing as tests have it: switched on for a test, with a private provider, and off again."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from opentelemetry.trace import Tracer
from tracing_runtime import Recorded, recording

from pixie_otel.tracing import runtime
from pixie_otel.tracing.hub import SpanHub


@pytest.fixture
def recorded() -> Iterator[Recorded]:
    """Tracing is on."""
    with recording() as found:
        yield found


@pytest.fixture
def hub() -> Iterator[SpanHub]:
    """A hub on a private provider, in force."""
    hub = SpanHub()
    with recording(processors=[hub], hub=hub):
        yield hub
    hub.close()


@pytest.fixture
def tracer(hub: SpanHub) -> Tracer:
    """A tracer of that provider."""
    current = runtime.current()
    assert current is not None
    return current.tracer


@pytest.fixture
def nothing_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing is logged in the test; above all not "Failed to detach context"."""
    with caplog.at_level(logging.WARNING):
        yield
    assert caplog.records == []
