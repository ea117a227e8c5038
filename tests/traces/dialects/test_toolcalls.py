"""Tool definitions in all the shapes that they are written in."""

from __future__ import annotations

import json

import pytest

from pixie_otel.evaluable import JsonValue, ToolCall
from pixie_otel.traces.dialects.toolcalls import listed_calls, tool_call, tool_definition, tool_definitions, tool_list
from pixie_otel.traces.spans import ToolDefinition

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}


@pytest.mark.parametrize(
    "written",
    [
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}},
        {"type": "function", "name": "f", "description": "d", "parameters": SCHEMA},
        {"name": "f", "description": "d", "input_schema": SCHEMA},
        {"name": "f", "description": "d", "inputSchema": json.dumps(SCHEMA)},
        {"name": "f", "description": "d", "parameters_json_schema": SCHEMA},
        {"toolSpec": {"name": "f", "description": "d", "inputSchema": {"json": SCHEMA}}},
    ],
)
def test_definitions_in_every_shape(written: dict[str, object]) -> None:
    """However a provider wants it, it is the same tool; also as JSON text."""
    assert tool_definition(written) == tool_definition(json.dumps(written)) == ToolDefinition("f", "d", SCHEMA)


def test_definitions_of_which_little_is_said() -> None:
    """A tool needs a name and nothing else; what has none is no tool."""
    assert tool_definition({"name": "f", "parameters": None}) == ToolDefinition("f")
    assert tool_definitions([{"name": ""}, {}, None, "no json", ["f"], {"name": "g"}]) == (ToolDefinition("g"),)


@pytest.mark.parametrize("padding", ["", "x" * 100_000])
def test_a_list_of_any_size(padding: str) -> None:
    """A long text is not kept for the next call, and read all the same."""
    written = [{"name": "f", "description": "d" + padding}, {"name": "g"}]
    expected = (ToolDefinition("f", "d" + padding), ToolDefinition("g"))

    assert tool_list(json.dumps(written)) == tool_list(written) == expected  # type: ignore[arg-type]
    assert tool_definitions(map(json.dumps, written)) == expected
    assert tool_list("{}") == tool_list(5) == ()


def test_tools_of_several_functions() -> None:
    """Google's tools hold several functions each."""
    declared = [{"name": "f", "parametersJsonSchema": SCHEMA}, {"name": "g"}]
    expected = (ToolDefinition("f", None, SCHEMA), ToolDefinition("g"), ToolDefinition("h"))

    assert tool_definitions([{"function_declarations": declared}, {"name": "h"}]) == expected
    assert tool_definitions([{"functionDeclarations": declared}, {"name": "h"}]) == expected
    assert tool_definitions([{"function_declarations": "x"}, {"function_declarations": [3]}]) == ()


def test_a_call_by_any_name() -> None:
    """A call's name may lie one level down, under a longer key."""
    written = {"tool_call": {"tool_name": "f", "arguments": {"a": 1}, "id": "c", "extra": None}}

    assert tool_call(written) == ToolCall("f", {"a": 1}, "c")


def test_a_call_of_which_nothing_is_said() -> None:
    """Producers of flat keys write a call's keys, without values, also where there was none."""
    empty: JsonValue = {"id": None, "function": {"name": None, "arguments": None}}

    assert listed_calls({"tool_calls": [empty, {"id": "c"}]}) == [ToolCall("", id="c")]
