"""Keys that say what a crew of CrewAI was to do, as OpenInference's and OpenLLMetry's instrumentations write them."""

from __future__ import annotations

from typing import Final

__all__ = ["AGENT_ROLE", "CREW_RESULT", "CREW_TASKS", "INPUTS", "TASKS", "TASK_DESCRIPTION"]

INPUTS: Final = "crew_inputs"
TASKS: Final = "crew_tasks"

AGENT_ROLE: Final = "crewai.agent.role"
CREW_RESULT: Final = "crewai.crew.result"
CREW_TASKS: Final = "crewai.crew.tasks"
TASK_DESCRIPTION: Final = "crewai.task.description"
