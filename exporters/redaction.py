"""Credentials out of spans before they leave the process: of every span, whoever made it.

What counts as one is told by `pixie_otel.secrets` (its shape) and `pixie_otel.exporters.secret_names` (the name it
stands under). A user's function may change any value after that, and ``OPENINFERENCE_HIDE_*`` is honoured. Whatever
fails on the way hides the value: nothing is written because it could not be looked at.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar, cast

from opentelemetry.attributes import BoundedAttributes
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util import BoundedList
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, Status
from opentelemetry.util.types import Attributes, AttributeValue

from pixie_otel import attributes as keys
from pixie_otel import diagnostics
from pixie_otel.errors import PixieError
from pixie_otel.evaluable import JsonValue
from pixie_otel.exporters.otlp_json import EncodedSpan, encode, encode_resource, encode_scope, encode_span
from pixie_otel.exporters.secret_cleaning import FAILED, Cleaner, may_hold_credential

__all__ = [
    "STATUS_DESCRIPTION",
    "Mask",
    "Redact",
    "RedactionError",
    "Redactor",
    "encode_redacted",
    "hide_from_environment",
]

Redact: TypeAlias = Callable[[str, JsonValue], JsonValue]
"""A user's function: from an attribute's key and a copy of its value to the value to record."""
Mask: TypeAlias = Callable[[str, object], object]
"""From an attribute's key and value to the value to record; ``None`` takes the attribute away."""

STATUS_DESCRIPTION: Final = "status.description"
"""The key under which a span's status description is given to what hides values, and to a user's function."""

_HIDE_PREFIX: Final = "OPENINFERENCE_HIDE_"
_OTHER_INPUTS: Final = (
    keys.GENAI_EVENT_CONTENT,
    keys.GENAI_INPUT_MESSAGES,
    keys.GENAI_PROMPT,
    keys.GENAI_RETRIEVAL_QUERY,
    keys.GENAI_SYSTEM_INSTRUCTIONS,
    keys.GENAI_TOOL_CALL_ARGUMENTS,
    keys.TRACELOOP_ENTITY_INPUT,
)
_OTHER_OUTPUTS: Final = (
    keys.GENAI_COMPLETION,
    keys.GENAI_EVENT_CONTENT,
    keys.GENAI_OUTPUT_MESSAGES,
    keys.GENAI_RETRIEVAL_DOCUMENTS,
    keys.GENAI_TOOL_CALL_RESULT,
    keys.TRACELOOP_ENTITY_OUTPUT,
)
_MOST_SHARED: Final = 64
_DEEPEST: Final = 64

_Item = TypeVar("_Item", Event, Link)
_Shared = TypeVar("_Shared", Resource, InstrumentationScope)

_cleaner: Final = Cleaner()


class RedactionError(PixieError):
    """A span could not be made safe to write; it must not be written."""


class Redactor:
    """Takes credentials, and whatever else is to be hidden, out of spans.

    Args:
        redact: ``False`` to leave spans as they are, ``True`` to take out credentials, or a function that is given
            each value after that.
        hide: Applied before all else, also where ``redact`` is ``False``.
    """

    def __init__(self, redact: bool | Redact = True, *, hide: Mask | None = None) -> None:  # noqa: FBT001, FBT002 - it is the `redact` of `init`
        self._cleans = redact is not False
        self._hook = redact if callable(redact) else None
        self._hide = hide
        self._looks_at_all = self._hook is not None or hide is not None
        # By identity, as hashing a resource writes all of it as JSON.
        self._resources: dict[int, tuple[Resource, Resource]] = {}
        self._scopes: dict[int, tuple[InstrumentationScope, InstrumentationScope]] = {}

    def redact(self, span: ReadableSpan, encoded: bytes | None = None) -> ReadableSpan:
        """Give a span that is safe to write.

        Args:
            span: A span that has ended.
            encoded: The same span as `pixie_otel.exporters.otlp_json` encodes it, where that was done already.

        Returns:
            The same span where there is nothing to hide.

        Raises:
            RedactionError: The span could not be made safe.
        """
        if not self._cleans and self._hide is None:
            return span
        try:
            resource, scope = self._resource(span.resource), self._scope(span.instrumentation_scope)
            is_shared_clean = resource is span.resource and scope is span.instrumentation_scope
            if not self._looks_at_all and is_shared_clean and _is_clean(span, encoded):
                return span
            return self._redacted(span, resource, scope)
        except Exception as error:
            raise RedactionError(f"a span could not be redacted: {type(error).__name__}") from error

    def _redacted(self, span: ReadableSpan, resource: Resource, scope: InstrumentationScope | None) -> ReadableSpan:
        attributes, events, links, status = span.attributes or {}, span.events, span.links, span.status
        name, described = self._text(span.name), self._status(status)
        cleaned = self._attributes(attributes, span.dropped_attributes)
        new_events = [self._event(event) for event in events]
        new_links = [self._link(link) for link in links]
        before = span.name, attributes, status, span.resource, span.instrumentation_scope, *events, *links
        after = name, cleaned, described, resource, scope, *new_events, *new_links
        if all(one is other for one, other in zip(before, after, strict=True)):
            return span
        return ReadableSpan(
            name=name,
            context=span.get_span_context(),
            parent=span.parent,
            resource=resource,
            attributes=cast("Attributes", cleaned),
            events=_listed(new_events, span.dropped_events),
            links=_listed(new_links, span.dropped_links),
            kind=span.kind,
            status=described,
            start_time=span.start_time,
            end_time=span.end_time,
            instrumentation_scope=scope,
        )

    def _event(self, event: Event) -> Event:
        attributes, name = event.attributes or {}, self._text(event.name)
        cleaned = self._attributes(attributes, event.dropped_attributes)
        if cleaned is attributes and name is event.name:
            return event
        return Event(name, cast("Attributes", cleaned), event.timestamp)

    def _link(self, link: Link) -> Link:
        attributes = link.attributes or {}
        cleaned = self._attributes(attributes, link.dropped_attributes)
        return link if cleaned is attributes else Link(link.context, cast("Attributes", cleaned))

    def _attributes(self, attributes: Mapping[str, object], dropped: int) -> Mapping[str, object]:
        """Redact attributes; give the same ones where nothing is to be hidden, which know how many were dropped."""
        kept: dict[str, object] = {}
        is_same = True
        for key, value in attributes.items():
            new_key = self._text(key)
            new = value if self._hide is None else self._masked(self._hide, key, value)
            if new is None and value is not None:
                is_same = False
                continue
            kept[new_key] = new = self._value(key, new)
            is_same = is_same and new is value and new_key is key
        if is_same:
            return attributes
        bounded = BoundedAttributes(attributes=cast("Attributes", kept))
        bounded.dropped = dropped
        return bounded

    def _value(self, key: str, value: object) -> object:
        try:
            if self._cleans:
                value = _cleaner.value(key, value)
        except Exception as error:  # noqa: BLE001 - whatever it is, the value must not be written
            diagnostics.internal_error("redacting a value", error)
            return FAILED
        return value if self._hook is None else _hooked(self._hook, key, value)

    def _text(self, text: str) -> str:
        if not self._cleans:
            return text
        try:
            return _cleaner.text(text)
        except Exception as error:  # noqa: BLE001 - likewise
            diagnostics.internal_error("redacting a name", error)
            return FAILED

    def _status(self, status: Status) -> Status:
        if not isinstance(status.description, str):
            return status
        described: object = status.description
        if self._hide is not None:
            described = self._masked(self._hide, STATUS_DESCRIPTION, described)
        described = self._value(STATUS_DESCRIPTION, described)
        if described is status.description:
            return status
        return Status(status.status_code, described if isinstance(described, str) else None)

    def _masked(self, hide: Mask, key: str, value: object) -> object:
        try:
            return hide(key, value)
        except Exception as error:  # noqa: BLE001 - likewise
            diagnostics.internal_error("hiding a value", error)
            return FAILED

    def _resource(self, resource: Resource) -> Resource:
        known = self._resources.get(id(resource))
        if known is not None:
            return known[1]
        redacted = resource
        if self._looks_at_all or _may_hold_any(encode_resource(resource)):
            attributes = self._attributes(resource.attributes, 0)
            if attributes is not resource.attributes:
                redacted = Resource(cast("Mapping[str, AttributeValue]", attributes), resource.schema_url)
        _remember(self._resources, resource, redacted)
        return redacted

    def _scope(self, scope: InstrumentationScope | None) -> InstrumentationScope | None:
        known = self._scopes.get(id(scope))
        if known is not None:
            return known[1]
        if scope is None:
            return None
        redacted = scope
        if self._looks_at_all or _may_hold_any(encode_scope(scope)):
            kept: Mapping[str, object] = scope.attributes or {}
            attributes, name, version = self._attributes(kept, 0), self._text(scope.name), scope.version
            version = version and self._text(version)
            if attributes is not kept or name is not scope.name or version is not scope.version:
                redacted = InstrumentationScope(name, version, scope.schema_url, cast("Attributes", attributes))
        _remember(self._scopes, scope, redacted)
        return redacted


def encode_redacted(span: ReadableSpan, redactor: Redactor) -> EncodedSpan:
    """Encode a span without what is to be hidden.

    Args:
        span: A span that has ended.
        redactor: Knows what is to be hidden.

    Raises:
        ValueError: It cannot be encoded.
        RedactionError: It cannot be made safe.
    """
    encoded = encode(span)
    safe = redactor.redact(span, encoded.data)
    return encoded if safe is span else encode(safe)


def hide_from_environment() -> Mask | None:
    """Give what ``OPENINFERENCE_HIDE_*`` asks for; ``None`` where no such variable is set."""
    if not any(name.startswith(_HIDE_PREFIX) and value.lower() == "true" for name, value in os.environ.items()):
        return None
    from openinference.instrumentation import TraceConfig

    config = TraceConfig()

    def hide(key: str, value: object) -> object:
        # These say the same in other vocabularies, which OpenInference's own settings do not know.
        is_input = key.startswith(_OTHER_INPUTS) or (key.startswith(keys.OI_EMBEDDINGS) and key.endswith(".text"))
        if (config.hide_inputs and is_input) or (config.hide_outputs and key.startswith(_OTHER_OUTPUTS)):
            return keys.OI_REDACTED
        return config.mask(key, cast("AttributeValue", value))

    return hide


def _remember(known: dict[int, tuple[_Shared, _Shared]], given: _Shared, redacted: _Shared) -> None:
    if len(known) >= _MOST_SHARED:
        known.clear()
    known[id(given)] = given, redacted


def _is_clean(span: ReadableSpan, encoded: bytes | None) -> bool:
    try:
        return not _may_hold_any(encode_span(span) if encoded is None else encoded)
    except ValueError:
        # What cannot be written as a whole may still be written in parts by another exporter.
        return False


def _may_hold_any(encoded: bytes) -> bool:
    # Of bytes, only their Base64 stands there.
    return may_hold_credential(encoded) or b'"bytesValue"' in encoded


def _listed(items: Sequence[_Item], dropped: int) -> BoundedList[_Item]:
    listed: BoundedList[_Item] = BoundedList(None)
    listed.extend(items)
    listed.dropped = dropped
    return listed


def _hooked(hook: Redact, key: str, value: object) -> object:
    """Ask a user's function for a value; it gets a copy, and what it leaves as it is stays the same object."""
    try:
        given, known = _plain(value), _plain(value)
        told = hook(key, given)
        if told == known and type(told) is type(known):
            return value
        return _plain(told)
    except Exception as error:  # noqa: BLE001 - a user's code may raise anything
        diagnostics.warn(
            "redact-hook",
            f"the redact function failed for {key!r} ({type(error).__name__}); {FAILED!r} is recorded instead. "
            "Correct the function.",
        )
        return FAILED


def _plain(value: object, depth: int = _DEEPEST) -> JsonValue:
    """Copy a value as plain JSON.

    Raises:
        TypeError: It is none.
        ValueError: It is nested too deep.
    """
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if not depth:
        raise ValueError(f"it is nested more than {_DEEPEST} levels deep")
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value).items()
        return {key: _plain(inner, depth - 1) for key, inner in items}
    if isinstance(value, Sequence):
        return [_plain(inner, depth - 1) for inner in cast("Sequence[object]", value)]
    raise TypeError(f"{type(value).__name__} is no JSON")
