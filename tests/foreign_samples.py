"""Exports of tools as these write them, cut down to what matters, for tests."""

from __future__ import annotations

import json
from typing import Any, Final

TRACE_ID: Final = "1bda5fb560fc0f9d480967bc3ef5305c"
UUID: Final = "0195a1b2-c3d4-4e5f-8a6b-7c8d9e0f1a2b"

MLFLOW: Final[dict[str, Any]] = {
    "info": {
        "trace_id": f"tr-{TRACE_ID}",
        "trace_location": {"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": "1"}},
        "request_time": "2026-11-30T22:29:22.337Z",
        "state": "OK",
        "trace_metadata": {
            "mlflow.trace_schema.version": "3",
            "mlflow.trace.session": "session-ada-42",
            "mlflow.trace.user": "ada",
        },
        "tags": {"mlflow.traceName": "agent", "team": "support"},
        "execution_duration_ms": 13,
    },
    "data": {
        "spans": [
            {
                "trace_id": "G9pftWD8D51ICWe8PvUwXA==",
                "span_id": "9ACFNCjnTwo=",
                "parent_span_id": None,
                "name": "agent",
                "start_time_unix_nano": 1796077762337340444,
                "end_time_unix_nano": 1796077762351249784,
                "events": [],
                "status": {"code": "STATUS_CODE_OK", "message": ""},
                "attributes": {
                    "mlflow.traceRequestId": f'"tr-{TRACE_ID}"',
                    "mlflow.spanType": '"AGENT"',
                    "mlflow.spanInputs": '{"question": "weather?"}',
                    "mlflow.spanOutputs": '"18 degrees"',
                },
                "links": [],
            },
            {
                "trace_id": "G9pftWD8D51ICWe8PvUwXA==",
                "span_id": "o82KtP0F854=",
                "parent_span_id": "9ACFNCjnTwo=",
                "name": "chat",
                "start_time_unix_nano": 1796077762346042470,
                "end_time_unix_nano": 1796077762351126170,
                "events": [
                    {
                        "name": "exception",
                        "time_unix_nano": 1796077762350996992,
                        "attributes": {"exception.message": "boom", "exception.type": "ValueError"},
                    }
                ],
                "status": {"code": "STATUS_CODE_ERROR", "message": "ValueError: boom"},
                "attributes": {
                    "mlflow.spanType": '"CHAT_MODEL"',
                    "mlflow.spanInputs": '{"model": "gpt-4o-mini", '
                    '"messages": [{"role": "user", "content": "weather?"}]}',
                    "mlflow.spanOutputs": '{"choices": [{"message": {"role": "assistant", "content": "18 degrees"}, '
                    '"finish_reason": "stop"}], "model": "gpt-4o-mini"}',
                    "mlflow.chat.tokenUsage": '{"input_tokens": 10, "output_tokens": 3, "total_tokens": 13}',
                },
                "links": [],
            },
        ]
    },
}
"""What ``mlflow.get_trace(…).to_json()`` of MLflow 3.17 gives."""

MLFLOW_2: Final[dict[str, Any]] = {
    "info": {
        "request_id": TRACE_ID,
        "experiment_id": "1",
        "timestamp_ms": 1796077762337,
        "execution_time_ms": 13,
        "status": "OK",
        "request_metadata": {"mlflow.traceInputs": '{"question": "weather?"}'},
        "tags": {"mlflow.traceName": "agent"},
    },
    "data": {
        "spans": [
            {
                "name": "agent",
                "context": {"span_id": "0xf400853428e74f0a", "trace_id": f"0x{TRACE_ID}"},
                "parent_id": None,
                "start_time": 1796077762337340444,
                "end_time": 1796077762351249784,
                "status_code": "ERROR",
                "status_message": "boom",
                "attributes": {"mlflow.spanType": '"CHAIN"', "mlflow.spanInputs": {"question": "weather?"}},
                "events": [{"name": "exception", "timestamp": 1796077762350996, "attributes": {}}],
            }
        ],
        "request": '{"question": "weather?"}',
        "response": None,
    },
}
"""A trace of MLflow 2, of which a value is no text."""

LANGFUSE: Final[dict[str, Any]] = {
    "id": TRACE_ID,
    "projectId": "p",
    "htmlPath": "/project/p/traces/1",
    "name": "weather-agent",
    "timestamp": "2026-11-30T12:00:00.000Z",
    "environment": "default",
    "tags": ["beta"],
    "release": None,
    "userId": "ada",
    "sessionId": "session-ada-42",
    "input": {"question": "weather?"},
    "output": "18 degrees",
    "metadata": {"plan": "pro"},
    "totalCost": 0.1,
    "scores": [],
    "observations": [
        {
            "id": "f400853428e74f0a",
            "traceId": TRACE_ID,
            "type": "AGENT",
            "parentObservationId": None,
            "name": "weather-agent",
            "startTime": "2026-11-30T12:00:00.000Z",
            "endTime": "2026-11-30T12:00:02.500Z",
            "input": {"question": "weather?"},
            "output": "18 degrees",
            "level": "DEFAULT",
            "metadata": {
                "attributes": {"my.key": "kept"},
                "resourceAttributes": {"service.name": "bot"},
                "scope": {"name": "langfuse-sdk", "version": "4"},
            },
        },
        {
            "id": "a3cd8ab4fd05f39e",
            "traceId": TRACE_ID,
            "type": "GENERATION",
            "parentObservationId": "f400853428e74f0a",
            "name": "OpenAI-generation",
            "startTime": "2026-11-30T12:00:01.000Z",
            "endTime": "2026-11-30T12:00:02.000Z",
            "completionStartTime": "2026-11-30T12:00:01.500Z",
            "model": "gpt-4o-mini",
            "modelParameters": {"temperature": 0.2},
            "input": [{"role": "user", "content": "weather?"}],
            "output": {"role": "assistant", "content": "18 degrees"},
            "usageDetails": {"input": 10, "output": 3, "total": 13},
            "costDetails": {"total": 0.1},
            "level": "ERROR",
            "statusMessage": "boom",
            "promptName": "weather",
            "metadata": json.dumps({"attributes": {"my.key": "kept"}, "scope": {"name": "langfuse-sdk"}, "own": 1}),
        },
    ],
}
"""A trace of Langfuse's API, version 3."""

LANGFUSE_2: Final[dict[str, Any]] = {
    "trace": {
        "id": UUID,
        "name": "chat",
        "timestamp": "2024-11-30T12:00:00.000Z",
        "input": "weather?",
        "output": "18 degrees",
        "sessionId": "session-ada-42",
        "metadata": None,
    },
    "observations": [
        {
            "id": f"{UUID[:-1]}{number}",
            "traceId": UUID,
            "type": "GENERATION",
            "parentObservationId": None,
            "name": f"call {number}",
            "startTime": f"2024-11-30T12:00:0{number}.000Z",
            "endTime": f"2024-11-30T12:00:0{number}.500Z",
            "model": "gpt-4o-mini",
            "input": [{"role": "user", "content": "weather?"}],
            "output": "18 degrees",
            "usage": {"input": 10, "output": 3, "total": 13, "unit": "TOKENS"},
            "promptTokens": 10,
            "calculatedTotalCost": 0.25,
            "statusMessage": None,
        }
        for number in (1, 2)
    ],
}
"""A trace of an older SDK of Langfuse's, of which no observation is the root."""

LANGFUSE_OBSERVATION: Final[dict[str, Any]] = LANGFUSE["observations"][1]

LANGSMITH: Final[dict[str, Any]] = {
    "id": UUID,
    "trace_id": UUID,
    "name": "agent",
    "run_type": "chain",
    "start_time": "2026-11-30T12:00:00.000001",
    "end_time": "2026-11-30T12:00:02+00:00",
    "inputs": {"question": "weather?"},
    "outputs": {"answer": "18 degrees"},
    "error": None,
    "dotted_order": "20261130T120000000001Z",
    "prompt_tokens": 10,
    "tags": ["beta"],
    "session_id": "a-project",
    "child_runs": [
        {
            "id": f"{UUID[:-1]}c",
            "trace_id": UUID,
            "name": "ChatOpenAI",
            "run_type": "llm",
            "start_time": "2026-11-30T12:00:01",
            "end_time": "2026-11-30T12:00:02",
            "inputs": {"messages": [{"role": "user", "content": "weather?"}]},
            "outputs": {"choices": [{"message": {"role": "assistant", "content": "18 degrees"}}]},
            "extra": {
                "metadata": {"ls_provider": "openai", "ls_model_name": "gpt-4o-mini", "thread_id": "session-ada-42"},
                "invocation_params": {"model": "gpt-4o-mini"},
            },
            "error": "boom",
            "prompt_tokens": 10,
            "completion_tokens": 3,
            "total_cost": "0.1",
            "dotted_order": "20261130T120000000001Z.20261130T120001000000Z",
        }
    ],
}
"""A run of LangSmith's with the run within it."""

ADOT_BODY: Final[dict[str, Any]] = {
    "input": {"messages": [{"role": "user", "content": {"content": '[{"text": "weather?"}]'}}]},
    "output": {"messages": [{"role": "assistant", "content": {"message": "18 degrees", "finish_reason": "end_turn"}}]},
}

ADOT_LOG: Final[dict[str, Any]] = {
    "resource": {"attributes": {"service.name": "bot"}},
    "scope": {"name": "strands.telemetry.tracer"},
    "timeUnixNano": 1796077762337340444,
    "observedTimeUnixNano": 1796077762337340445,
    "severityNumber": 9,
    "severityText": "",
    "body": ADOT_BODY,
    "attributes": {"event.name": "strands.telemetry.tracer", "session.id": "session-ada-42"},
    "flags": 1,
    "traceId": TRACE_ID,
    "spanId": "f400853428e74f0a",
}
"""A log record of AWS's distribution, with what a model was told and said."""

ADOT_SPAN: Final[dict[str, Any]] = {
    "resource": {"attributes": {"service.name": "bot", "aws.local.service": "bot"}},
    "scope": {"name": "strands.telemetry.tracer", "version": ""},
    "traceId": TRACE_ID,
    "spanId": "f400853428e74f0a",
    "parentSpanId": "",
    "flags": 1,
    "name": "chat",
    "kind": "CLIENT",
    "startTimeUnixNano": 1796077762337340444,
    "durationNano": 10000,
    "attributes": {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-4o-mini",
        "gen_ai.usage.input_tokens": 10,
    },
    "links": [{"traceId": TRACE_ID, "spanId": "a3cd8ab4fd05f39e", "attributes": {"x": 1}}],
    "status": {"code": "ERROR", "message": "boom"},
    "aws": {"region": "eu-west-1"},
}
"""A span of AWS's distribution, with what only CloudWatch adds."""

STRANDS_EVALS: Final[dict[str, Any]] = {
    "trace_id": TRACE_ID,
    "span_id": "f400853428e74f0a",
    "parent_span_id": None,
    "name": "chat",
    "start_time": 1796077762337340444,
    "end_time": 1796077762347340444,
    "attributes": {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o-mini"},
    "resource": {"attributes": {"service.name": "bot"}},
    "scope": {"name": "strands.telemetry.tracer", "version": ""},
    "status": {"code": "OK"},
    "span_events": [
        {"event_name": "strands.telemetry.tracer", "body": ADOT_BODY, "attributes": {"session.id": "session-ada-42"}},
        {"event_name": "other", "body": {"free": "form"}},
    ],
}
"""A span as evaluators for agents on AWS get it."""

SAMPLES: Final[dict[str, Any]] = {
    "mlflow": MLFLOW,
    "mlflow 2": MLFLOW_2,
    "langfuse": LANGFUSE,
    "langfuse 2": LANGFUSE_2,
    "langfuse observation": LANGFUSE_OBSERVATION,
    "langsmith": LANGSMITH,
    "adot log": ADOT_LOG,
    "adot span": ADOT_SPAN,
    "strands evals": STRANDS_EVALS,
}
