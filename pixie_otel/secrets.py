"""Credentials within text: a fast test of raw bytes, and an exact search of decoded text.

Only credentials with a shape of their own are known here, since a finding that is none costs more trust than a missed
one: no guessing by entropy alone, no names or addresses of people, no keys that are plain hex or plain UUIDs.

Every pattern has anchors, literal text that each of its matches holds. `may_hold_secret` looks for those in undecoded
JSON, where letters, digits and ``-_.@`` stand as they are; `find_secrets` then looks closely. Every quantifier is
bounded, and no two in a row share characters unless they are possessive, so that no text makes a search slow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

__all__ = [
    "SECRET_PATTERNS",
    "SecretMatch",
    "SecretPattern",
    "find_secrets",
    "mask_secret",
    "masked",
    "masked_value",
    "may_hold_secret",
]


@dataclass(frozen=True, slots=True)
class SecretPattern:
    """One kind of credential.

    Attributes:
        name: What it is called in findings.
        anchors: Every match holds at least one of these.
        regex: The exact shape; its group ``secret`` is the credential within the match.
        is_real: Says whether a match may be a credential, where its shape alone does not tell.
    """

    name: str
    anchors: tuple[str, ...]
    regex: re.Pattern[str]
    is_real: Callable[[re.Match[str]], bool]


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


# Long enough that a random credential does not hold one by chance.
_FILLER: Final = re.compile("example|placeholder|redacted|x{5}|your(?:[-_]|api|key|secret|token)", re.IGNORECASE)
_SECRET_NAME: Final = re.compile("api_?key|secret|password|passwd|credential|authorization|token$", re.IGNORECASE)
_FEWEST_DIFFERENT: Final = 6
"""A random credential of 16 characters or more has at least as many different ones; a filler like ``0000`` has not."""

_SAMPLE_PASSWORD: Final = re.compile(
    "admin|changeme|foobar|guest|hunter2|minioadmin|mysql|pass|passwd|password|postgres|pwd|redis|root|sample|secret|test"
    "|token|user|username",
    re.IGNORECASE,
)


def _is_no_filler(match: re.Match[str]) -> bool:
    """Refuse what stands for a credential in documentation: fillers, examples, one character again and again."""
    secret = match.group("secret")
    return len(set(secret)) >= _FEWEST_DIFFERENT and _FILLER.search(secret) is None


def _is_no_sample_password(match: re.Match[str]) -> bool:
    """Refuse what stands for a password in documentation and in local set-ups, and templates' variables."""
    password = match.group("secret")
    return not (
        _SAMPLE_PASSWORD.fullmatch(password) is not None
        or password == match.group("user")
        or password.startswith("$")
        or any(sign in password for sign in "{}*[]")
        or len(set(password)) < 3
        or _FILLER.search(password) is not None
    )


def _token(prefix: str, body: str) -> re.Pattern[str]:
    """Build the pattern of a credential with a prefix of its own.

    The prefix stands first and what precedes it is looked at afterwards, since `re` then finds it at the speed of a
    literal search. Text often is JSON or a URL within JSON, so a letter before the prefix may end an escape.
    """
    before = (
        rf"(?:(?<![A-Za-z0-9_-]{prefix})|(?<=\\[nrtbf]{prefix})|(?<=\\u[0-9A-Fa-f]{{4}}{prefix})"
        rf"|(?<=%[0-9A-F]{{2}}{prefix}))(?<!;base64,{prefix})"
    )
    return re.compile(rf"(?P<secret>{prefix}{before}{body})")


def _of_tokens(name: str, *shapes: tuple[str, str], anchors: tuple[str, ...]) -> tuple[SecretPattern, ...]:
    """Name one kind of credential that comes in several shapes, each a prefix and a body."""
    return tuple(SecretPattern(name, anchors, _token(prefix, body), _is_no_filler) for prefix, body in shapes)


_END: Final = r"(?![A-Za-z0-9])"
_WORD: Final = "[A-Za-z0-9_-]"

SECRET_PATTERNS: Final[tuple[SecretPattern, ...]] = (
    # The specific ones come first: where two match at the same place, the first is named.
    *_of_tokens("anthropic-key", ("sk-ant-", rf"{_WORD}{{20,300}}+"), anchors=("sk-",)),
    *_of_tokens(
        "langfuse-key",
        ("sk-lf-", rf"[0-9a-f]{{8}}-(?:[0-9a-f]{{4}}-){{3}}[0-9a-f]{{12}}{_END}"),
        anchors=("sk-",),
    ),
    *_of_tokens("openrouter-key", ("sk-or-", rf"v[0-9]-[0-9a-f]{{64}}{_END}"), anchors=("sk-",)),
    *_of_tokens(
        "openai-key",
        ("sk-(?:proj|None)-", rf"{_WORD}{{20,300}}+"),
        ("sk-svcacct-", rf"{_WORD}{{20,300}}+"),
        # Short words may come first, but the key is one long word with a digit: `sk-learn-some-long-name` is none.
        ("sk-", r"(?:[A-Za-z0-9_]{1,15}-){0,4}+(?=[A-Za-z_]{0,300}+[0-9])[A-Za-z0-9_]{16,300}+"),
        anchors=("sk-",),
    ),
    *_of_tokens("aws-access-key-id", ("A(?:KI|SI)A", rf"[A-Z2-7]{{16}}{_END}"), anchors=("AKIA", "ASIA")),
    *_of_tokens("google-api-key", ("AIza", rf"{_WORD}{{35}}(?!{_WORD})"), anchors=("AIza",)),
    *_of_tokens("google-oauth-secret", ("GOCSPX-", rf"{_WORD}{{28}}(?!{_WORD})"), anchors=("GOCSPX-",)),
    *_of_tokens(
        "github-token",
        ("gh[pousr]_", "[A-Za-z0-9]{36,255}+"),
        ("github_pat_", "[A-Za-z0-9]{22}_[A-Za-z0-9]{40,255}+"),
        anchors=("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    ),
    *_of_tokens("gitlab-token", ("glpat-", rf"{_WORD}{{20,300}}+"), anchors=("glpat-",)),
    *_of_tokens(
        "slack-token",
        ("xox[abeoprs]-", r"(?=[A-Za-z-]{0,300}+[0-9])[A-Za-z0-9-]{20,300}+"),
        ("xapp-", r"[0-9]-[A-Za-z0-9-]{20,300}+"),
        anchors=("xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"),
    ),
    *_of_tokens("stripe-key", ("[sr]k_live_", "[A-Za-z0-9]{16,255}+"), anchors=("k_live_",)),
    *_of_tokens(
        "huggingface-token", ("hf_", f"(?=[a-z0-9]{{0,40}}+[A-Z])[A-Za-z0-9]{{30,40}}+{_END}"), anchors=("hf_",)
    ),
    *_of_tokens("groq-key", ("gsk_", "[A-Za-z0-9]{40,100}+"), anchors=("gsk_",)),
    *_of_tokens("xai-key", ("xai-", "[A-Za-z0-9]{40,200}+"), anchors=("xai-",)),
    *_of_tokens("perplexity-key", ("pplx-", "[A-Za-z0-9]{40,100}+"), anchors=("pplx-",)),
    *_of_tokens("tavily-key", ("tvly-", "(?:dev-|prod-)?+[A-Za-z0-9]{24,100}+"), anchors=("tvly-",)),
    *_of_tokens(
        "langsmith-key",
        ("lsv2_(?:pt|sk)_", f"[0-9a-f]{{32}}_[0-9a-f]{{10}}{_END}"),
        anchors=("lsv2_pt_", "lsv2_sk_"),
    ),
    *_of_tokens("npm-token", ("npm_", f"[A-Za-z0-9]{{36}}{_END}"), anchors=("npm_",)),
    *_of_tokens("pypi-token", ("pypi-", rf"AgE{_WORD}{{50,1000}}+"), anchors=("pypi-",)),
    # Header and payload are JSON objects, so both start with the Base64 of `{"`.
    *_of_tokens(
        "jwt",
        ("eyJ", rf"{_WORD}{{8,8000}}+\.eyJ{_WORD}{{8,8000}}+\.{_WORD}{{16,2000}}+"),
        anchors=(".eyJ",),
    ),
    SecretPattern(
        "bearer-token",
        ("Bearer ",),
        re.compile(
            r"Bearer {1,4}+"
            r"(?P<secret>(?=[A-Za-z._~+/-]{0,4000}+[0-9])[A-Za-z0-9._~+/-]{20,4000}+={0,2}+)"
        ),
        _is_no_filler,
    ),
    SecretPattern(
        "private-key",
        ("PRIVATE KEY-----",),
        # The line ends may still be JSON's or a shell's, as `\n`.
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,20}PRIVATE KEY-----(?:\\{1,4}+[nr]|\s){1,8}+"
            r"(?P<secret>[A-Za-z0-9+/=]{32}[A-Za-z0-9+/=\\\s]{0,20000}+)"
        ),
        _is_no_filler,
    ),
    SecretPattern(
        "url-password",
        ("@",),
        # An image's digest, as in `docker://name:tag@sha256:…`, has the same shape.
        re.compile(
            r""":(?<=[A-Za-z0-9]:)\\?/\\?/(?P<user>[^\s/@:"'`<>\\?#,;()]{0,100}+):"""
            r"""(?P<secret>[^\s/@:"'`<>\\?#]{3,200}+)@(?=[A-Za-z0-9\[])(?!sha256:)"""
        ),
        _is_no_sample_password,
    ),
)


def _after(mark: str, following: str) -> re.Pattern[bytes]:
    """Build one search for all anchors that end in a mark, as the mark alone is found at the speed of a literal search.

    What costs least and refuses most comes first: the letter before the mark, then the run of characters after it.
    """
    anchors = sorted({anchor for pattern in SECRET_PATTERNS for anchor in pattern.anchors if anchor.endswith(mark)})
    letters = "".join(sorted({anchor[-2] for anchor in anchors}))
    whole = "|".join(f"(?<={re.escape(anchor)})" for anchor in anchors)
    return re.compile(rf"{mark}(?<=[{letters}]{mark})(?={following}{{16}})(?:{whole})".encode())


_UNDERSCORED: Final = _after("_", "[A-Za-z0-9]")
_HYPHENED: Final = _after("-", _WORD)
_KEY_ID: Final = re.compile(rb"A(?:KIA|SIA|Iza)[A-Za-z0-9_-]{16}")
_BEARER: Final = re.compile(rb"Bearer {1,4}[A-Za-z0-9._~+/\\-]{20}")
_JWT: Final = re.compile(rb"J(?<=\.eyJ)")
# An encoder may have written any other character as `\u1234`.
_USERINFO: Final = re.compile(rb'/[^\s"/@:]{0,1200}+:[^\s"/@]{3,2400}+@')


def may_hold_secret(data: bytes) -> bool:
    """Say quickly whether text may hold a credential that `find_secrets` would find.

    Args:
        data: UTF-8 text, or JSON that holds it, undecoded.

    Returns:
        ``False`` only where there is none.
    """
    return (
        _HYPHENED.search(data) is not None
        or _UNDERSCORED.search(data) is not None
        or _KEY_ID.search(data) is not None
        or _JWT.search(data) is not None
        or _BEARER.search(data) is not None
        or b"PRIVATE KEY-----" in data
        # One byte is sought much faster still.
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
