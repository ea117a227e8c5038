"""Tool definitions in all the shapes that they are written in."""

from __future__ import annotations

import json

import pytest

from pixie_otel.traces.dialects.toolcalls import tool_definition, tool_definitions, tool_list
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
