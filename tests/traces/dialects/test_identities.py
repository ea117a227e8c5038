"""Who used an app and in which session."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from observed import observed

from pixie_otel.traces.dialects.identities import first_identity, identity

if TYPE_CHECKING:
    from pixie_otel.evaluable import JsonValue


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("u", "u"),
        (42, "42"),
        ("", None),
        (None, None),
        (True, None),
        (1.5, None),
        (["u"], None),
        ("null", None),
        ("[Scrubbed due to 'session']", None),
    ],
)
def test_ids_are_texts_or_numbers(value: JsonValue, said: str | None) -> None:
    """Databases number their users; what is neither text nor a number, or says that there is none, is no id."""
    assert identity(value) == said


def test_the_first_that_says_something_counts() -> None:
    """An empty id does not hide the next."""
    assert first_identity({"a": "", "b": 7, "c": "x"}, ("z", "a", "b", "c")) == "7"
    assert first_identity({}, ("a",)) is None
    assert first_identity(None, ("a",)) is None


@pytest.mark.parametrize("name", ["session_id", "sessionId", "thread_id", "threadId", "conversation_id", "chatId"])
@pytest.mark.parametrize(
    "prefix",
    [
        "traceloop.association.properties.",
        "langfuse.observation.metadata.",
        "langfuse.trace.metadata.",
        "langsmith.metadata.",
        "ai.telemetry.metadata.",
    ],
)
def test_names_are_the_same_everywhere(prefix: str, name: str) -> None:
    """What an application calls its session does not depend on which instrumentation it gives it to."""
    assert observed({f"{prefix}{name}": "s"}).session_id == "s"
    assert observed({f"{prefix}{name}": 42}).session_id == "42"


@pytest.mark.parametrize("kind", [{}, {"openinference.span.kind": "CHAIN"}, {"mlflow.spanType": '"CHAIN"'}])
def test_names_in_metadata(kind: dict[str, JsonValue]) -> None:
    """So it is where all metadata stands in one attribute."""
    metadata = json.dumps({"sessionId": "s", "userId": 7})

    span = observed({**kind, "metadata": metadata})

    assert (span.session_id, span.user_id) == ("s", "7")


def test_the_apps_own_session_comes_first() -> None:
    """Frameworks number conversations by themselves; what the app calls its session stands beside that."""
    span = observed({"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "c", "session.id": "s"})

    assert span.session_id == "s"
    assert observed({"gen_ai.operation.name": "chat", "gen_ai.thread.id": "t"}).session_id == "t"
