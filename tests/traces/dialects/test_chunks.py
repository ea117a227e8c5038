"""The pieces of a streamed answer."""

from __future__ import annotations

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.chunks import joined_chunks


def piece(delta: JsonValue, reason: str | None = None) -> JsonValue:
    """Give one chunk."""
    return {"id": "c1", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}], "usage": None}


def test_texts_are_joined() -> None:
    """The answer's text, the reason and the usage, which comes last and without a choice."""
    usage: JsonValue = {"prompt_tokens": 1}
    pieces = [piece({"role": "assistant", "content": ""}), piece({"content": "Par"}), piece({"content": "is."})]

    assert joined_chunks([*pieces, piece({}, "stop"), {"choices": [], "usage": usage}]) == {
        "id": "c1",
        "model": "m",
        "usage": usage,
        "choices": [{"message": {"role": "assistant", "content": "Paris."}, "finish_reason": "stop"}],
    }


def test_calls_are_joined() -> None:
    """Each piece says which call it belongs to; ids and names come once, arguments bit by bit."""

    def call(index: JsonValue, function: JsonValue, **fields: JsonValue) -> JsonValue:
        return piece({"tool_calls": [{"index": index, "function": function, **fields}]})

    response = joined_chunks(
        [
            call(1, {"name": "g", "arguments": "{}"}, id="b"),
            call(0, {"name": "f", "arguments": '{"a"'}, id="a"),
            call(0, {"arguments": ": 1}"}),
            call(2, "no function"),
            piece({"tool_calls": ["no call"]}),
            piece({"tool_calls": 5}),
        ]
    )

    assert response is not None
    assert response["choices"] == [
        {
            "message": {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"id": "a", "function": {"name": "f", "arguments": '{"a": 1}'}},
                    {"id": "b", "function": {"name": "g", "arguments": "{}"}},
                ],
            },
            "finish_reason": None,
        }
    ]


def test_calls_are_bounded() -> None:
    """A stream that counts its calls to a thousand keeps the first of them."""
    pieces = [piece({"tool_calls": [{"index": i, "function": {"arguments": "x"}}]}) for i in range(1000)]
    response = joined_chunks(pieces)

    assert response is not None
    assert str(response).count("arguments") == 256


def test_what_is_no_chunk() -> None:
    """Anything else says nothing."""
    assert joined_chunks([None, "x", {"choices": 5}, {"choices": []}, {"choices": ["x", {"delta": 1}]}]) is None
