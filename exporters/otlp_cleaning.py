"""Credentials out of OTLP JSON that others made, by the rules of `pixie_otel.exporters.secret_cleaning`."""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from pixie_otel.exporters.secret_cleaning import Cleaner

__all__ = ["cleaned", "plain_value"]

_SCALARS: Final = ("stringValue", "intValue", "doubleValue", "boolValue")
_BODY: Final = "body"

_cleaner: Final = Cleaner()


def plain_value(value: object) -> object:
    """Give OTLP's AnyValue as the value that it stands for; anything else as it is.

    Args:
        value: What JSON holds there.
    """
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, object]", value)
    for scalar in _SCALARS:
        if scalar in fields:
            return fields[scalar]
    encoded, array, pairs = fields.get("bytesValue"), fields.get("arrayValue"), fields.get("kvlistValue")
    if isinstance(encoded, str):
        try:
            return a2b_base64(encoded)
        except ValueError:
            return encoded
    if isinstance(array, dict):
        return [plain_value(item) for item in _values(cast("dict[str, object]", array))]
    if isinstance(pairs, dict):
        named = [
            cast("dict[str, object]", item)
            for item in _values(cast("dict[str, object]", pairs))
            if isinstance(item, dict)
        ]
        return {str(item.get("key", "")): plain_value(item.get("value")) for item in named}
    return fields


def cleaned(value: Any) -> Any:  # noqa: ANN401 - any part of a document, and the same part without credentials
    """Take the credentials out of a document, whatever its fields are.

    Args:
        value: The document, or a part of it.

    Raises:
        RecursionError: It is nested too deep.
    """
    if isinstance(value, str):
        return _cleaner.text(value)
    if isinstance(value, list):
        return [cleaned(item) for item in cast("list[object]", value)]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    key = fields.get("key")
    if isinstance(key, str) and "value" in fields:
        return {**fields, "key": _cleaner.text(key), "value": _cleaned_value(key, fields["value"])}
    return {name: _cleaned_value("", inner) if name == _BODY else cleaned(inner) for name, inner in fields.items()}


def _cleaned_value(key: str, value: object) -> object:
    plain = plain_value(value)
    safe = _cleaner.value(key, plain)
    return value if safe is plain else _any_value(safe)


def _any_value(value: object) -> dict[str, object]:
    """Give a value as OTLP's AnyValue."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, bytes):
        return {"bytesValue": b2a_base64(value, newline=False).decode()}
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, object]", value).items()
        return {"kvlistValue": {"values": [{"key": key, "value": _any_value(inner)} for key, inner in pairs]}}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return {"arrayValue": {"values": [_any_value(item) for item in cast("Sequence[object]", value)]}}
    return {} if value is None else {"stringValue": value}


def _values(holder: dict[str, object]) -> list[object]:
    values = holder.get("values")
    return cast("list[object]", values) if isinstance(values, list) else []
