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
from functools import lru_cache
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
# Distributions name one library differently.
_OTHER_NAMES: Final[Mapping[str, str]] = {"google_generativeai": "google_genai", "llamaindex": "llama_index"}
# OpenLLMetry's asks this variable only, and OpenTelemetry's own the next two: with older conventions than the newest,
# what is recorded goes to log records and not into spans.
_OPENLLMETRY_CONTENT: Final = "TRACELOOP_TRACE_CONTENT"
_OFFICIAL_CONTENT: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_CONVENTIONS: Final = "OTEL_SEMCONV_STABILITY_OPT_IN"
_NEWEST: Final = "gen_ai_latest_experimental"
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
# The environment's variables that were set here: to what, and what they were before.
_variables: dict[str, tuple[str, str | None]] = {}


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
    for name, active in list(_active.items()):
        if name not in names or active.provider is not provider or active.capture_content != capture_content:
            _switch_off(name, problems)
    if not _active:
        _give_back_variables()
    for name in names:
        if name not in _active:
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
        for entry_point in _listed(_places()):
            found.setdefault(_normal(entry_point.name), []).append(entry_point)
    except Exception as error:  # noqa: BLE001 - the metadata of any distribution that is installed may be broken
        problems.append(Problem(f"what is installed cannot be listed, and nothing is instrumented: {error!r}", error))
    for candidates in found.values():
        candidates.sort(key=lambda candidate: (_rank(candidate), candidate.value))
    return found


@lru_cache(maxsize=1)
def _listed(_places: tuple[tuple[str, int], ...]) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=_GROUP))


def _places() -> tuple[tuple[str, int], ...]:
    """Say where distributions are looked for, and when each place last changed.

    Looking through them takes long, and a capture may do it for every test; yet more can be installed meanwhile.
    """
    places: list[tuple[str, int]] = []
    for path in sys.path:
        try:
            places.append((path, os.stat(path or ".").st_mtime_ns))  # noqa: PTH116 - entries need not be paths
        except (OSError, ValueError):
            places.append((path, 0))
    return tuple(places)


def _normal(name: str) -> str:
    normal = name.strip().lower().replace("-", "_")
    return _OTHER_NAMES.get(normal, normal)


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
    cause: Exception | None = None
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
            cause = cause or refusal.cause
    if unmet:
        problems.append(Problem(f"{name} is not instrumented, its calls are not traced: {'; '.join(unmet)}", cause))


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Why an instrumentor cannot be had, so that the next one is asked."""

    reason: str
    missing: bool
    cause: Exception | None = None


def _instrument(name: str, entry_point: EntryPoint, wish: _Wish) -> _Refusal | None:
    # Asked before the module is loaded, which would load the library too.
    refusal = _conflict_of(entry_point)
    if refusal is not None:
        return refusal
    try:
        instrumentor = entry_point.load()()
    except Exception as error:  # noqa: BLE001 - whatever it needs and does not find
        return _Refusal(f"{type(error).__name__}: {error}", missing=False, cause=error)
    if getattr(instrumentor, "is_instrumented_by_opentelemetry", False):
        return None
    arguments: dict[str, Any] = {"tracer_provider": wish.provider, "raise_exception_on_conflict": True}
    rank = _rank(entry_point)
    if rank == 0 and not wish.capture_content:
        arguments["config"] = hiding_config()
    elif rank > 0:
        _set_variables(capture_content=wish.capture_content)
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


def _set_variables(*, capture_content: bool) -> None:
    """Tell instrumentation that asks the environment whether content is recorded, where nobody has said it there."""
    if not capture_content:
        if not os.environ.get(_OPENLLMETRY_CONTENT):
            _set_variable(_OPENLLMETRY_CONTENT, "false")
    elif not os.environ.get(_OFFICIAL_CONTENT):
        _set_variable(_OFFICIAL_CONTENT, "SPAN_ONLY")
        conventions = os.environ.get(_CONVENTIONS, "")
        if "gen_ai" not in conventions:
            _set_variable(_CONVENTIONS, f"{conventions},{_NEWEST}".lstrip(","))


def _set_variable(name: str, value: str) -> None:
    _variables[name] = value, os.environ.get(name)
    os.environ[name] = value


def _give_back_variables() -> None:
    for name, (value, before) in _variables.items():
        if os.environ.get(name) == value:
            if before is None:
                del os.environ[name]
            else:
                os.environ[name] = before
    _variables.clear()


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
