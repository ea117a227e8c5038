"""The parts of a message's content."""

from __future__ import annotations

import pytest

from pixie_otel.traces.dialects.parts import content_part, kind, raw_parts
from pixie_otel.traces.messages import ImageContent, OtherContent, TextContent

PNG = "data:image/png;base64,AA=="


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": PNG}},
        {"type": "image_url", "image_url": PNG},
        {"type": "input_image", "image_url": PNG},
        {"type": "image", "url": PNG},
        {"type": "image", "image": PNG},
        {"type": "image", "image": {"image": {"url": PNG}}},
        {"type": "image", "source": {"type": "url", "url": PNG}},
        {"type": "uri", "modality": "image", "uri": PNG},
    ],
)
def test_images_by_address(part: dict[str, object]) -> None:
    """An image that is somewhere is named by its address."""
    assert content_part(part) == ImageContent(PNG)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
        {"type": "image", "base64": "AA==", "mime_type": "image/png"},
        {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "AA=="},
        {"type": "file", "mediaType": "image/png", "data": "AA=="},
        {"type": "file", "mediaType": "image/png", "data": PNG},
        {"inline_data": {"mime_type": "image/png", "data": "AA=="}},
        {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
    ],
)
def test_images_by_content(part: dict[str, object]) -> None:
    """An image that is in the trace is a data URI."""
    assert content_part(part) == ImageContent(PNG, "image/png")


def test_images_of_which_little_is_said() -> None:
    """An image stays one where its bytes were not recorded, and the detail asked for is kept."""
    assert content_part({"type": "image_url", "image_url": {"url": "u", "detail": "low"}}) == ImageContent(
        "u", None, "low"
    )
    assert content_part({"image": {"format": "png", "source": {"bytes": "AA=="}}}) == ImageContent(
        "data:image/*;base64,AA=="
    )
    assert content_part({"type": "image", "image": 5}) == ImageContent("")
    assert content_part({"type": "image"}) == ImageContent("")
    assert content_part({"file_data": {"mimeType": "image/png", "fileUri": "gs://x"}}) == ImageContent(
        "gs://x", "image/png"
    )


def test_other_parts_are_kept_as_they_are() -> None:
    """Audio, files and what nobody knows yet are kept whole, under their type."""
    for part in ({"type": "input_audio", "input_audio": {}}, {"type": "file", "file": {}}, {"type": "zork", "a": 1}):
        assert content_part(part) == OtherContent(str(part["type"]), part)
    assert content_part({"a": 1}) == OtherContent("unknown", {"a": 1})
    audio = {"type": "blob", "modality": "audio", "mime_type": "audio/wav", "content": "AA=="}
    assert content_part(audio) == OtherContent("blob", audio)


def test_text_that_was_not_recorded_is_no_part() -> None:
    """A text part without text says nothing; one with empty text says that."""
    assert content_part({"type": "text"}) is None
    assert content_part({"type": "text", "text": None}) is None
    assert content_part({"type": "text", "text": ""}) == TextContent("")


def test_kinds_by_keys() -> None:
    """Parts without a type are what their keys say, empty keys aside."""
    assert kind({"text": None, "function_call": {}}) == "function_call"
    assert kind({"text": "a", "functionResponse": {}}) == "functionResponse"
    assert kind({"content": "a"}) == "text"
    assert kind({"content": []}) == ""


def test_kinds_that_are_said_otherwise() -> None:
    """Pydantic AI writes a part's kind in its events, and of what a provider runs itself that it is built in."""
    assert kind({"kind": "binary", "binary_content": "AA=="}) == "binary"
    assert kind({"kind": "zork", "text": "a"}) == "text"
    assert kind({"type": "tool_call", "builtin": True}) == "server_tool_call"
    assert kind({"type": "tool_call", "builtin": False}) == "tool_call"
    image = ImageContent("data:image/png;base64,AA==", "image/png")
    assert content_part({"kind": "binary", "media_type": "image/png", "binary_content": "AA=="}) == image
    audio = {"type": "binary", "media_type": "audio/wav", "content": "AA=="}
    assert content_part(audio) == OtherContent("binary", audio)


def test_content_and_parts() -> None:
    """Where both hold text it is the same text; where the parts hold none, both count."""
    image = {"type": "image", "url": "u"}

    assert raw_parts({"content": "a", "parts": [{"type": "text", "content": "a"}]}) == [
        {"type": "text", "content": "a"}
    ]
    assert raw_parts({"content": "a", "parts": [image]}) == [{"type": "text", "text": "a"}, image]
    assert raw_parts({"content": 5, "parts": [None, 5, "a"]}) == [{"type": "text", "text": "a"}]


def test_a_text_with_annotations() -> None:
    """OpenAI's assistants give a text as an object."""
    assert content_part({"type": "text", "text": {"value": "Hi", "annotations": []}}) == TextContent("Hi")
    assert content_part({"text": {"value": 3}}) is None


def test_words_in_place_of_an_image() -> None:
    """Where the bytes were left out, words say so."""
    part = {"image": {"base64_image": "Base64 string (96 characters)", "mime_type": "image/png", "detail": "low"}}

    assert content_part(part) == ImageContent("", "image/png", "low")
    assert content_part({"image": {"base64_image": "AA==", "mime_type": "image/png"}}) == ImageContent(PNG, "image/png")


@pytest.mark.parametrize("key", ["file", "executable_code", "codeExecutionResult"])
def test_parts_known_by_their_key(key: str) -> None:
    """Google's and Haystack's parts have no type."""
    assert content_part({key: {"code": "x"}}) == OtherContent(key, {key: {"code": "x"}})
