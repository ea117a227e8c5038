"""The instrumentation of LLM libraries that is installed: found by its entry points, and switched on once.

Several distributions instrument the same library, and two at a time would record every call twice. Of those with the
same name one is taken: OpenInference's, else OpenTelemetry's own, else another one; none where one is active already.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from opentelemetry.trace import TracerProvider

from pixie_otel.diagnostics import LOGGER
from pixie_otel.tracing.settings import Problem

__all__ = ["activate", "hiding_config"]

_GROUP: Final = "opentelemetry_instrumentor"
_OPENINFERENCE: Final = "openinference.instrumentation."
_OPENTELEMETRY: Final = "opentelemetry.instrumentation."
# What is instrumented unasked, beside everything of OpenInference.
_UNASKED: Final = frozenset(
    {
        "agno",
        "alephalpha",
        "anthropic",
        "autogen",
        "bedrock",
        "claude_agent_sdk",
        "cohere",
        "crewai",
        "dspy",
        "google_genai",
        "google_generativeai",
        "groq",
        "haystack",
        "langchain",
        "litellm",
        "llama_index",
        "mcp",
        "mistralai",
        "ollama",
        "openai",
        "openai_agents",
        "portkey",
        "qwen_agent",
        "replicate",
        "sagemaker",
        "smolagents",
        "together",
        "transformers",
        "vertexai",
        "voyageai",
        "watsonx",
        "writer",
    }
)
_HIDDEN: Final = frozenset(
    {
        "hide_choices",
        "hide_embeddings_text",
        "hide_inputs",
        "hide_llm_tools",
        "hide_outputs",
        "hide_prompts",
        "hide_retrieval_documents",
    }
)


@dataclass(frozen=True, slots=True)
class _Active:
    """An instrumentor that was switched on here, and with what."""

    instrumentor: Any
    provider: TracerProvider
    capture_content: bool


_active: dict[str, _Active] = {}


def activate(
    wanted: bool | tuple[str, ...],  # noqa: FBT001 - the setting, which is one or the other
    provider: TracerProvider,
    *,
    capture_content: bool = True,
) -> list[Problem]:
    """Switch on the instrumentation that is wanted, and off what an earlier call switched on and is wanted no more.

    Args:
        wanted: Whether everything for LLM libraries is wanted, or the names of what is.
        provider: Makes the spans.
        capture_content: Whether inputs and outputs are recorded.

    Returns:
        What could not be switched on.
    """
    problems: list[Problem] = []
    found = _found(problems) if wanted else {}
    names = _names(wanted, found, problems)
    for name in [name for name in _active if name not in names]:
        _switch_off(name, problems)
    for name in names:
        active = _active.get(name)
        if active is not None and (active.provider is not provider or active.capture_content != capture_content):
            _switch_off(name, problems)
            active = None
        if active is None:
            _switch_on(name, found[name], _Wish(provider, capture_content, wanted is not True), problems)
    return problems


@dataclass(frozen=True, slots=True)
class _Wish:
    """How an instrumentor is to be switched on."""

    provider: TracerProvider
    capture_content: bool
    by_name: bool


def hiding_config() -> Any:  # noqa: ANN401 - a class that is loaded where it is needed
    """Give OpenInference's configuration that keeps inputs and outputs out of spans, as far as its version can."""
    from openinference.instrumentation import TraceConfig

    config: Any = TraceConfig
    return config(**dict.fromkeys(_HIDDEN & {known.name for known in fields(config)}, True))


def _found(problems: list[Problem]) -> dict[str, list[EntryPoint]]:
    """List what is installed by name, the preferred one first."""
    found: dict[str, list[EntryPoint]] = {}
    try:
        for entry_point in entry_points(group=_GROUP):
            found.setdefault(_normal(entry_point.name), []).append(entry_point)
    except Exception as error:  # noqa: BLE001 - the metadata of any distribution that is installed may be broken
        problems.append(Problem(f"what is installed cannot be listed, and nothing is instrumented: {error!r}", error))
    for candidates in found.values():
        candidates.sort(key=lambda candidate: (_rank(candidate), candidate.value))
    return found


def _normal(name: str) -> str:
    # Distributions spell the name of one library differently: `google-genai`, `google_genai`.
    normal = name.strip().lower().replace("-", "_")
    return "llama_index" if normal == "llamaindex" else normal


def _rank(entry_point: EntryPoint) -> int:
    module = entry_point.value
    if module.startswith(_OPENINFERENCE):
        return 0
    official = module.startswith((f"{_OPENTELEMETRY}genai.", f"{_OPENTELEMETRY}google_genai")) or "_v2:" in module
    if official:
        return 1
    return 2 if module.startswith(_OPENTELEMETRY) else 3


def _names(
    wanted: bool | tuple[str, ...],  # noqa: FBT001 - the setting, passed on
    found: Mapping[str, list[EntryPoint]],
    problems: list[Problem],
) -> list[str]:
    if wanted is False:
        return []
    if wanted is True:
        return [
            name
            for name, candidates in sorted(found.items())
            if _rank(candidates[0]) == 0 or (name in _UNASKED and _rank(candidates[0]) < 3)
        ]
    names: list[str] = []
    for asked in wanted:
        name = _normal(asked)
        if name in found:
            names.append(name)
            continue
        close = difflib.get_close_matches(name, found, 1)
        hint = f"did you mean {close[0]!r}?" if close else f"installed are {', '.join(sorted(found)) or 'none'}"
        problems.append(Problem(f"instrument: no instrumentation called {asked!r} is installed; {hint}"))
    return list(dict.fromkeys(names))


def _switch_on(name: str, candidates: Iterable[EntryPoint], wish: _Wish, problems: list[Problem]) -> None:
    candidates = list(candidates)
    for candidate in candidates:
        if _is_on(candidate):
            LOGGER.debug("%s is instrumented already, by %s", name, candidate.value)
            return
    unmet: list[str] = []
    for candidate in candidates:
        try:
            refusal = _instrument(name, candidate, wish)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with a library, the application goes on without
            said = f"the instrumentation of {name} ({_origin(candidate)}) failed: {type(error).__name__}: {error}"
            problems.append(Problem(f"{said}; its calls are not traced", error))
            return
        if refusal is None:
            return
        LOGGER.debug("%s is not instrumented: %s", name, refusal.reason)
        if wish.by_name or not refusal.missing:
            unmet.append(f"{_origin(candidate)}: {refusal.reason}")
    if unmet:
        problems.append(Problem(f"{name} is not instrumented, its calls are not traced: {'; '.join(unmet)}"))


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Why an instrumentor does not fit what is installed."""

    reason: str
    missing: bool


def _instrument(name: str, entry_point: EntryPoint, wish: _Wish) -> _Refusal | None:
    # Asked before the module is loaded, which would load the library too.
    refusal = _conflict_of(entry_point)
    if refusal is not None:
        return refusal
    instrumentor = entry_point.load()()
    if getattr(instrumentor, "is_instrumented_by_opentelemetry", False):
        return None
    arguments: dict[str, Any] = {"tracer_provider": wish.provider, "raise_exception_on_conflict": True}
    if not wish.capture_content:
        arguments.update(_without_content(entry_point))
    try:
        instrumentor.instrument(**arguments)
    except Exception as error:
        conflict = getattr(error, "conflict", None)
        if conflict is None:
            raise
        return _refusal(conflict)
    if getattr(instrumentor, "is_instrumented_by_opentelemetry", True):
        _active[name] = _Active(instrumentor, wish.provider, wish.capture_content)
        return None
    # Versions that do not know the argument log the conflict, and go on.
    return _Refusal("it does not fit the version that is installed", missing=False)


def _conflict_of(entry_point: EntryPoint) -> _Refusal | None:
    try:
        from opentelemetry.instrumentation.dependencies import get_dist_dependency_conflicts

        conflict = None if entry_point.dist is None else get_dist_dependency_conflicts(entry_point.dist)
    except Exception as error:  # noqa: BLE001 - instrumenting asks again, and says what is wrong
        LOGGER.debug("what %s needs cannot be told: %r", entry_point.value, error)
        return None
    return None if conflict is None else _refusal(conflict)


def _refusal(conflict: Any) -> _Refusal:  # noqa: ANN401 - a class that changed with its versions
    found = getattr(conflict, "found", None) or getattr(conflict, "found_any", None)
    return _Refusal(str(conflict), missing=not found)


def _without_content(entry_point: EntryPoint) -> dict[str, Any]:
    """Give the arguments that keep inputs and outputs out of the spans."""
    if _rank(entry_point) != 0:
        # OpenLLMetry's records content unless told otherwise, and takes its word from the environment only.
        os.environ.setdefault("TRACELOOP_TRACE_CONTENT", "false")
        return {}
    return {"config": hiding_config()}


def _is_on(entry_point: EntryPoint) -> bool:
    """Say whether an instrumentor is in force, without loading or making it."""
    module = sys.modules.get(entry_point.module)
    instrumentor = getattr(getattr(module, entry_point.attr, None), "_instance", None)
    return bool(getattr(instrumentor, "is_instrumented_by_opentelemetry", False))


def _switch_off(name: str, problems: list[Problem]) -> None:
    active = _active.pop(name)
    try:
        if getattr(active.instrumentor, "is_instrumented_by_opentelemetry", True):
            active.instrumentor.uninstrument()
    except Exception as error:  # noqa: BLE001 - likewise
        problems.append(Problem(f"the instrumentation of {name} cannot be taken back: {error!r}", error))


def _origin(entry_point: EntryPoint) -> str:
    dist = entry_point.dist
    return entry_point.value if dist is None else f"{dist.name} {dist.version}"
