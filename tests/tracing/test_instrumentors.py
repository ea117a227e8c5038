"""Facts about which instrumentation is switched on, and how often."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from installations import MODULE, Installation
from opentelemetry.sdk.trace import TracerProvider
from programs import run_program

from pixie_otel.tracing import instrumentors
from pixie_otel.tracing.instrumentors import activate

_PROVIDER = TracerProvider(shutdown_on_exit=False)
_ASKED = (
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
    "OTEL_SEMCONV_STABILITY_OPT_IN",
    "TRACELOOP_TRACE_CONTENT",
)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installation]:
    """Give an installation in which nothing is instrumented but what the test adds."""
    for variable in _ASKED:
        monkeypatch.setenv(variable, "")
        monkeypatch.delenv(variable)
    monkeypatch.setattr(instrumentors, "_active", {})
    monkeypatch.setattr(instrumentors, "_variables", {})
    real = instrumentors.entry_points

    def only_added(**selected: str) -> list[Any]:
        return [found for found in real(**selected) if found.dist is not None and found.dist.name.startswith("fake-")]

    monkeypatch.setattr(instrumentors, "entry_points", only_added)
    installation = Installation(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for package in ("openinference.instrumentation", "opentelemetry.instrumentation"):
        path = importlib.import_module(package).__path__
        monkeypatch.setattr(
            importlib.import_module(package), "__path__", [*path, str(tmp_path / Path(*package.split(".")))]
        )
    importlib.invalidate_caches()
    yield installation
    for module in installation.modules:
        sys.modules.pop(module, None)
    importlib.invalidate_caches()


def _arguments(call: dict[str, Any]) -> dict[str, Any]:
    # An older version of the base class passes this on.
    return {name: value for name, value in call.items() if name != "raise_exception_on_conflict"}


def test_everything_for_llm_libraries_is_switched_on(installed: Installation) -> None:
    """Unasked, whatever is OpenInference's or of a known name is switched on with our provider, and nothing else is."""
    installed.add("something_new", "openinference.instrumentation.something_new")
    installed.add("anthropic", "opentelemetry.instrumentation.anthropic")
    installed.add("google-genai", "opentelemetry.instrumentation.google_genai")
    installed.add("flask", "opentelemetry.instrumentation.flask")
    installed.add("openai", "somebody.elses")
    assert activate(wanted=True, provider=_PROVIDER) == []
    for module in installed.modules[:3]:
        assert [_arguments(call) for call in installed.calls(module)] == [{"tracer_provider": _PROVIDER}]
    assert [installed.calls(module) for module in installed.modules[3:]] == [[], []]


def test_a_library_is_instrumented_by_one_only(installed: Installation) -> None:
    """Of several that instrument one library OpenInference's is taken, then OpenTelemetry's, then others."""
    installed.add("openai", "opentelemetry.instrumentation.openai")
    installed.add("openai", "opentelemetry.instrumentation.openai_v2")
    installed.add("openai", "openinference.instrumentation.openai_like")
    installed.add("google_genai", "openinference.instrumentation.google_genai")
    installed.add("google-genai", "opentelemetry.instrumentation.google_genai")
    installed.add("cohere", "opentelemetry.instrumentation.cohere")
    installed.add("cohere", "opentelemetry.instrumentation.genai.cohere")
    assert activate(wanted=True, provider=_PROVIDER) == []
    assert [len(installed.calls(module)) for module in installed.modules] == [0, 0, 1, 1, 0, 0, 1]


def test_a_second_time_changes_nothing(installed: Installation) -> None:
    """What is switched on stays as it is."""
    installed.add("openai", "openinference.instrumentation.first")
    activate(wanted=True, provider=_PROVIDER)
    activate(wanted=True, provider=_PROVIDER)
    assert len(installed.calls("openinference.instrumentation.first")) == 1


@pytest.mark.parametrize("active", ["openinference.instrumentation.chosen", "opentelemetry.instrumentation.other"])
def test_what_the_application_instrumented_stays_its_own(installed: Installation, active: str) -> None:
    """Where the application has switched one on for a library, by whichever distribution, no other is."""
    installed.add("openai", "openinference.instrumentation.chosen")
    installed.add("openai", "opentelemetry.instrumentation.other")
    importlib.import_module(active).Instrumentor().instrument(skip_dep_check=True)
    assert activate(wanted=True, provider=_PROVIDER) == []
    assert sum(len(installed.calls(module)) for module in installed.modules) == 1
    assert activate(wanted=False, provider=_PROVIDER) == []
    assert installed.calls(active) == [{}]


def test_names_choose(installed: Installation) -> None:
    """A list switches on what it names, in any spelling and of any kind, and nothing else."""
    installed.add("openai", "openinference.instrumentation.openai_like")
    installed.add("google-genai", "opentelemetry.instrumentation.google_genai")
    installed.add("flask", "opentelemetry.instrumentation.flask")
    assert activate(("Google_GenAI", "flask", "google-genai"), _PROVIDER) == []
    assert [len(installed.calls(module)) for module in installed.modules] == [0, 1, 1]


def test_a_name_that_is_not_installed_is_told(installed: Installation) -> None:
    """A name without an instrumentation is one message that says what there is, or what was meant."""
    installed.add("openai", "openinference.instrumentation.openai_like")
    (far,) = activate(("xyz",), _PROVIDER)
    (close,) = activate(("opnai",), _PROVIDER)
    assert far.message == "instrument: no instrumentation called 'xyz' is installed; installed are openai"
    assert close.message.endswith("did you mean 'openai'?")


def test_nothing_is_loaded_where_nothing_is_wanted(installed: Installation) -> None:
    """`False` loads no instrumentor at all."""
    installed.add("openai", "openinference.instrumentation.openai_like")
    assert activate(wanted=False, provider=_PROVIDER) == []
    assert "openinference.instrumentation.openai_like" not in sys.modules


@pytest.mark.parametrize("declared", [True, False])
def test_a_library_that_is_not_installed_is_no_problem(
    installed: Installation, caplog: pytest.LogCaptureFixture, *, declared: bool
) -> None:
    """Unasked, an instrumentation without its library is passed over in silence, and not loaded where that is known."""
    installed.add("openai", "openinference.instrumentation.lonely", needs=["not-there-at-all"], declared=declared)
    assert activate(wanted=True, provider=_PROVIDER) == []
    assert installed.calls("openinference.instrumentation.lonely") == []
    assert ("openinference.instrumentation.lonely" in sys.modules) is not declared
    assert not caplog.records


def test_a_library_that_is_not_installed_is_told_where_it_was_named(installed: Installation) -> None:
    """What was asked for by name and cannot be had is one message."""
    installed.add("openai", "openinference.instrumentation.lonely", needs=["not-there-at-all"])
    (problem,) = activate(("openai",), _PROVIDER)
    assert problem.message.startswith("openai is not instrumented, its calls are not traced: fake-")
    assert "not-there-at-all" in problem.message


def test_a_library_of_another_version_is_told(installed: Installation) -> None:
    """A library that is there, but in a version that cannot be instrumented, is told unasked: its calls are missing."""
    installed.add("openai", "openinference.instrumentation.old", needs=["pytest < 2"])
    (problem,) = activate(wanted=True, provider=_PROVIDER)
    assert "pytest" in problem.message
    assert installed.calls("openinference.instrumentation.old") == []


def test_the_next_one_is_taken_where_the_first_does_not_fit(installed: Installation) -> None:
    """Where OpenInference's does not fit the installed version, another that does is switched on."""
    installed.add("openai", "openinference.instrumentation.old", needs=["pytest < 2"])
    installed.add("openai", "opentelemetry.instrumentation.fitting", needs=["pytest"])
    assert activate(wanted=True, provider=_PROVIDER) == []
    assert [len(installed.calls(module)) for module in installed.modules] == [0, 1]


@pytest.mark.parametrize(
    ("source", "instrument"),
    [
        ("raise ImportError('broken')", ""),
        ("1 +", ""),
        ("Instrumentor = None", ""),
        (MODULE, "raise RuntimeError('broken')"),
    ],
)
def test_a_broken_instrumentation_is_one_message(installed: Installation, source: str, instrument: str) -> None:
    """One that cannot be loaded or fails is told with what it raised, and the others are switched on."""
    installed.add("openai", "openinference.instrumentation.broken", source=source, instrument=instrument or "pass")
    installed.add("zz", "openinference.instrumentation.whole")
    (problem,) = activate(wanted=True, provider=_PROVIDER)
    assert "openai" in problem.message
    assert "calls are not traced" in problem.message
    assert type(problem.cause).__name__ in problem.message
    assert len(installed.calls("openinference.instrumentation.whole")) == 1


def test_the_next_one_is_taken_where_the_first_cannot_be_loaded(installed: Installation) -> None:
    """Where one cannot even be loaded, nothing was done by it, and another one is switched on."""
    installed.add("openai", "openinference.instrumentation.broken", source="raise ImportError('broken')")
    installed.add("openai", "opentelemetry.instrumentation.whole")
    assert activate(wanted=True, provider=_PROVIDER) == []
    assert len(installed.calls("opentelemetry.instrumentation.whole")) == 1


def test_two_names_of_one_library_are_one(installed: Installation) -> None:
    """What OpenLLMetry calls google_generativeai is the library of google-genai, and is instrumented once."""
    installed.add("google_generativeai", "opentelemetry.instrumentation.google_generativeai")
    installed.add("google-genai", "opentelemetry.instrumentation.google_genai")
    assert activate(wanted=True, provider=_PROVIDER) == []
    assert [len(installed.calls(module)) for module in installed.modules] == [0, 1]


def test_what_is_installed_later_is_found(installed: Installation) -> None:
    """What is known of the installed distributions holds as long as nothing changes there."""
    installed.add("openai", "openinference.instrumentation.first")
    activate(wanted=True, provider=_PROVIDER)
    installed.add("cohere", "openinference.instrumentation.second")
    activate(wanted=True, provider=_PROVIDER)
    assert [len(installed.calls(module)) for module in installed.modules] == [1, 1]


def test_what_is_installed_is_looked_up_once(installed: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Distributions are not looked through again while they stay as they are."""
    lookups: list[str] = []

    def counted(**selected: str) -> Any:
        lookups.append(selected["group"])
        return importlib.metadata.entry_points(**selected)

    monkeypatch.setattr(instrumentors, "entry_points", counted)
    installed.add("openai", "openinference.instrumentation.first")
    for _ in range(3):
        activate(wanted=True, provider=_PROVIDER)
        activate(wanted=False, provider=_PROVIDER)
    assert lookups == ["opentelemetry_instrumentor"]


@pytest.mark.parametrize(
    ("before", "content", "set_to"),
    [
        ({}, True, ("SPAN_ONLY", "gen_ai_latest_experimental", None)),
        ({_ASKED[1]: "http"}, True, ("SPAN_ONLY", "http,gen_ai_latest_experimental", None)),
        ({_ASKED[1]: "gen_ai_latest_experimental"}, True, ("SPAN_ONLY", "gen_ai_latest_experimental", None)),
        ({_ASKED[0]: "NO_CONTENT"}, True, ("NO_CONTENT", None, None)),
        ({}, False, (None, None, "false")),
        ({_ASKED[2]: "true"}, False, (None, None, "true")),
    ],
)
def test_instrumentation_that_asks_the_environment_is_told_of_content(
    installed: Installation,
    monkeypatch: pytest.MonkeyPatch,
    before: dict[str, str],
    content: bool,  # noqa: FBT001 - a parameter of the test
    set_to: tuple[str | None, ...],
) -> None:
    """What it asks is set while it is switched on, where nobody has set it, and then is what it was."""
    for name, value in before.items():
        monkeypatch.setenv(name, value)
    installed.add("openai", "opentelemetry.instrumentation.official_v2")
    activate(wanted=True, provider=_PROVIDER, capture_content=content)
    assert tuple(os.environ.get(name) for name in _ASKED) == set_to
    activate(wanted=False, provider=_PROVIDER)
    assert {name: os.environ[name] for name in _ASKED if name in os.environ} == before


def test_another_word_on_content_reaches_the_environment(installed: Installation) -> None:
    """Where content is captured again after it was not, nothing of before stays in the environment."""
    installed.add("openai", "opentelemetry.instrumentation.llmetry")
    activate(wanted=True, provider=_PROVIDER, capture_content=False)
    activate(wanted=True, provider=_PROVIDER, capture_content=True)
    assert _ASKED[2] not in os.environ


def test_without_content_inputs_and_outputs_are_hidden(installed: Installation) -> None:
    """OpenInference's gets a configuration that hides them, and OpenLLMetry's is told by its variable."""
    installed.add("openai", "openinference.instrumentation.first")
    installed.add("cohere", "opentelemetry.instrumentation.cohere")
    assert activate(wanted=True, provider=_PROVIDER, capture_content=False) == []
    (call,) = installed.calls("openinference.instrumentation.first")
    assert (call["config"].hide_inputs, call["config"].hide_outputs) == (True, True)
    assert "config" not in installed.calls("opentelemetry.instrumentation.cohere")[0]
    assert os.environ["TRACELOOP_TRACE_CONTENT"] == "false"


def test_what_a_later_call_wants_otherwise_is_switched_again(installed: Installation) -> None:
    """Another provider or another word on content takes effect, and what is not wanted any more is taken back."""
    first, second = "openinference.instrumentation.first", "openinference.instrumentation.second"
    installed.add("a", first)
    installed.add("b", second)
    activate(wanted=True, provider=_PROVIDER)
    activate(("a",), _PROVIDER, capture_content=False)
    assert [call is None for call in installed.calls(first)] == [False, True, False]
    assert "config" in installed.calls(first)[2]
    assert [call is None for call in installed.calls(second)] == [False, True]
    activate(wanted=False, provider=_PROVIDER)
    assert [call is None for call in installed.calls(first)] == [False, True, False, True]


def test_a_refusal_of_an_older_base_class_is_told(installed: Installation) -> None:
    """Where the base class only logs that a library does not fit, that is one message too."""
    module = "openinference.instrumentation.older"
    installed.add("openai", module)
    older: Any = importlib.import_module(module)
    older.Instrumentor.instrument = lambda self, **arguments: None
    (problem,) = activate(wanted=True, provider=_PROVIDER)
    assert "it does not fit the version that is installed" in problem.message


def test_one_whose_needs_cannot_be_told_is_asked_itself(
    installed: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a distribution's own metadata is broken, the instrumentor decides."""

    def broken(_: object) -> None:
        raise ValueError("no requirement")

    monkeypatch.setattr("opentelemetry.instrumentation.dependencies.get_dist_dependency_conflicts", broken)
    installed.add("openai", "openinference.instrumentation.first")
    assert activate(wanted=True, provider=_PROVIDER) == []
    assert len(installed.calls("openinference.instrumentation.first")) == 1


def test_one_that_loading_switches_on_is_left_alone(installed: Installation) -> None:
    """An instrumentor that is active as soon as it is loaded is not switched on again."""
    module = "openinference.instrumentation.eager"
    installed.add("openai", module, source=MODULE + "\nInstrumentor().instrument(skip_dep_check=True)\n")
    assert activate(wanted=True, provider=_PROVIDER) == []
    assert installed.calls(module) == [{}]


def test_one_that_cannot_be_taken_back_is_told(installed: Installation) -> None:
    """An instrumentor that fails to end is one message."""
    installed.add("a", "openinference.instrumentation.first", uninstrument="raise RuntimeError('stuck')")
    activate(wanted=True, provider=_PROVIDER)
    (problem,) = activate(wanted=False, provider=_PROVIDER)
    assert problem.message == "the instrumentation of a cannot be taken back: RuntimeError('stuck')"


def test_broken_metadata_is_told(installed: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the metadata of some distribution cannot be read, that is one message, and nothing is instrumented."""

    def broken(**selected: str) -> list[Any]:
        raise ValueError("no such line")

    monkeypatch.setattr(instrumentors, "entry_points", broken)
    (problem,) = activate(wanted=True, provider=_PROVIDER)
    assert problem.message.startswith("what is installed cannot be listed, and nothing is instrumented")


def test_openai_is_instrumented_out_of_the_box(tmp_path: Path) -> None:
    """With what pixie-otel itself brings, openai's calls are traced, and nothing else of the process is touched."""
    out, _ = run_program(
        """
        import openai, threading
        from opentelemetry.sdk.trace import TracerProvider
        from pixie_otel.tracing.instrumentors import activate
        before = openai.OpenAI.request, threading.Thread.start
        assert activate(True, TracerProvider()) == []
        print(openai.OpenAI.request is not before[0], threading.Thread.start is before[1])
        """,
        tmp_path,
    )
    assert out == "True True\n"
