"""Frameworks that differ from others in the names of their keys only: a table of names, and one reader for all.

Source: LiveKit Agents 1.8 (and the names of 1.2 and later), Laminar 0.8, TruLens 2.16 (trulens-otel-semconv), Koog 0.6,
Sentry's agent monitoring as of 2026, and Gemini CLI 0.20.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from pixie_otel import attributes as general_keys
from pixie_otel.attributes import coding_agents as gemini_keys
from pixie_otel.attributes import koog as koog_keys
from pixie_otel.attributes import laminar as laminar_keys
from pixie_otel.attributes import livekit as livekit_keys
from pixie_otel.attributes import sentry as sentry_keys
from pixie_otel.attributes import trulens as trulens_keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.chat import messages
from pixie_otel.traces.dialects.failures import failure
from pixie_otel.traces.dialects.identities import first_identity
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.recorded import are_messages, read_given, read_given_back
from pixie_otel.traces.dialects.retrieved import documents, question
from pixie_otel.traces.dialects.toolcalls import tool_definitions
from pixie_otel.traces.dialects.values import decoded, first_number, first_text, first_whole, text, texts
from pixie_otel.traces.spans import ObservationKind

__all__ = ["VOCABULARIES", "Vocabulary", "read", "roots"]


class Vocabulary(Struct, frozen=True, kw_only=True):
    """How a framework names what others name as well; of several keys, the first that is there counts.

    Attributes:
        name: The dialect's name.
        kind: The key that says what a span is.
        kinds: What its values mean, in lower case.
        signs: Keys that only spans of a kind have, in the order in which they are looked for.
        own: Keys with which the framework says something of a span also where it does not say what that is.
        marks: How a key may begin in place of how it begins here, as the later form and the common one.
        input: What went in; of a model call, the messages.
        arguments_prefix: How the keys of a function's arguments begin.
        output: What came out; of a model call, the answer as text, texts or messages.
        calls: The tools that the model called.
        tools: The tools that it was offered.
        tool_name: The tool that was run.
        tool_call_id: The call that it answers.
        query: What was searched for.
        documents: What was found.
        texts: What was embedded.
        model: The model asked for.
        input_tokens: Tokens in.
        output_tokens: Tokens out.
        reasoning_tokens: Those of them that were spent on reasoning.
        cache_read_tokens: Tokens in that came from a cache.
        cache_creation_tokens: Tokens in that were written to a cache.
        cost: What it cost.
        time_to_first_token: Milliseconds until the first token.
        session: The session.
        user: The user.
        metadata_prefix: How the keys of metadata begin.
        error: What went wrong.
    """

    name: str
    kind: str = ""
    kinds: Mapping[str, ObservationKind] = {}
    signs: tuple[tuple[str, ObservationKind], ...] = ()
    own: tuple[str, ...] = ()
    marks: tuple[str, str] | None = None
    input: tuple[str, ...] = ()
    arguments_prefix: str = ""
    output: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    tool_name: tuple[str, ...] = ()
    tool_call_id: tuple[str, ...] = ()
    query: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    input_tokens: tuple[str, ...] = ()
    output_tokens: tuple[str, ...] = ()
    reasoning_tokens: tuple[str, ...] = ()
    cache_read_tokens: tuple[str, ...] = ()
    cache_creation_tokens: tuple[str, ...] = ()
    cost: tuple[str, ...] = ()
    time_to_first_token: tuple[str, ...] = ()
    session: tuple[str, ...] = ()
    user: tuple[str, ...] = ()
    metadata_prefix: str = ""
    error: tuple[str, ...] = ()


_LIVEKIT: Final = Vocabulary(
    name="livekit",
    marks=(livekit_keys.MARKED, livekit_keys.PREFIX),
    signs=(
        (livekit_keys.TOOL_NAME, ObservationKind.TOOL),
        (livekit_keys.FUNCTION_TOOLS, ObservationKind.LLM),
        (livekit_keys.USER_INPUT, ObservationKind.AGENT),
        (livekit_keys.INSTRUCTIONS, ObservationKind.AGENT),
    ),
    own=(livekit_keys.RESPONSE_TEXT,),
    input=(livekit_keys.TOOL_ARGUMENTS, livekit_keys.USER_INPUT, livekit_keys.CHAT_CONTEXT),
    output=(livekit_keys.TOOL_OUTPUT, livekit_keys.RESPONSE_TEXT),
    calls=(livekit_keys.FUNCTION_CALLS,),
    tool_name=(livekit_keys.TOOL_NAME,),
    tool_call_id=(livekit_keys.TOOL_ID,),
)
_LAMINAR: Final = Vocabulary(
    name="laminar",
    kind=laminar_keys.SPAN_TYPE,
    kinds={
        "llm": ObservationKind.LLM,
        "tool": ObservationKind.TOOL,
        "evaluator": ObservationKind.EVALUATOR,
        "human_evaluator": ObservationKind.EVALUATOR,
        "default": ObservationKind.CHAIN,
        "executor": ObservationKind.CHAIN,
        "evaluation": ObservationKind.CHAIN,
    },
    own=(laminar_keys.INPUT, laminar_keys.OUTPUT, laminar_keys.SESSION, laminar_keys.USER),
    input=(laminar_keys.INPUT,),
    output=(laminar_keys.OUTPUT,),
    session=(laminar_keys.SESSION,),
    user=(laminar_keys.USER,),
    metadata_prefix=laminar_keys.METADATA,
)
_TRULENS: Final = Vocabulary(
    name="trulens",
    kind=trulens_keys.SPAN_TYPE,
    kinds={
        "generation": ObservationKind.LLM,
        "retrieval": ObservationKind.RETRIEVER,
        "reranking": ObservationKind.RERANKER,
        "tool": ObservationKind.TOOL,
        "mcp": ObservationKind.TOOL,
        "agent": ObservationKind.AGENT,
        "guardrail": ObservationKind.GUARDRAIL,
        "eval": ObservationKind.EVALUATOR,
        "eval_root": ObservationKind.EVALUATOR,
        "eval_decision": ObservationKind.EVALUATOR,
        "record_root": ObservationKind.CHAIN,
        "nested_record_root": ObservationKind.CHAIN,
        "graph_task": ObservationKind.CHAIN,
        "graph_node": ObservationKind.CHAIN,
        "workflow_step": ObservationKind.CHAIN,
    },
    input=(trulens_keys.ROOT_INPUT, trulens_keys.MCP_ARGUMENTS, trulens_keys.QUERY, trulens_keys.RERANK_QUERY),
    arguments_prefix=trulens_keys.CALL_KWARGS,
    output=(trulens_keys.ROOT_OUTPUT, trulens_keys.MCP_CONTENT, trulens_keys.CALL_RETURN),
    tool_name=(trulens_keys.MCP_TOOL,),
    query=(trulens_keys.QUERY, trulens_keys.RERANK_QUERY),
    documents=(trulens_keys.CONTEXTS, trulens_keys.RERANKED),
    model=(trulens_keys.MODEL,),
    input_tokens=(trulens_keys.PROMPT_TOKENS,),
    output_tokens=(trulens_keys.COMPLETION_TOKENS,),
    reasoning_tokens=(trulens_keys.REASONING_TOKENS,),
    cost=(trulens_keys.COST,),
    time_to_first_token=(trulens_keys.TIME_TO_FIRST_TOKEN,),
    session=(trulens_keys.CONVERSATION,),
    error=(trulens_keys.ROOT_ERROR, trulens_keys.CALL_ERROR),
)
_KOOG: Final = Vocabulary(
    name="koog",
    signs=tuple(
        (key, ObservationKind.CHAIN)
        for key in (
            koog_keys.NODE_ID,
            koog_keys.NODE_NAME,
            koog_keys.SUBGRAPH_ID,
            koog_keys.SUBGRAPH_NAME,
            koog_keys.STRATEGY,
        )
    ),
    input=(koog_keys.NODE_INPUT, koog_keys.SUBGRAPH_INPUT),
    output=(koog_keys.NODE_OUTPUT, koog_keys.SUBGRAPH_OUTPUT),
)
_SENTRY: Final = Vocabulary(
    name="sentry",
    signs=(
        (sentry_keys.TOOL_INPUT, ObservationKind.TOOL),
        (sentry_keys.TOOL_OUTPUT, ObservationKind.TOOL),
        (sentry_keys.EMBEDDINGS_INPUT, ObservationKind.EMBEDDING),
    ),
    own=(
        sentry_keys.REQUEST_MESSAGES,
        sentry_keys.RESPONSE_TEXT,
        sentry_keys.RESPONSE_OBJECT,
        sentry_keys.RESPONSE_TOOL_CALLS,
        sentry_keys.CACHED_TOKENS,
        sentry_keys.REASONING_TOKENS,
    ),
    input=(sentry_keys.TOOL_INPUT, sentry_keys.REQUEST_MESSAGES),
    output=(sentry_keys.TOOL_OUTPUT, sentry_keys.RESPONSE_TEXT, sentry_keys.RESPONSE_OBJECT),
    calls=(sentry_keys.RESPONSE_TOOL_CALLS,),
    tools=(sentry_keys.AVAILABLE_TOOLS,),
    texts=(sentry_keys.EMBEDDINGS_INPUT,),
    reasoning_tokens=(sentry_keys.REASONING_TOKENS,),
    cache_read_tokens=(sentry_keys.CACHED_TOKENS,),
    cache_creation_tokens=(sentry_keys.CACHE_WRITE_TOKENS,),
)
_GEMINI_CLI: Final = Vocabulary(
    name="gemini_cli",
    kind=general_keys.GENAI_OPERATION,
    kinds={
        "tool_call": ObservationKind.TOOL,
        "agent_call": ObservationKind.AGENT,
        "user_prompt": ObservationKind.CHAIN,
        "system_prompt": ObservationKind.CHAIN,
        "schedule_tool_calls": ObservationKind.CHAIN,
    },
    input=(general_keys.GENAI_INPUT_MESSAGES,),
    output=(general_keys.GENAI_OUTPUT_MESSAGES,),
    tool_name=(general_keys.GENAI_TOOL_NAME,),
    tool_call_id=(gemini_keys.GEMINI_CALL_ID, general_keys.GENAI_TOOL_CALL_ID),
)
VOCABULARIES: Final = (_LIVEKIT, _LAMINAR, _TRULENS, _KOOG, _SENTRY, _GEMINI_CLI)
"""The frameworks that are read by their keys."""


def roots(vocabulary: Vocabulary) -> frozenset[str]:
    """Give the keys without any of which a framework says nothing of a span.

    Args:
        vocabulary: How it names things.
    """
    common = {vocabulary.kind, *(key for key, _ in vocabulary.signs), *vocabulary.own} - {""}
    if vocabulary.marks is None:
        return frozenset(common)
    mark, unmarked = vocabulary.marks
    return frozenset(common | {mark + key.removeprefix(unmarked) for key in common})


def read(vocabulary: Vocabulary, span: SpanFacts) -> Reading | None:
    """Read what a framework says of a span.

    Args:
        vocabulary: How it names things.
        span: The span.

    Returns:
        The reading; ``None`` where it says nothing.
    """
    attributes = _unmarked(vocabulary, span.attributes)
    kind = _kind(vocabulary, attributes)
    if kind is None and not any(key in attributes for key in vocabulary.own):
        return None
    given, given_back = _value(attributes, vocabulary.input), _value(attributes, vocabulary.output)
    if given is None and vocabulary.arguments_prefix:
        given = _below(attributes, vocabulary.arguments_prefix)
    reading = Reading(
        kind=kind,
        input=given,
        output=given_back,
        session_id=first_identity(attributes, vocabulary.session),
        user_id=first_identity(attributes, vocabulary.user),
        metadata=_below(attributes, vocabulary.metadata_prefix) if vocabulary.metadata_prefix else None,
        request_model=first_text(attributes, vocabulary.model),
        input_tokens=first_whole(attributes, vocabulary.input_tokens),
        output_tokens=first_whole(attributes, vocabulary.output_tokens),
        reasoning_tokens=first_whole(attributes, vocabulary.reasoning_tokens),
        cache_read_tokens=first_whole(attributes, vocabulary.cache_read_tokens),
        cache_creation_tokens=first_whole(attributes, vocabulary.cache_creation_tokens),
    )
    if (wrong := first_text(attributes, vocabulary.error)) is not None:
        reading.error = failure(span, wrong)
    match kind:
        case ObservationKind.TOOL:
            reading.tool_name = first_text(attributes, vocabulary.tool_name)
            reading.tool_call_id = first_text(attributes, vocabulary.tool_call_id)
            reading.arguments = reading.input = _arguments(given)
            reading.result = given_back
        case ObservationKind.RETRIEVER | ObservationKind.RERANKER:
            reading.query = first_text(attributes, vocabulary.query) or question(given)
            found = _value(attributes, vocabulary.documents)
            reading.documents = documents(given_back if found is None else found)
        case ObservationKind.EMBEDDING:
            reading.texts = texts(_value(attributes, vocabulary.texts)) or None
        case ObservationKind.LLM | None:
            _read_call(vocabulary, attributes, reading)
        case _:
            pass
    return reading


def _unmarked(vocabulary: Vocabulary, attributes: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    if vocabulary.marks is None:
        return attributes
    later, common = vocabulary.marks
    return {
        common + key.removeprefix(later) if key.startswith(later) else key: value for key, value in attributes.items()
    }


def _kind(vocabulary: Vocabulary, attributes: Mapping[str, JsonValue]) -> ObservationKind | None:
    said = text(attributes.get(vocabulary.kind)) if vocabulary.kind else None
    if said is not None and (kind := vocabulary.kinds.get(said.lower())) is not None:
        return kind
    for key, kind in vocabulary.signs:
        if key in attributes:
            return kind
    return None


def _read_call(vocabulary: Vocabulary, attributes: Mapping[str, JsonValue], reading: Reading) -> None:
    reading.cost = first_number(attributes, vocabulary.cost)
    reading.time_to_first_token_ms = first_number(attributes, vocabulary.time_to_first_token)
    offered = _value(attributes, vocabulary.tools)
    reading.tool_definitions = (tool_definitions(offered) or None) if isinstance(offered, list) else None
    reading.fill(read_given(_conversation(reading.input)))
    reading.fill(read_given_back(reading.output))
    if isinstance(called := _value(attributes, vocabulary.calls), list) and called:
        said = "".join(item.text for item in reading.output_messages or ())
        reading.output_messages = messages({"role": "assistant", "content": said, "tool_calls": called})
    if reading.kind is None:
        # Whether it is a call, other vocabularies say; messages are no input of anything else.
        reading.input = reading.output = None


def _conversation(given: JsonValue) -> JsonValue:
    """Give a conversation that is kept as a list of items: those that are no messages are the framework's own."""
    items = given.get("items") if isinstance(given, dict) else None
    if not isinstance(items, list):
        return given
    return [item for item in items if are_messages(item)]


def _arguments(given: JsonValue) -> JsonValue:
    """Give what a tool was called with; some frameworks record the whole request for it."""
    if isinstance(given, dict) and "callId" in given and "args" in given:
        return decoded(given["args"])
    return given


def _below(attributes: Mapping[str, JsonValue], prefix: str) -> dict[str, JsonValue] | None:
    found = {key.removeprefix(prefix): decoded(value) for key, value in attributes.items() if key.startswith(prefix)}
    return found or None


def _value(attributes: Mapping[str, JsonValue], names: tuple[str, ...]) -> JsonValue:
    return next((decoded(found) for name in names if (found := attributes.get(name)) is not None), None)
