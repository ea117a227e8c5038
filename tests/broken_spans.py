"""Real spans with one thing broken, and which facts that costs."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from pixie_otel.traces.dialects.reading import SpanFacts
from pixie_otel.traces.observe import observe
from pixie_otel.traces.reader import TraceReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pixie_otel.traces.spans import ObserveSpan

CORPUS = Path(__file__).parent / "traces" / "corpus"
WRONG: Final[tuple[Any, ...]] = (
    None,
    True,
    0,
    -1,
    2.5,
    float("nan"),
    float("inf"),
    10**400,
    "",
    "word",
    "null",
    "\ud800",
    "[",
    "{",
    '"' + "x" * 50,
    "[" * 5000,
    "[" * 300 + "]" * 300,
    '{"a":' * 90 + "1" + "}" * 90,
    '[{"role": 5, "content": {"a": [1]}}]',
    [],
    [None],
    ["word"],
    [[]],
    [{}],
    [{"role": None, "content": [None, 3, {"type": 5}]}],
    {},
    {"a": 1},
    {"": {"": 1}},
)
"""Values of every type that JSON has, and texts that only look like JSON."""
INDEXES: Final = ("999999999", "9" * 30, "-1", "x", "٣", "00", "", "1.5")
_NOT_READ: Final = frozenset({"attributes", "events", "dialects", "notes", "resource", "scope"})
_GROUPS: Final = {
    "given": ("input", "input_messages", "arguments", "query", "texts"),
    "given back": ("output", "output_messages", "result", "documents", "finish_reasons", "raw_finish_reasons"),
    "tokens": (
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_creation_tokens",
        "reasoning_tokens",
        "cost",
    ),
    "model": ("provider", "request_model", "response_model", "model", "operation"),
    "error": ("error", "error_type"),
    "tool": ("tool_name", "tool_call_id", "description"),
    "agent": ("agent_name", "agent_id"),
}
_GROUP_OF: Final = {name: group for group, names in _GROUPS.items() for name in names}


def folders() -> list[Path]:
    """Give the folders of the corpus: one for each instrumentation in each of its modes."""
    return sorted(path for path in CORPUS.iterdir() if path.is_dir())


def spans_of(folder: Path, *, every_file: bool = False) -> list[SpanFacts]:
    """Give the spans of a folder as its dialects see them, one for each name and set of keys.

    Args:
        folder: The folder.
        every_file: Whether all its files are read, rather than the one with the most in it.
    """
    files = sorted(file for file in folder.glob("*.jsonl") if not file.name.endswith(".logs.jsonl"))
    chosen = files if every_file else [max(files, key=lambda file: (file.stat().st_size, file.name))]
    found: dict[object, SpanFacts] = {}
    for file in chosen:
        logs = file.with_name(file.name.replace(".jsonl", ".logs.jsonl"))
        for trace in TraceReader(file, *([logs] if logs.exists() else [])):
            for span in trace.spans:
                found.setdefault((span.name, frozenset(span.attributes)), _facts(span))
    return list(found.values())


def _facts(span: ObserveSpan) -> SpanFacts:
    return SpanFacts(
        trace_id=span.trace_id,
        span_id=span.span_id,
        parent_span_id=span.parent_span_id,
        name=span.name,
        start_time_unix_nano=span.start_time_unix_nano,
        end_time_unix_nano=span.end_time_unix_nano,
        attributes=span.attributes,
        events=span.events,
        resource=span.resource,
        scope=span.scope,
        otel_kind=span.otel_kind,
    )


def facts(span: SpanFacts) -> dict[str, Any]:
    """Give all that is read of a span, by name."""
    read = observe(span)
    return {name: getattr(read, name) for name in read.__struct_fields__ if name not in _NOT_READ}


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str]:
    """Say which facts differ; NaN is what it is."""
    return {
        name
        for name in before.keys() | after.keys()
        if (one := before.get(name)) != (other := after.get(name)) and repr(one) != repr(other)
    }


def groups(names: Iterable[str]) -> set[str]:
    """Say which groups of facts some belong to: those that producers write into one attribute."""
    return {_GROUP_OF.get(name, name) for name in names}


def some_keys(attributes: Mapping[str, Any]) -> list[str]:
    """Give the keys of a span; of those that differ in their indexes only, the first and the last."""
    alike: dict[str, list[str]] = {}
    for key in attributes:
        alike.setdefault(re.sub(r"\b\d+\b", "0", key), []).append(key)
    return [key for found in alike.values() for key in dict.fromkeys((found[0], found[-1]))]


def broken_values(value: Any) -> Iterator[Any]:
    """Give what may stand in the place of a value: values of other types, and the value cut or spoilt."""
    yield from WRONG
    if isinstance(value, list):
        yield value[: len(value) // 2]
    if isinstance(value, str) and value:
        size = len(value)
        places = (
            range(1, size) if size < 12 else sorted({1, 2, size // 4, size // 2, 3 * size // 4, size - 2, size - 1})
        )
        yield from (value[:place] for place in places)
        yield f"{value[: size // 2]}\ud800{value[size // 2 :]}"
        yield f" {value}"


def with_attribute(span: SpanFacts, key: str, value: Any) -> SpanFacts:
    """Give a span with another value under a key, at its place."""
    return replace(span, attributes={**span.attributes, key: value})


def without(span: SpanFacts, key: str, *, instead: str | None = None) -> SpanFacts:
    """Give a span without a key, or with another key in its stead."""
    found = {(instead if name == key else name): value for name, value in span.attributes.items()}
    return replace(span, attributes={name: value for name, value in found.items() if name is not None})


def reindexed(key: str) -> list[str]:
    """Give a key with other indexes; none for a key without any."""
    if not re.search(r"\b\d+\b", key):
        return []
    return [".".join(index if part.isdigit() else part for part in key.split(".")) for index in INDEXES]


def with_broken_events(span: SpanFacts, value: Any) -> Iterator[SpanFacts]:
    """Give a span with a value in the place of each of its first events' body, and of each of their attributes."""
    for place, event in enumerate(span.events[:4]):
        kept, rest = span.events[:place], span.events[place + 1 :]
        if event.body is not None:
            yield replace(span, events=(*kept, replace(event, body=value), *rest))
        for key in event.attributes:
            broken = replace(event, attributes={**event.attributes, key: value})
            yield replace(span, events=(*kept, broken, *rest))


@functools.cache
def corpus_spans() -> list[SpanFacts]:
    """Give the spans of one file of every folder."""
    return [span for folder in folders() for span in spans_of(folder)]
