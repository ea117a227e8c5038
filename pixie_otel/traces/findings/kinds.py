"""Every kind of problem that can be found: what it is, how much it matters, and what to do about it.

One table for what reading finds, for how the spans of a trace hang together, and for what observations hold, so that a
kind cannot be reported without an explanation.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from msgspec import Struct

__all__ = ["KINDS", "ProblemKind", "Weight", "kind_of"]


class Weight(StrEnum):
    """How much a kind of problem matters to an evaluation."""

    ERROR = "error"
    """Something is not there, or wrong: what is judged by it is judged wrongly."""

    WARNING = "warning"
    """Something may be missing, and some evaluators cannot judge."""

    NOTE = "note"
    """It is dealt with, and good to know."""


class ProblemKind(Struct, frozen=True):
    """A kind of problem.

    Attributes:
        name: Its short, stable name.
        weight: How much it matters.
        title: What it is, in a sentence.
        fix: What to change. The first line is for people; those after it are to be typed.
    """

    name: str
    weight: Weight
    title: str
    fix: str


_AGAIN: Final = "Export the traces again; what was cut off is not in the file."
_TEXT: Final = "Leave the file out where it holds no traces; where its writer was cut off, export the traces again."
_COPY: Final = "Copy the file again from where it was written."
_LATER: Final = "Read it again when its writer has finished."
_LIMITS: Final = "Split the file, or let 'eval' read longer ones:", "--max-line-bytes 1000000000"
_EXPORTER: Final = "Correct what writes the file; what it means is read as told."


def _table(weight: Weight, rows: Mapping[str, tuple[str, ...]]) -> dict[str, ProblemKind]:
    """Make kinds of rows: the title, the advice, and what is to be typed."""
    return {name: ProblemKind(name, weight, title, "\n".join(fix)) for name, (title, *fix) in rows.items()}


_UNREADABLE: Final[dict[str, tuple[str, ...]]] = {
    "bad-document": ("A document is no JSON, and was passed over.", _COPY),
    "bad-line": ("A line is no JSON, and was passed over.", _TEXT),
    "bad-log": ("A log record is no JSON object, and was passed over.", _EXPORTER),
    "bad-span": ("A span is no JSON object, and was passed over.", _EXPORTER),
    "bad-gzip": ("A gzip file is damaged; what comes after the damage was not read.", _COPY),
    "bad-protobuf": ("What should be OTLP protobuf is none.", _COPY),
    "bad-zstd": ("A zstd file is damaged; what comes after the damage was not read.", _COPY),
    "compression-bomb": ("A packed file would become far too large.", "Unpack it by hand, and see what it is."),
    "document-too-long": ("A document is longer than the limit, and was passed over.", *_LIMITS),
    "foreign-format": ("A file is no trace file.", "Leave it out, or convert it to OTLP JSON."),
    "gone-file": ("A file was gone before it was read.", _LATER),
    "line-too-long": ("A line is longer than the limit, and was passed over.", *_LIMITS),
    "nested-compression": ("A file is packed in itself too often.", "Unpack it by hand."),
    "nul-bytes": ("A part of a file is NUL bytes, as a crash leaves them.", _COPY),
    "read-error": ("A file could not be read to its end.", "Look after its disk and its permissions, and read again."),
    "shrinking-file": ("A file became shorter while it was read.", _LATER),
    "too-much-data": ("There is more unpacked data than the limit.", "Read the files in parts."),
    "torn-line": ("A line is no whole JSON; its writer was killed, or wrote into another's line.", _AGAIN),
    "truncated-document": ("The file ends within a document.", _AGAIN),
    "truncated-gzip": ("The gzip file ends too early.", _AGAIN),
    "truncated-protobuf": ("The file ends within a message.", _AGAIN),
    "truncated-zstd": ("The zstd file ends too early.", _AGAIN),
}

_LOST: Final[dict[str, tuple[str, ...]]] = {
    "content-off": (
        "Model calls hold no messages, so that nothing that was said can be judged.",
        "Let the instrumentation record messages; OpenTelemetry's own take:",
        "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY",
    ),
    "cut-history": (
        "The messages of a call do not begin with its first one.",
        "The oldest attributes were dropped; raise the limit where the spans are made:",
        "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=10000",
    ),
    "cut-value": (
        "Values were cut, so that they end in the middle.",
        "Take away the limits on their length where the spans are made:",
        "unset OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT",
        "unset OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT",
    ),
    "dropped-attributes": (
        "Spans had more attributes than the limit, and the rest was dropped where they were made.",
        "Raise the limit there (the default is 128):",
        "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=10000",
    ),
    "external-content": (
        "Spans name a place outside the file for what was said.",
        "Let the instrumentation keep messages on the spans as well:",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY",
    ),
    "hidden-content": (
        "What was said was hidden where the spans were made.",
        "Do not hide it there, or judge what does not need it.",
    ),
    "object-repr": (
        "An input or output is the name of a Python or JavaScript object, and not what is in it.",
        "Record what the object gives (of a generator or stream, its items when it has ended), as this does:",
        "@pixie_otel.observe",
    ),
}

_DOUBTFUL_INPUT: Final[dict[str, tuple[str, ...]]] = {
    "ambiguous-conversation": (
        "A trace may belong to several conversations, and was joined to none.",
        "Name the session on its spans:",
        "span.set_attribute('session.id', …)",
    ),
    "bad-shape": ("A part of a document has another form than its format's.", _EXPORTER),
    "bad-value": ("A value is none that OTLP knows, and was left out or kept as text.", _EXPORTER),
    "conflicting-span": (
        "Different spans have the same id; all are kept.",
        "Give every process a random source of ids of its own, also after a fork.",
    ),
    "double-expectation": ("Several rows of expectations fit one trace.", "Keep one of the rows."),
    "duplicate-key": ("A key stands twice in one place; the first counts.", _EXPORTER),
    "growing-file": ("A file became longer while it was read.", _LATER),
    "invalid-text": ("Bytes of a file are no UTF-8.", _EXPORTER),
    "missing-id": ("A span or a trace has no id.", _EXPORTER),
    "nested-too-deep": ("A value is nested deeper than can be read, and was left out.", _EXPORTER),
    "not-otlp": ("A line or document is JSON, and holds no traces.", "Leave it out, or convert it to OTLP JSON."),
    "torn-last-line": ("The last line is not whole: its writer was killed, or is still at work.", _LATER),
    "unmatched-expectation": ("A row of expectations fits no trace.", "Correct its trace_id or input."),
}

_DOUBTFUL_TREE: Final[dict[str, tuple[str, ...]]] = {
    "clock-skew": (
        "Spans end before they start, or start before their parents.",
        "Set the clocks of the machines by NTP; durations across them mean nothing as they are.",
    ),
    "missing-root": (
        "A trace has no true root: its top span is not in the input.",
        "Give the files of all processes together, and flush before a process ends:",
        "provider.shutdown()",
    ),
    "missing-time": ("Spans have no start.", _EXPORTER),
    "orphan-span": (
        "The parents of spans are not in the input: in another file, never exported, or sampled out.",
        "Give the files of all processes together; flush before a process ends; sample whole traces:",
        "OTEL_TRACES_SAMPLER=parentbased_always_on",
    ),
    "parent-cycle": ("Spans are each other's parents.", _EXPORTER),
    "self-parent": ("Spans are their own parents.", _EXPORTER),
    "several-roots": (
        "A trace has several roots; the first that holds something stands for the run.",
        "Start the spans of one run below one span, and pass the context into threads and tasks.",
    ),
    "unfinished-span": (
        "Spans have a start and no end: the program ended first.",
        "End the provider before the program ends:",
        "provider.shutdown()",
    ),
}

_DOUBTFUL_CONTENT: Final[dict[str, tuple[str, ...]]] = {
    "lost-session": (
        "Some traces name a session, and others do not.",
        "Name the session on the spans of every run:",
        "span.set_attribute('session.id', …)",
    ),
    "missing-documents": (
        "Retrievals hold no documents, so that nothing can be judged by them.",
        "Record them on the span: with OpenInference as retrieval.documents.0.document.content and so on.",
    ),
    "missing-input": (
        "Model calls hold an answer, and not what was asked.",
        "Look whether the instrumentation knows this form of input (images, a prompt's id), or a newer version does.",
    ),
    "missing-output": (
        "Model calls neither failed nor hold an answer.",
        "Read streams to their end, and look whether a newer version of the instrumentation records their answers.",
    ),
    "missing-tool-result": (
        "Tools were run, and what they gave back is recorded nowhere.",
        "Let the instrumentation record it, or wrap the tool:",
        "@pixie_otel.observe",
    ),
    "no-model-calls": (
        "An agent ran, and none of its model calls was recorded.",
        "Also instrument the client library that calls the model, or the framework's own model calls.",
    ),
    "no-tokens": (
        "Model calls hold no token counts, so that budgets cannot be judged.",
        "Let the provider send them; OpenAI's streams do so with:",
        "stream_options={'include_usage': True}",
    ),
    "root-without-io": (
        "The span that stands for the run has no input or no output.",
        "Judge the model calls instead, or record both on the root, as pixie_otel.observe does:",
        "--select last_llm_call",
    ),
    "tool-not-run": (
        "A model asked for tools, and neither a run nor a result of them is recorded.",
        "Instrument what runs the tools, or wrap them:",
        "@pixie_otel.observe",
    ),
    "two-instrumentations": (
        "Two instrumentations recorded the same calls.",
        "Each call counts once here, and twice elsewhere; switch one off, with opentelemetry-instrument by its name:",
        "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS=openai",
    ),
}

_DEALT_WITH: Final[dict[str, tuple[str, ...]]] = {
    "doubled-call": (
        "A trace only repeats a call of another trace, and does not count by itself.",
        "It counts once. Where two instrumentations are at work, switch one of them off.",
    ),
    "duplicate-span": ("Spans were exported more than once; each counts once.", "Nothing needs to be done."),
    "empty-file": (
        "A file has nothing in it.",
        "Where traces should be in it, end the provider before the program ends:",
        "provider.shutdown()",
    ),
    "encoded-id": ("Ids are written in base64 and not in hex.", "Nothing needs to be done."),
    "joined-lines": ("Several documents stand on one line; all were read.", "Nothing needs to be done."),
    "late-span": (
        "Spans start after their parents ended, as work in the background and streams do.",
        "Keep the parent open until its work is done, where its duration or output is judged.",
    ),
    "log-text": ("Lines are another program's log, and were passed over.", "Nothing needs to be done."),
    "lone-surrogate": ("A text has half a surrogate pair, and was mended.", "Nothing needs to be done."),
    "no-session": (
        "No trace names a session, so that only messages can tell which belong together.",
        "Where they are conversations, name the session on the spans:",
        "span.set_attribute('session.id', …)",
    ),
    "odd-id": ("Ids have another form than OpenTelemetry's; they are kept.", "Nothing needs to be done."),
    "pending-span": ("Copies of spans that were made when those started were left out.", "Nothing needs to be done."),
    "remote-parent": (
        "The parents of top spans are in another process, and not in the input.",
        "Give its file as well, where it belongs to the run.",
    ),
    "repeated-call": (
        "Spans repeat, or add up, model calls that other spans recorded.",
        "Each call counts once here. Sums over all spans count it twice.",
    ),
}

_KINDS: Final = {
    **_table(Weight.ERROR, _UNREADABLE | _LOST),
    **_table(Weight.WARNING, _DOUBTFUL_INPUT | _DOUBTFUL_TREE | _DOUBTFUL_CONTENT),
    **_table(Weight.NOTE, _DEALT_WITH),
}

KINDS: Final[Mapping[str, ProblemKind]] = MappingProxyType(_KINDS)
"""All kinds by name, those that matter most first."""


def kind_of(name: str) -> ProblemKind:
    """Give a kind; one that this version does not know is a warning without advice.

    Args:
        name: Its name.
    """
    return KINDS.get(name) or ProblemKind(name, Weight.WARNING, "This version knows nothing of it.", "")
