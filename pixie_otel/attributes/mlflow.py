"""The attribute keys of MLflow's tracing."""

from __future__ import annotations

from typing import Final

__all__ = [
    "CHAT_TOOLS",
    "CHUNK_EVENT_PREFIX",
    "CHUNK_VALUE",
    "COST",
    "FUNCTION_NAME",
    "INPUTS",
    "INVOCATION_PARAMETERS",
    "MODEL",
    "OUTPUTS",
    "PREFIX",
    "PROVIDER",
    "SPAN_TYPE",
    "TOKEN_USAGE",
    "TRACE_SESSION",
    "TRACE_TAG_PREFIX",
    "TRACE_USER",
]

PREFIX: Final = "mlflow."
SPAN_TYPE: Final = "mlflow.spanType"
INPUTS: Final = "mlflow.spanInputs"
OUTPUTS: Final = "mlflow.spanOutputs"
FUNCTION_NAME: Final = "mlflow.spanFunctionName"
CHAT_TOOLS: Final = "mlflow.chat.tools"
TOKEN_USAGE: Final = "mlflow.chat.tokenUsage"  # noqa: S105 - tokens of text
MODEL: Final = "mlflow.llm.model"
PROVIDER: Final = "mlflow.llm.provider"
COST: Final = "mlflow.llm.cost"
CHUNK_EVENT_PREFIX: Final = "mlflow.chunk.item."
CHUNK_VALUE: Final = "mlflow.chunk.value"
INVOCATION_PARAMETERS: Final = "invocation_params"
TRACE_SESSION: Final = "mlflow.trace.session"
TRACE_USER: Final = "mlflow.trace.user"
TRACE_TAG_PREFIX: Final = "mlflow.traceTag."
