"""What a trace file of the corpus records, by the truth beside it, against what is read from it.

A truth holds the script of a scenario (``traces``) and, under ``recorded``, where in the file each fact stands: places
like ``span name :: attribute``, none where the library did not record it. A fact counts only where it stands.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pixie_otel.evaluable import collapse_named_data
from pixie_otel.traces.dialects.values import decoded
from pixie_otel.traces.messages import AssistantMessage, Message, ToolResultMessage
from pixie_otel.traces.observe import finish_reason
from pixie_otel.traces.selectors import last_llm_call, root
from pixie_otel.traces.spans import RetrieverSpan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from pixie_otel.evaluable import ToolCall
    from pixie_otel.traces.spans import LLMSpan
    from pixie_otel.traces.trace import Trace
    from pixie_otel.traces.tree import ObservationNode

_DEFINITIONS = ("tool.definitions", "functions", ".tools", "tools[]")


@dataclass(frozen=True)
class Truth:
    """The truth about one file.

    Attributes:
        path: Where it lies.
        traces: The script of each trace, in order.
        recorded: Where in the file each fact stands.
    """

    path: Path
    traces: list[dict[str, Any]]
    recorded: dict[str, Any]

    @classmethod
    def load(cls, path: Path) -> Truth:
        """Read a truth file."""
        said = json.loads(path.read_text(encoding="utf-8"))
        return cls(path, said["traces"], said["recorded"])

    @property
    def files(self) -> list[Path]:
        """The trace file, and the file of log records where there is one."""
        names = (self.recorded["file"], self.recorded["logs_file"])
        return [self.path.with_name(name) for name in names if name]

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The model calls of all traces."""
        return [call for trace in self.traces for call in trace.get("llm_calls", ())]

    def places(self, fact: str) -> list[str]:
        """Say where a fact stands."""
        return [place for place in self.recorded.get(fact) or () if isinstance(place, str)]

    def on_calls(self, fact: str) -> list[str]:
        """Say where a fact stands on the model calls themselves, rather than on what is around or offered to them."""
        calls = set(self.recorded.get("usage_on_spans") or ()) - set(self.recorded.get("tool_spans") or ())
        return [
            place
            for place in self.places(fact)
            if not any(mark in place for mark in _DEFINITIONS)
            and (_owner(place) in calls or (place.startswith("log ") and ("message" in place or "choice" in place)))
        ]

    def on_tools(self, fact: str) -> bool:
        """Say whether a fact stands on a tool's span."""
        return any(_owner(place) in (self.recorded.get("tool_spans") or ()) for place in self.places(fact))


@dataclass
class Comparison:
    """What was compared.

    Attributes:
        facts: How many facts were compared.
        misses: Those that were read wrong: name, what was read, what is recorded.
    """

    facts: int = 0
    misses: list[tuple[str, object, object]] = field(default_factory=list)

    def equal(self, fact: str, read: object, recorded: object) -> None:
        """Compare a fact that must be just so."""
        self.holds(fact, read, recorded, ok=read == recorded)

    def holds(self, fact: str, read: object, recorded: object, *, ok: bool) -> None:
        """Note whether a fact was read right."""
        self.facts += 1
        if not ok:
            self.misses.append((fact, read, recorded))


def compare(traces: Sequence[Trace], truth: Truth) -> Comparison:
    """Compare what was read from a file with what it records.

    Args:
        traces: The traces read.
        truth: The truth about the file.
    """
    found = Comparison()
    ordered = sorted(traces, key=lambda trace: trace.start_time_unix_nano)
    compared: tuple[Callable[[Sequence[Trace], Truth, Comparison], None], ...] = (
        _compare_shape,
        _compare_calls,
        _compare_conversations,
        _compare_asked_tools,
        _compare_tools,
        _compare_documents,
        _compare_roots,
        _compare_runs,
    )
    for part in compared:
        part(ordered, truth, found)
    return found


def _compare_shape(traces: Sequence[Trace], truth: Truth, found: Comparison) -> None:
    recorded = truth.recorded
    found.equal("number of spans", sum(len(trace.spans) for trace in traces), recorded["span_count"])
    found.equal("number of traces", len(traces), recorded["trace_count"])
    roots = Counter(node.span.name for trace in traces for node in trace.roots)
    found.holds("roots", roots, recorded["root_spans"], ok=set(recorded["root_spans"]) <= set(roots))
    if len(recorded["tree"]) == recorded["span_count"]:
        lines = [line for trace in traces for node in trace.roots for line in _outline(node)]
        found.equal("tree", Counter(lines), Counter(recorded["tree"]))
    if any(trace.get("error") for trace in truth.traces) and any(
        recorded.get(fact) for fact in ("error_status_spans", "exception_events", "error.type")
    ):
        errors = [span.error for trace in traces for span in trace.spans if span.error is not None]
        found.holds("errors", errors, "at least one", ok=bool(errors))
    sessions = {trace.get("session_id") for trace in truth.traces} - {None}
    if recorded.get("session_id") and sessions:
        found.equal("sessions", {trace.session_id for trace in traces} & sessions, sessions)


def _compare_calls(traces: Sequence[Trace], truth: Truth, found: Comparison) -> None:
    read = _calls(traces)
    said = truth.calls
    if truth.places("model") or "llm_calls" in truth.recorded:
        found.equal("number of calls", len(read), truth.recorded.get("llm_calls", len(said)))
    # Where a library records fewer calls than were made, which of them is not said.
    pairs = list(zip(read, said, strict=True)) if len(read) == len(said) else []
    for call, script in pairs:
        if truth.places("model") and not script["error"]:
            models = (call.request_model, call.response_model)
            ok = any((name or "").rpartition("/")[2].startswith(script["model"]) for name in models)
            found.holds("model", models, script["model"], ok=ok)
        for direction in ("input_tokens", "output_tokens"):
            if truth.places(f"{direction}(last call)") and script[direction] is not None and not script["error"]:
                found.equal(direction, getattr(call, direction), script[direction])
        reasons = {finish_reason(place.rpartition(" = ")[2]) for place in truth.on_calls("finish_reason")}
        if not script["error"] and finish_reason(script["finish_reason"] or "") in reasons:
            # OpenAI's responses end as "completed" on the wire where libraries say "tool_calls".
            read_reasons = set(call.finish_reasons)
            found.holds("finish reasons", read_reasons, reasons, ok=bool(read_reasons) and read_reasons <= reasons)


def _compare_conversations(traces: Sequence[Trace], truth: Truth, found: Comparison) -> None:
    read, said = _calls(traces), truth.calls
    if len(read) != len(said):
        return
    for call, script in zip(read, said, strict=True):
        if truth.on_calls("root_input_text_anywhere"):
            wanted = [_said(item) for item in script["input_messages"]]
            got = [_heard(item) for item in call.input_messages]
            found.holds("conversation", got, wanted, ok=_is_told(got, wanted, script["api"], call.dropped_attributes))
        if truth.on_calls("last_llm_output_text") and script["output_text"] and not script["error"]:
            answer = _squeezed("".join(item.text for item in call.output_messages))
            found.equal("answer", answer, _squeezed(script["output_text"]))
    last = said[-1] if said else None
    if last and not last["error"] and truth.places("last_llm_output_text") and last["output_text"]:
        holder = [trace for trace in traces if trace.llm_calls][-1]
        given = collapse_named_data(last_llm_call(holder).eval_output)
        # An answer that also asks for tools is its text and the calls.
        given = given.get("content") if isinstance(given, dict) and last["output_tool_calls"] else given
        found.equal("output of last_llm_call", _squeezed(_text(given)), _squeezed(last["output_text"]))


def _compare_asked_tools(traces: Sequence[Trace], truth: Truth, found: Comparison) -> None:
    asked = [call for item in _calls(traces) for message in item.output_messages for call in _tool_calls(message)]
    script = [call for item in truth.calls for call in item.get("output_tool_calls", ())]
    if not script or not truth.on_calls("llm_output_tool_call_name"):
        return
    found.equal("tools asked for", [call.name for call in asked], [call["name"] for call in script])
    if truth.on_calls("llm_output_tool_call_args"):
        found.equal("arguments", [call.arguments for call in asked], [call["arguments"] for call in script])
    if truth.on_calls("tool_call_id"):
        found.equal("tool call ids", [call.id for call in asked], [call["id"] for call in script])


def _compare_tools(traces: Sequence[Trace], truth: Truth, found: Comparison) -> None:
    script = [call for trace in truth.traces for call in trace["tool_calls_executed"]]
    if not script or not truth.recorded.get("tool_spans"):
        return
    spans = [span for trace in traces for span in trace.tool_spans]
    found.equal("tools run", Counter(span.tool_name for span in spans), Counter(call["name"] for call in script))
    if truth.on_tools("llm_output_tool_call_args"):
        wanted = _sorted(call["arguments"] for call in script)
        found.equal("arguments of tools", _sorted(span.arguments for span in spans), wanted)
    if truth.places("tool_result_on_tool_span"):
        results = [call["result"] for call in script if isinstance(call["result"], dict)]
        read = [span.result for span in spans if span.error is None]
        found.holds("results", read, results, ok=all(result in read for result in results))


def _compare_documents(traces: Sequence[Trace], truth: Truth, found: Comparison) -> None:
    recorded = truth.recorded.get("retrieved_documents")
    if not isinstance(recorded, dict):
        return
    wanted = {
        content
        for content, places in recorded.items()
        if any("retrieval.documents" in place or "retriev" in _owner(place).lower() for place in places)
    }
    if wanted:
        spans = [span for trace in traces for span in trace.spans if isinstance(span, RetrieverSpan)]
        found.equal("documents", {document.content for span in spans for document in span.documents}, wanted)


def _compare_roots(traces: Sequence[Trace], truth: Truth, found: Comparison) -> None:
    if len(traces) != len(truth.traces):
        return
    for trace, script in zip(traces, truth.traces, strict=True):
        question = _squeezed(_question(script["root_input"]))
        if question and truth.places("root_input_text_on_root_span"):
            given = _squeezed(_text(collapse_named_data(root(trace).eval_input)))
            found.holds("root input", given, question, ok=question in given)
        answer = script["root_output"]
        if isinstance(answer, str) and truth.places("root_output_text_on_root_span"):
            given = _squeezed(_text(collapse_named_data(root(trace).eval_output)))
            found.holds("root output", given, answer, ok=_squeezed(answer) in given)


def _compare_runs(traces: Sequence[Trace], truth: Truth, found: Comparison) -> None:
    """Compare what agents were asked and answered that are neither a trace's root nor a model call."""
    for run in truth.recorded.get("runs", ()):
        spans = [span for trace in traces for span in trace.spans if span.name == run["span"]]
        for side in ("input", "output"):
            read = [_squeezed(_text(getattr(span, side))) for span in spans]
            found.holds(
                f"{side} of {run['span']}", read, run[side], ok=any(_squeezed(run[side]) in text for text in read)
            )


def _owner(place: str) -> str:
    return place.split(" :: ", maxsplit=1)[0].split(" >", maxsplit=1)[0]


def _calls(traces: Sequence[Trace]) -> list[LLMSpan]:
    return [call for trace in traces for call in trace.llm_calls]


def _outline(top: ObservationNode) -> Iterator[str]:
    pending = [(top, 0)]
    while pending:
        node, depth = pending.pop()
        yield "  " * depth + node.span.name
        pending.extend((child, depth + 1) for child in reversed(node.children))


def _tool_calls(message: Message) -> tuple[ToolCall, ...]:
    return message.tool_calls if isinstance(message, AssistantMessage) else ()


@dataclass(frozen=True)
class _Said:
    """What the truth knows of a message."""

    role: str
    text: str
    calls: tuple[tuple[str | None, str, str], ...] = ()
    answers: str | None = None

    def matches(self, other: _Said) -> bool:
        """Say whether it is the other; some libraries do not record which call a result answers."""
        same_answer = None in (self.answers, other.answers) or self.answers == other.answers
        return (self.role, self.text, self.calls) == (other.role, other.text, other.calls) and same_answer


def _role(said: str) -> str:
    """Give a role; some libraries record instructions of the one name as of the other."""
    return "system" if said == "developer" else said


def _heard(message: Message) -> _Said:
    calls = tuple((call.id, call.name, _text(call.arguments)) for call in _tool_calls(message))
    answers = message.tool_call_id if isinstance(message, ToolResultMessage) else None
    return _Said(_role(message.role), _squeezed(_text(decoded(message.text))), calls, answers)


def _said(message: dict[str, Any]) -> _Said:
    calls = tuple((call["id"], call["name"], _text(call["arguments"])) for call in message.get("tool_calls") or ())
    return _Said(
        _role(message["role"]),
        _squeezed(_text(decoded(_question(message["content"])))),
        calls,
        message.get("tool_call_id"),
    )


def _is_told(got: Sequence[_Said], wanted: Sequence[_Said], api: str, dropped: int) -> bool:
    """Say whether a conversation was read as it was recorded."""
    if api == "openai.responses":
        # The server may know what came before, and some libraries record the texts only.
        rest = iter(wanted)
        return bool(got) and all(any(item.matches(other) for other in rest) for item in got)
    if dropped:
        # A full span drops its oldest attributes, and with them the beginning of a long conversation.
        wanted = wanted[len(wanted) - len(got) + 1 :]
        got = got[1:]
    return len(got) == len(wanted) and all(map(_Said.matches, got, wanted))


def _question(value: object) -> str:
    """Give the text of a question that an app was given as text, messages, parts or a mapping."""
    if isinstance(value, list):
        spoken = [item for item in value if isinstance(item, dict) and item.get("role")]
        if spoken:
            users = [item for item in spoken if item["role"] == "user"]
            return _question((users or spoken)[-1]["content"])
        return " ".join(filter(None, map(_question, value)))
    if isinstance(value, dict):
        if str(value.get("type", "text")) not in ("text", "input_text"):
            return ""
        keys = ("content", "prompt", "question", "input", "text", "message", "messages", "query")
        return next((_question(value[key]) for key in keys if key in value), "")
    if not isinstance(value, str):
        return ""
    # A word in angle brackets stands in the script for what is no text.
    return "" if value.startswith("<") and value.endswith(">") else value


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _sorted(values: Iterable[object]) -> list[str]:
    return sorted(json.dumps(value, sort_keys=True) for value in values)
