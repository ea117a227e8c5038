"""A kit for the tests of applications that are traced: a stand-in for the model, replayed inputs, fixed ids and clock.

The fixtures `captured_traces` and `openai_stub` are there in every pytest run, see `pixie_otel.pytest_plugin`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pixie_otel.testing.determinism import FixedIds, fixed_clock
    from pixie_otel.testing.openai_answers import embedding
    from pixie_otel.testing.openai_stub import OpenAIStub
    from pixie_otel.testing.replies import CutReply, ErrorReply, FunctionCall, RawReply, Reply, StubRequest
    from pixie_otel.tracing.capture import capture_traces
    from pixie_otel.tracing.replay import replay_inputs

__all__ = [
    "CutReply",
    "ErrorReply",
    "FixedIds",
    "FunctionCall",
    "OpenAIStub",
    "RawReply",
    "Reply",
    "StubRequest",
    "capture_traces",
    "embedding",
    "fixed_clock",
    "replay_inputs",
]

_MODULES = {
    "CutReply": "pixie_otel.testing.replies",
    "ErrorReply": "pixie_otel.testing.replies",
    "FixedIds": "pixie_otel.testing.determinism",
    "FunctionCall": "pixie_otel.testing.replies",
    "OpenAIStub": "pixie_otel.testing.openai_stub",
    "RawReply": "pixie_otel.testing.replies",
    "Reply": "pixie_otel.testing.replies",
    "StubRequest": "pixie_otel.testing.replies",
    "capture_traces": "pixie_otel.tracing.capture",
    "embedding": "pixie_otel.testing.openai_answers",
    "fixed_clock": "pixie_otel.testing.determinism",
    "replay_inputs": "pixie_otel.tracing.replay",
}

# A type checker takes a module's `__getattr__` to mean that every name exists; the imports above tell it better.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import a name from its module and keep it here."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(_MODULES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """List the names too, whether or not they have been used."""
    return sorted({*globals(), *__all__})
