"""Objects written as Python shows them."""

from __future__ import annotations

import pytest

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.shown_objects import opened


def test_messages_of_llamaindex() -> None:
    """LlamaIndex's messages are fields and blocks."""
    shown = (
        "ChatMessage(role=<MessageRole.SYSTEM: 'system'>, additional_kwargs={}, "
        "blocks=[TextBlock(block_type='text', text='You\\'re a \"bot\".\\n')])"
    )

    assert opened([shown]) == [
        {
            "role": "system",
            "additional_kwargs": {},
            "blocks": [{"type": "text", "block_type": "text", "text": 'You\'re a "bot".\n'}],
        }
    ]


def test_messages_of_haystack() -> None:
    """Haystack's messages lose the marks of private fields; the parts of a message say what they are."""
    shown = (
        "ChatMessage(_role=<ChatRole.TOOL: 'tool'>, _content=[ToolCallResult(result='18', origin=ToolCall("
        "tool_name='f', arguments={'city': 'Paris', 'at': (1, 2.5e-05)}, id='c', extra=None), error=False)], "
        "_name=None, _meta={})"
    )

    assert opened({"replies": [shown]}) == {
        "replies": [
            {
                "role": "tool",
                "content": [
                    {
                        "type": "tool_call_result",
                        "result": "18",
                        "origin": {
                            "type": "tool_call",
                            "tool_name": "f",
                            "arguments": {"city": "Paris", "at": [1, 2.5e-05]},
                            "id": "c",
                            "extra": None,
                        },
                        "error": False,
                    }
                ],
                "name": None,
                "meta": {},
            }
        ]
    }


@pytest.mark.parametrize(
    "text",
    [
        "It is 18°C.",
        "f(a=1)",
        "ChatMessage(a=",
        "ChatMessage(a=1))",
        "ChatMessage('x')",
        "ChatMessage(a=<bound method x>)",
        "ChatMessage(a=[1, 2)",
        "ChatMessage(a='\\ud800')",
        "ChatMessage(a=1) and more",
        "ToolCallResult(a=1)",
        "Document(id=174e, content: 'Refunds')",
        "ChatMessage(a=" * 5000,
        "ChatMessage(a=" + "[" * 500 + "]" * 500 + ")",
        "ChatMessage(a='" + "x" * 300_000 + "')",
    ],
)
def test_other_text_stays_as_it_is(text: str) -> None:
    """What is no such object, is cut, or holds what is no plain value is left alone."""
    assert opened(text) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ChatMessage(a=Bar())", {"a": {}}),
        ("ChatMessage(a='\\x41\\u00e9\\U0001f4a5\\t\\\\')", {"a": "Aé💥\t\\"}),
        ("ChatMessage(_a=True, b_=None)", {"a": True, "b_": None}),
    ],
)
def test_values_in_objects(text: str, value: JsonValue) -> None:
    """Empty objects, escapes and words of Python are read."""
    assert opened(text) == value


def test_deep_values_are_left_alone() -> None:
    """Only the first levels of a value are searched."""
    value: JsonValue = "ChatMessage(a=1)"
    for _ in range(20):
        value = [value]

    assert opened(value) == value
