"""Documents and questions in whatever a retriever was given and gave back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from pixie_otel.evaluable import Document, JsonValue
from pixie_otel.traces.dialects.values import call_arguments, decoded, first_text, json_object, number, text

__all__ = ["document", "documents", "question"]

_Object: TypeAlias = dict[str, JsonValue]

_LIST_KEYS: Final = (
    "documents",
    "docs",
    "output",
    "outputs",
    "result",
    "results",
    "nodes",
    "source_nodes",
    "matches",
    "chunks",
    "passages",
    "context",
    "data",
)
_TEXT_KEYS: Final = ("page_content", "pageContent", "content", "text", "document", "chunk", "passage", "body")
_ID_KEYS: Final = ("id", "id_", "node_id", "document_id", "doc_id", "file_id", "key")
_SCORE_KEYS: Final = ("score", "relevance_score", "similarity", "similarity_score")
_METADATA_KEYS: Final = ("metadata", "meta", "extra_info", "attributes", "entity", "payload")
_QUESTION_KEYS: Final = ("query", "question", "search_query", "query_str", "q", "input", "text", "prompt")
_MAX_DEPTH: Final = 4


def question(value: JsonValue) -> str | None:
    """Give what was searched for.

    Args:
        value: What went into the retriever, decoded.

    Returns:
        The text; ``None`` where several may be it.
    """
    value = call_arguments(value)
    if not isinstance(value, dict):
        return text(value)
    if (said := first_text(value, _QUESTION_KEYS)) is not None:
        return said
    texts = [item for item in value.values() if isinstance(item, str) and item]
    return texts[0] if len(texts) == 1 else None


def documents(value: JsonValue) -> tuple[Document, ...] | None:
    """Read the documents that a retriever gave back.

    Args:
        value: What came out of it, decoded: a list, or an object with the list in it, of texts, of LangChain's,
            LlamaIndex's or Haystack's documents, of a vector store's matches, or of pairs of a document and its score.

    Returns:
        The documents in order; ``None`` where there are none.
    """
    return tuple(_documents(value, 0)) or None


def document(fields: Mapping[str, JsonValue], score: JsonValue = None) -> Document:
    """Read what is known to be a document; its content may have been left out.

    LangChain's documents have their score in the metadata, and some vector stores keep the text there.

    Args:
        fields: The document's fields.
        score: How well it matches, where that stands beside it.
    """
    about = (json_object(fields.get(key)) for key in _METADATA_KEYS)
    metadata = next((found for found in about if found is not None), None)
    identity = next((found for key in _ID_KEYS if (found := fields.get(key)) is not None), None)
    scores = (number(found.get(key)) for found in (fields, {"score": score}, metadata or {}) for key in _SCORE_KEYS)
    return Document(
        content=_content(fields) or _content(metadata or {}) or "",
        id=str(identity) if isinstance(identity, str | int) else None,
        score=next((found for found in scores if found is not None), None),
        metadata=metadata,
    )


def _documents(value: JsonValue, depth: int) -> list[Document]:
    value = decoded(value)
    if isinstance(value, str):
        return [Document(content=value)] if value else []
    if depth > _MAX_DEPTH:
        return []
    if isinstance(value, list):
        found = (_one(item) for item in value)
        return [item for item in found if item is not None] or [
            below for item in value if isinstance(item, list) for below in _documents(item, depth + 1)
        ]
    if not isinstance(value, dict):
        return []
    if (single := _one(value)) is not None:
        return [single]
    for key in _LIST_KEYS:
        if isinstance(inner := decoded(value.get(key)), list) and (listed := _documents(inner, depth + 1)):
            return _named(listed, value)
    return []


def _named(found: list[Document], value: _Object) -> list[Document]:
    """Give the documents with their ids, which Chroma's results have in a list of their own."""
    ids = value.get("ids")
    if isinstance(ids, list) and len(ids) == 1 and isinstance(ids[0], list):
        ids = ids[0]
    if not isinstance(ids, list) or len(ids) != len(found) or any(item.id for item in found):
        return found
    return [
        Document(content=item.content, id=None if name is None else str(name), score=item.score, metadata=item.metadata)
        for item, name in zip(found, ids, strict=True)
    ]


def _one(item: JsonValue, score: JsonValue = None) -> Document | None:
    """Read one document; ``None`` for what is none."""
    if isinstance(item, str):
        return Document(content=item, score=number(score)) if item else None
    if isinstance(item, list):
        is_pair = len(item) == 2 and isinstance(item[1], int | float) and not isinstance(item[0], list)
        return _one(item[0], item[1]) if is_pair else None
    if not isinstance(item, dict):
        return None
    fields = _inner(item)
    return None if _content(fields) is None else document({**item, **fields}, score)


def _inner(item: _Object) -> _Object:
    """Give a document without what LangChain, LlamaIndex and rerankers put around it."""
    for key in ("kwargs", "node", "document"):
        if isinstance(below := item.get(key), dict):
            return below
    return item


def _content(fields: Mapping[str, JsonValue]) -> str | None:
    for key in _TEXT_KEYS:
        said = fields.get(key)
        if isinstance(said, str):
            return said
        if isinstance(said, list) and said:
            texts = [part.get("text") if isinstance(part, dict) else part for part in said]
            if all(isinstance(part, str) for part in texts):
                return "".join(part for part in texts if isinstance(part, str))
    return None
