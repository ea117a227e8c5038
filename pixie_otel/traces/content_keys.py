"""What attribute keys tell of their values: whether these can be what people and models said.

A key is judged by its first word, which says whose it is, and by its last one, which says what its value is. Keys of no
convention may hold anything, whatever their last word is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.attributes import coding_agents
from pixie_otel.traces.dialects import DIALECTS

__all__ = ["is_counted", "is_known", "is_parameters", "is_safe", "words_of"]

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SEPARATORS: Final = re.compile(r"[._\-\s:]+")
_FIRST: Final = re.compile(r"[^.:]*")

_SAFE_LAST: Final = frozenset(
    {"kind", "type", "id", "ids", "role", "model", "provider", "system", "version", "operation", "purpose", "level"}
    | {"reason", "reasons", "language", "format", "mode", "environment", "release", "method", "scheme", "protocol"}
    | {"host", "address", "port", "status", "code", "function", "namespace", "modality", "encoding", "tier"}
)
"""Last words of keys whose values are no content."""
_NAMED: Final = frozenset(
    {"tool", "agent", "function", "model", "service", "scope", "operation", "provider", "workflow", "entity", "node"}
    | {"graph", "component", "sdk", "call", "wrap", "trace", "span", "library", "embedding", "task", "request"}
    | {"response", "step", "chain", "runtime", "system", "session", "event", "calls", "functions", "tools"}
    | {"genkit"}
)
"""What has a name that is no content."""
_USERS_OWN: Final = frozenset(
    {"metadata", "properties", "variables", "arguments", "args", "value", "values", "tag", "tags", "header", "headers"}
)
"""Words of keys below which users put what they like, but for ids."""
_USERS_IDS: Final = frozenset({"session", "user", "thread", "conversation", "run", "trace", "message"})
_COUNTED: Final = frozenset({"usage", "token", "tokens", "cost", "costs"})
_PARAMETERS: Final = frozenset({"parameters", "params", "config", "options"})

_STANDARD: Final = frozenset(
    {"otel", "telemetry", "service", "server", "network", "http", "rpc", "messaging", "process", "host", "os", "k8s"}
    | {"container", "cloud", "deployment", "faas", "aws", "azure", "code", "pixie", "sentry", "claude_code"}
    | {"event_loop"}
)
"""First words of keys that are OpenTelemetry's own, or of libraries that have no other."""
_SHARED: Final = frozenset(
    {"document", "enduser", "function", "input", "metadata", "output", "session", "span", "user"}
)
"""First words of conventions' keys that applications give to keys of their own as well."""


def _first(key: str) -> str:
    found = _FIRST.match(key)
    return found[0] if found else key


_OWNED: Final = {_first(root) for dialect in DIALECTS for root in dialect.roots} - _SHARED
_KEYS: Final = frozenset(
    value for module in (keys, coding_agents) for name, value in vars(module).items() if name.isupper()
)


def words_of(key: str) -> list[str]:
    """Give the words of a key in lower case, without the numbers of indexes.

    Args:
        key: The key.
    """
    words = _SEPARATORS.split(_CAMEL.sub("_", key).lower())
    return [word for word in words if word and not word.isdigit()] or [""]


def is_known(key: str) -> bool:
    """Say whether a key is of a convention, so that its words mean what they say.

    Args:
        key: The key.
    """
    first = _first(key)
    return first in _OWNED or (first in _STANDARD and first != key) or key in _KEYS


def is_safe(words: Sequence[str]) -> bool:
    """Say whether what a convention's key holds is no content, by its last words.

    Args:
        words: What `words_of` gave.
    """
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last == "subtype":
        return True
    if not _USERS_OWN.isdisjoint(words[:-1]):
        return last == "id" and before in _USERS_IDS
    return before in _NAMED if last == "name" else last in _SAFE_LAST


def is_counted(words: Sequence[str]) -> bool:
    """Say whether a key's value counts something.

    Args:
        words: What `words_of` gave.
    """
    return not _COUNTED.isdisjoint(words)


def is_parameters(words: Sequence[str]) -> bool:
    """Say whether a key's value is the parameters of a model.

    Args:
        words: What `words_of` gave.
    """
    return not _PARAMETERS.isdisjoint(words) and "tool" not in words
