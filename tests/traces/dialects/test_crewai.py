"""Crews, tasks and agents of CrewAI."""

from __future__ import annotations

import json

import pytest
from observed import observed

from pixie_otel.traces.spans import AgentSpan

TASK = {"id": "78aab168", "description": "What's the weather in Paris?", "expected_output": "one sentence"}
OUTPUT = {"raw": "It is 18°C.", "pydantic": None, "json_dict": None, "tasks_output": [], "token_usage": {}}


def test_a_crew_of_openinference() -> None:
    """What a crew was to do stands in its tasks, what came out of it under the name of what it returns."""
    span = observed(
        {
            "openinference.span.kind": "CHAIN",
            "crew_key": "495ef2ec",
            "crew_inputs": "",
            "crew_tasks": json.dumps([TASK]),
            "output.value": json.dumps(OUTPUT),
            "output.mime_type": "application/json",
        }
    )

    assert (span.input, span.output) == ("What's the weather in Paris?", "It is 18°C.")


def test_a_crew_of_openllmetry() -> None:
    """OpenLLMetry has the crew's tasks and result, a task's text, and an agent's role under keys of CrewAI's."""
    crew = observed(
        {
            "gen_ai.operation.name": "invoke_agent",
            "crewai.crew.tasks": json.dumps([TASK]),
            "crewai.crew.result": "It is 18°C.",
        }
    )
    task = observed(
        {
            "traceloop.span.kind": "task",
            "traceloop.entity.output": "It is 18°C.",
            "crewai.task.description": "What's the weather in Paris?",
        }
    )
    agent = observed({"traceloop.span.kind": "agent", "crewai.agent.role": "weather reporter"})

    assert (crew.input, crew.output) == (task.input, task.output) == ("What's the weather in Paris?", "It is 18°C.")
    assert isinstance(agent, AgentSpan)
    assert agent.agent_name == "weather reporter"


def test_inputs_and_several_tasks() -> None:
    """What is put into the tasks' texts is shown with them."""
    span = observed(
        {
            "openinference.span.kind": "CHAIN",
            "crew_inputs": '{"city": "Paris"}',
            "crew_tasks": json.dumps([TASK, {"description": "Write it down."}]),
        }
    )

    assert span.input == {
        "inputs": {"city": "Paris"},
        "tasks": ["What's the weather in Paris?", "Write it down."],
    }


def test_structured_output_comes_first() -> None:
    """A crew that returns JSON returns it decoded, beside its text."""
    output = {**OUTPUT, "raw": '{"temp_c": 18}', "json_dict": {"temp_c": 18}}
    span = observed({"openinference.span.kind": "CHAIN", "output.value": json.dumps(output)})

    assert span.output == {"temp_c": 18}


@pytest.mark.parametrize("value", [None, 1, "", "{", "[1]", '[{"description": 1}]', '{"a": 1}', [], {}])
def test_anything_else_says_nothing(value: object) -> None:
    """Values of other types are no tasks."""
    span = observed({"crewai.crew.tasks": value, "crewai.agent.role": value, "crewai.task.description": None})

    assert span.input is None
