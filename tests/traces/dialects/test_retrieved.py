"""Documents and questions in whatever a retriever was given and gave back."""

from __future__ import annotations

import json

import pytest
from case_results import json_values
from hypothesis import given

from pixie_otel.evaluable import Document, JsonValue
from pixie_otel.traces.dialects.retrieved import document, documents, question

REFUNDS = {"page_content": "Refunds.", "metadata": {"a": 1}, "id": "d1"}
FULL = Document("Refunds.", "d1", 0.5, {"a": 1})


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ([REFUNDS, "Chat."], (Document("Refunds.", "d1", None, {"a": 1}), Document("Chat."))),
        ([{"lc": 1, "id": ["x", "Document"], "kwargs": REFUNDS}], (Document("Refunds.", "d1", None, {"a": 1}),)),
        ([[REFUNDS, 0.5]], (FULL,)),
        ([[["Refunds.", 0.5]]], (Document("Refunds.", None, 0.5),)),
        ({"documents": [{"content": "Refunds.", "id": "d1", "score": 0.5, "meta": {"a": 1}}]}, (FULL,)),
        ([{"node": {"id_": "d1", "text": "Refunds.", "metadata": {"a": 1}}, "score": 0.5}], (FULL,)),
        (
            {"results": [{"document": {"text": "Refunds.", "id": "d1", "metadata": {"a": 1}}, "relevance_score": 0.5}]},
            (FULL,),
        ),
        ({"ids": [["d1", "d2"]], "documents": [["a", "b"]]}, (Document("a", "d1"), Document("b", "d2"))),
        ({"ids": ["d1"], "documents": ["a", "b"]}, (Document("a"), Document("b"))),
        (
            {"data": [{"file_id": 7, "content": [{"type": "text", "text": "a"}, "b"], "score": 1}]},
            (Document("ab", "7", 1.0),),
        ),
        (json.dumps({"output": [REFUNDS]}), (Document("Refunds.", "d1", None, {"a": 1}),)),
        ("Refunds.", (Document("Refunds."),)),
        ({"page_content": "one"}, (Document("one"),)),
    ],
)
def test_documents(value: JsonValue, found: tuple[Document, ...]) -> None:
    """Texts, objects of frameworks, matches with scores, pairs, and lists within objects."""
    assert documents(value) == found


@pytest.mark.parametrize(
    "value", [None, "", [], {}, 5, [5, None], {"documents": []}, [[[[[["deep"]]]]]], [{"content": [5]}]]
)
def test_no_documents(value: JsonValue) -> None:
    """Anything else holds none."""
    assert documents(value) is None


@pytest.mark.parametrize(
    ("value", "asked"),
    [
        ("How long?", "How long?"),
        ({"query": "How long?", "k": 2}, "How long?"),
        ({"args": ["How long?"], "kwargs": {}}, "How long?"),
        ({"user_words": "How long?", "k": 2}, "How long?"),
        ({"a": "x", "b": "y"}, None),
        (None, None),
        (5, None),
    ],
)
def test_questions(value: JsonValue, asked: str | None) -> None:
    """A text, one under a telling name, or the only one there is."""
    assert question(value) == asked


@given(json_values)
def test_any_value(value: JsonValue) -> None:
    """Nothing is raised whatever was recorded."""
    assert documents(value) is None or documents(value)
    assert question(value) is None or question(value)


def test_what_is_known_to_be_a_document() -> None:
    """Its content may be missing; the score, and of some stores the text, stand in the metadata."""
    assert document({"id": 7}) == Document("", "7")
    assert document({"content": "a", "metadata": '{"score": 0.5}'}) == Document("a", None, 0.5, {"score": 0.5})
    assert document({"content": "a"}, 0.5).score == 0.5
    assert document({"id": "1", "metadata": {"text": "D"}}) == Document("D", "1", None, {"text": "D"})
    assert document({"id": [1], "score": "x", "metadata": 5}) == Document("")
