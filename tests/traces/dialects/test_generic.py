"""What needs no dialect."""

from __future__ import annotations

from observed import event, observed


def test_plain_keys() -> None:
    """Any span may say what went in and out, who asked, and in which session."""
    span = observed({"input": '{"a": 1}', "output": "x", "session.id": "s", "enduser.id": "u"})

    assert (span.input, span.output, span.session_id, span.user_id) == ({"a": 1}, "x", "s", "u")
    assert span.dialects == ("generic",)
    assert observed({"user.id": "u", "enduser.id": "v"}).user_id == "u"


def test_events_of_others_say_nothing() -> None:
    """An event that begins like a dialect's keys and says nothing is no reading."""
    assert observed({}, event("gen_ai")).dialects == ()


def test_nothing_said() -> None:
    """Keys that only begin alike say nothing."""
    assert observed({"input.tokens": 5, "user.name": "x"}).dialects == ()


def test_metadata() -> None:
    """Metadata as JSON may name the session and the user; keys of their own come first."""
    metadata = '{"thread_id": "t", "user_id": "u"}'

    assert (observed({"metadata": metadata}).session_id, observed({"metadata": metadata}).user_id) == ("t", "u")
    assert observed({"metadata": metadata, "session.id": "s"}).session_id == "s"
    assert observed({"metadata": "[1]"}).dialects == ()


def test_nothing_as_json() -> None:
    """Nothing that was written as JSON is nothing."""
    span = observed({"input": "Hi", "output": "null"})

    assert (span.input, span.output) == ("Hi", None)


def test_plain_names() -> None:
    """An app may write its session and its user under the plainest of names; a thread may be any."""
    span = observed({"session_id": "s", "userId": 7, "thread_id": 140})

    assert (span.session_id, span.user_id) == ("s", "7")
    assert observed({"thread_id": 140}).session_id is None
