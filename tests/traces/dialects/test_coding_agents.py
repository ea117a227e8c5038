"""Claude Code and Codex CLI: attributes as they are documented and seen."""

from __future__ import annotations

import pytest
from observed import event, log, observed, observed_call

from pixie_otel.traces.messages import AssistantMessage, SystemMessage, TextContent, ToolResultMessage, UserMessage
from pixie_otel.traces.spans import AgentSpan, LLMSpan, ObservationKind, ToolSpan

REQUEST = {
    "session.id": "cec62d6f",
    "span.type": "llm_request",
    "model": "claude-opus-5",
    "gen_ai.system": "anthropic",
    "gen_ai.request.model": "claude-opus-5",
    "input_tokens": 2,
    "output_tokens": 1200,
    "cache_read_tokens": 84562,
    "cache_creation_tokens": 7096,
    "ttft_ms": 812,
    "success": True,
    "stop_reason": "tool_use",
}


def test_a_request_of_claude_code() -> None:
    """Keys have no prefix, and input tokens are without what was cached."""
    span = observed_call(REQUEST, name="claude_code.llm_request")

    assert (span.provider, span.model, span.session_id) == ("anthropic", "claude-opus-5", "cec62d6f")
    assert (span.input_tokens, span.output_tokens) == (2 + 84562 + 7096, 1200)
    assert (span.cache_read_tokens, span.cache_creation_tokens) == (84562, 7096)
    assert (span.finish_reasons, span.time_to_first_token_ms, span.error) == (("tool_calls",), 812, None)
    assert span.dialects[0] == "coding_agents"


def test_content_of_a_request() -> None:
    """What is new in the conversation stands in one text, under heads that say who said it."""
    span = observed_call(
        {
            **REQUEST,
            "system_prompt_preview": "You are Claude Code.",
            "new_context": "[USER]\nFix the bug.\n\n---\n\n[TOOL RESULT: toolu_1]\nok\n[ASSISTANT]\nDone.\n",
            "response.model_output": "Fixed.",
        },
        name="claude_code.llm_request",
    )

    assert span.input_messages == (
        SystemMessage(content=(TextContent("You are Claude Code."),)),
        UserMessage(content=(TextContent("Fix the bug."),)),
        ToolResultMessage(content=(TextContent("ok"),), tool_call_id="toolu_1"),
        AssistantMessage(content=(TextContent("Done."),)),
    )
    assert span.output == "Fixed."
    assert len(span.notes) == 1


@pytest.mark.parametrize(
    ("context", "texts"), [("just text", ["just text"]), ("before\n[USER]\nHi", ["before", "Hi"]), ("<REDACTED>", [])]
)
def test_context_without_heads(context: str, texts: list[str]) -> None:
    """A text without heads is the user's; a redacted one is none."""
    span = observed_call({**REQUEST, "new_context": context}, name="claude_code.llm_request")

    assert [item.text for item in span.input_messages] == texts


def test_a_failed_request() -> None:
    """Success tells, and the error says why."""
    span = observed_call({**REQUEST, "success": False, "error": "529 overloaded"}, name="claude_code.llm_request")

    assert span.error is not None
    assert span.error.message == "529 overloaded"


def test_an_interaction() -> None:
    """One turn of the user: the prompt on the span or in its log record, the answer in the last record of one."""
    shown = observed({"span.type": "interaction", "user_prompt": "Fix it."}, name="claude_code.interaction")
    told = observed(
        {"span.type": "interaction", "user_prompt": "<REDACTED>"},
        log("user_prompt", "claude_code.user_prompt", prompt="Fix it."),
        log("assistant_response", "claude_code.assistant_response", response="Looking."),
        log("claude_code.assistant_response", "", response="Fixed."),
        log("assistant_response", "", response="<REDACTED>"),
        name="claude_code.interaction",
    )

    assert isinstance(shown, AgentSpan)
    assert (shown.input, told.input, told.output) == ("Fix it.", "Fix it.", "Fixed.")


def test_a_tool_of_claude_code() -> None:
    """Arguments and result stand under heads, in an event, or only in part."""
    detailed = observed(
        {
            "span.type": "tool",
            "tool_name": "Bash",
            "tool_use_id": "toolu_1",
            "tool_input": '[TOOL INPUT: Bash]\n{"command":"ls"}',
            "new_context": "[TOOL RESULT: Bash]\na.txt",
        },
        name="claude_code.tool",
    )
    plain = observed(
        {"tool_name": "Bash", "full_command": "ls"},
        event("tool.output", {"bash_command": "ls", "output": "a.txt"}),
        name="claude_code.tool",
    )
    bare = observed({"tool_name": "Read"}, event("tool.output"), name="claude_code.tool")

    assert isinstance(detailed, ToolSpan)
    assert (detailed.tool_name, detailed.tool_call_id) == ("Bash", "toolu_1")
    assert (detailed.arguments, detailed.result) == ({"command": "ls"}, "a.txt")
    assert isinstance(plain, ToolSpan)
    assert (plain.arguments, plain.result) == ({"command": "ls"}, "a.txt")
    assert isinstance(bare, ToolSpan)
    assert (bare.arguments, bare.result) == (None, None)


@pytest.mark.parametrize("name", ["claude_code.tool.execution", "claude_code.tool.blocked_on_user", "claude_code.hook"])
def test_what_is_within_a_tool_is_no_tool(name: str) -> None:
    """A tool's run and the wait for leave lie within its span, and must not count again."""
    assert observed({"tool_name": "Bash"}, name=name).kind is ObservationKind.OTHER


def test_spans_of_others_with_such_words() -> None:
    """The words alone say nothing."""
    assert observed({"span.type": "web", "model": "m", "input_tokens": 3}, name="GET /").dialects == ()


def test_codex() -> None:
    """Of the spans around a response, that with the tokens is the call; a turn holds their sum."""
    call = observed_call(
        {
            "gen_ai.usage.input_tokens": 100,
            "gen_ai.usage.cache_read.input_tokens": 80,
            "gen_ai.usage.output_tokens": 20,
            "codex.usage.reasoning_output_tokens": 5,
            "codex.usage.total_tokens": 120,
        },
        name="handle_responses",
    )
    event_only = observed({"codex.request.reasoning_effort": "high"}, name="handle_responses")
    turn = observed(
        {"codex.turn.token_usage.input_tokens": 300, "model": "gpt-5.5", "conversation.id": "s-1"},
        log("codex.user_prompt", "", prompt="Fix it."),
        name="session_task.turn",
    )

    assert (call.input_tokens, call.output_tokens, call.cache_read_tokens, call.reasoning_tokens) == (100, 20, 80, 5)
    assert not isinstance(event_only, LLMSpan)
    assert isinstance(turn, AgentSpan)
    assert (turn.input, turn.session_id) == ("Fix it.", "s-1")


def test_a_tool_of_codex() -> None:
    """The span names tool and call, the record of it has arguments and result."""
    span = observed(
        {"tool_name": "shell", "call_id": "call_1", "thread.id": "s-1", "aborted": False},
        log("codex.tool_result", "", arguments='{"command":["ls"]}', output="a.txt"),
        name="shell",
    )

    assert isinstance(span, ToolSpan)
    assert (span.tool_name, span.tool_call_id, span.session_id) == ("shell", "call_1", "s-1")
    assert (span.arguments, span.result) == ({"command": ["ls"]}, "a.txt")
