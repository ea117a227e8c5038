"""Credentials within text: a fast test of raw bytes, and an exact search of decoded text.

`may_hold_secret` looks for the patterns' anchors in undecoded JSON, where letters, digits and ``-_.:@`` stand as they
are, and a slash has at most a backslash before it; `find_secrets` then looks closely.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from pixie_otel.secret_patterns import SECRET_PATTERNS

__all__ = [
    "SecretMatch",
    "find_secrets",
    "mask_secret",
    "masked",
    "masked_value",
    "may_hold_secret",
]


@dataclass(frozen=True, slots=True)
class SecretMatch:
    """A credential found in a text.

    Attributes:
        pattern: The name of the pattern that found it.
        start: Where it starts in the text.
        end: Where it ends.
    """

    pattern: str
    start: int
    end: int


_SECRET_NAME: Final = re.compile("api_?key|secret|password|passwd|credential|authorization|token$", re.IGNORECASE)

_WORD: Final = b"[A-Za-z0-9_-]"
_ANCHORS: Final = sorted({anchor.encode() for pattern in SECRET_PATTERNS for anchor in pattern.anchors})


def _letters(letters: Iterable[int]) -> bytes:
    """Write the class of some letters."""
    return b"[%b]" % re.escape(bytes(sorted(set(letters))))


def _fold(data: bytes) -> bytes:
    """Make one letter of three, for a single search to find them all; to replace a rare one costs next to nothing."""
    return data.replace(b"G", b"A").replace(b"J", b"A")


def _around(mark: bytes, anchors: list[bytes], before: bytes, following: bytes) -> re.Pattern[bytes]:
    """Build one search for all anchors that hold a mark, as the mark alone is found at the speed of a literal search.

    What refuses most comes next: the two letters before the mark, and the run of characters after it. Then comes all
    that is before the mark; what is of one length is looked for together.
    """
    heads: dict[tuple[int, bytes], list[bytes]] = {}
    for anchor in anchors:
        head, _, tail = anchor.rpartition(mark)
        heads.setdefault((len(head), tail), []).append(re.escape(head + mark))
    wholes = (b"(?<=%b)%b" % (b"|".join(alike), re.escape(tail)) for (_, tail), alike in heads.items())
    return re.compile(b"%b%b(?=%b)(?:%b)" % (mark, before, following, b"|".join(wholes)))


def _ending_in(mark: bytes, following: bytes) -> re.Pattern[bytes]:
    """Build the search for all anchors that end in a mark, but for a private key's: text does not go on after that."""
    anchors = [anchor for anchor in _ANCHORS if anchor.endswith(mark) and not anchor.endswith(b"KEY-----")]
    before = b"(?<=%b%b%b)" % (_letters(a[-3] for a in anchors), _letters(a[-2] for a in anchors), mark)
    return _around(mark, anchors, before, following)


_UNDERSCORED: Final = _ending_in(b"_", b"[A-Za-z0-9]{16}")
_HYPHENED: Final = _ending_in(b"-", _WORD + b"{16}")
_LETTERED: Final = _around(
    b"A",
    [_fold(anchor) for anchor in _ANCHORS if anchor[-1] not in b"-_" and b"A" in _fold(anchor)],
    b"",
    b"[.A-Za-z0-9_-]" + _WORD + b"{15}",
)
# The second part of a Slack webhook's path begins with the letter too.
_BASIC_OR_WEBHOOK: Final = re.compile(rb"B(?:asic {1,4}[A-Za-z0-9+/\\]{10}|(?<=/B)[A-Z0-9]{8})")
_BEARER: Final = re.compile(rb"[Bb]earer {1,4}[A-Za-z0-9._~+/\\-]{20}")
# An encoder may have written any other character as `\u1234`.
_USERINFO: Final = re.compile(rb'/(?:[^\s"/@:]{0,1200}+:[^\s"/@]{3,2400}+|[A-Za-z0-9_-]{20,300}+)@')


def may_hold_secret(data: bytes) -> bool:
    """Say quickly whether text may hold a credential that `find_secrets` would find.

    Args:
        data: UTF-8 text, or JSON that holds it, undecoded.

    Returns:
        ``False`` only where there is none.
    """
    # `rfind` tells by the first letter where a text is not, `in` by the last one, and that costs twice as much here.
    find = data.rfind
    return (
        _UNDERSCORED.search(data) is not None
        or _HYPHENED.search(data) is not None
        or _LETTERED.search(_fold(data)) is not None
        or find(b"hvs.") >= 0
        or (find(b"earer ") >= 0 and _BEARER.search(data) is not None)
        # One byte is sought much faster still.
        or (b"B" in data and _BASIC_OR_WEBHOOK.search(data) is not None)
        or (b"K" in data and find(b"PRIVATE KEY-----") >= 0)
        or (b"@" in data and _USERINFO.search(data) is not None)
    )


def find_secrets(text: str) -> list[SecretMatch]:
    """Find the credentials in a text.

    Args:
        text: Decoded text; JSON, code or a URL within it is understood as far as its escapes go.

    Returns:
        The credentials in order, none overlapping another.
    """
    if not may_hold_secret(text.encode("utf-8", "surrogatepass")):
        return []
    found = [
        (match.start("secret"), rank, match.end("secret"))
        for rank, pattern in enumerate(SECRET_PATTERNS)
        if any(anchor in text for anchor in pattern.anchors)
        for match in pattern.regex.finditer(text)
        if pattern.is_real(match)
    ]
    secrets: list[SecretMatch] = []
    taken = 0
    for start, rank, end in sorted(found):
        if start >= taken:
            secrets.append(SecretMatch(SECRET_PATTERNS[rank].name, start, end))
            taken = end
    return secrets


def masked(text: str) -> str:
    """Give a text with every credential in it masked.

    Args:
        text: Any text.
    """
    for match in reversed(find_secrets(text)):
        text = f"{text[: match.start]}{mask_secret(text[match.start : match.end])}{text[match.end :]}"
    return text


def masked_value(name: str, value: object) -> object:
    """Give a setting as it may be written down: a text that is a credential by its name or its shape is masked.

    Args:
        name: The setting's name.
        value: Its value; of lists and objects, every text is looked at.
    """
    if isinstance(value, str):
        return mask_secret(value) if _SECRET_NAME.search(name) else masked(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {key: masked_value(str(key), inner) for key, inner in items}
    if isinstance(value, list | tuple):
        return [masked_value(name, inner) for inner in cast("Sequence[object]", value)]
    return value


def mask_secret(secret: str) -> str:
    """Describe a credential without giving it away: its first four characters, if it is long, and its length.

    Args:
        secret: The credential.
    """
    shown = secret[:4] if len(secret) >= 20 else ""
    return f"{shown}… ({len(secret)} characters)"
