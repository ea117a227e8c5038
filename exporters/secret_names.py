"""Names under which credentials stand: as a key, as a variable, as a flag, as a header.

A name counts by its last words (``OPENAI_API_KEY``, ``clientSecret``, ``x-api-key``), so that ``max_tokens``,
``llm.token_count.prompt`` and ``password_policy`` are none. `may_hold_named_secret` looks for such names in undecoded
JSON, where their letters and what follows them stand as they are; whatever is found closely passes it too.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = [
    "NAMED",
    "NAME_ENDS",
    "STEMS",
    "is_credential_like",
    "is_harmless_token",
    "is_secret_name",
    "is_token_name",
    "may_hold_named_secret",
    "stands_for_nothing",
]

_GAP: Final = "[-_. ]?"
_KINDS_OF_KEYS: Final = (
    "access|account|anthropic|api|app|auth|azure|client|cohere|consumer|deploy|encryption|functions|gemini|google|groq|hmac"
    "|jwt|license|master|mistral|openai|private|rsa|secret|service|shared|signing|ssh|storage|stripe|subscription|webhook"
)
_KINDS_OF_TOKENS: Final = (
    "access|api|auth|bearer|bot|csrf|hf|id|jwt|oauth|personal|private|refresh|secret|security|session|xsrf"
)
_KEYS: Final = f"(?:{_KINDS_OF_KEYS}){_GAP}keys?"
_TOKENS: Final = f"(?:{_KINDS_OF_TOKENS}){_GAP}token"
_ALONE: Final = (
    r"pass(?:word|wd|phrase|code)s?|pwd|secrets?|authorization|(?:set[-_. ]?)?cookies?|credentials?|[cx]srf|ssn|jwt"
    r"|(?:admin|basic|db|ftp|mail|mysql|postgres|proxy|redis|root|smtp|user)[-_.]pass"
)
_SUFFIXES: Final = "(?:base|confirm(?:ation)?|hash|header|value|[0-9]{1,3})"
_SUFFIX: Final = f"(?i:[-_. ]?{_SUFFIXES})?"
# These end a name also where nothing shows that a word begins, as in `CLIENTSECRET`.
_WORD_STARTS: Final = (
    r"(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z])|(?=(?i:passw|secrets?\b|secret_?key|accesskey|apikey|privatekey)))"
)
NAMED: Final = rf"{_WORD_STARTS}(?i:{_KEYS}|{_TOKENS}|{_ALONE}|(?P<token>token)){_SUFFIX}"
"""The end of a name under which a credential stands, as a pattern; the group ``token``: one that may be no secret."""
NAME_ENDS: Final = r"""(?=\\{0,15}["'`]|[*`]{0,3}[ \t]{0,20}(?:[:=>]|%3[ADad])|\s)"""
"""What follows a name within text where its value comes next: a quote, however often escaped, a sign, or a blank."""
STEMS: Final = re.compile("(?i:key|token|cookie|pass|pwd|jwt|authoriz|secret|credential|[cx]srf|ssn)", re.ASCII)
"""What every such name holds."""
_SECRET_NAME: Final = re.compile(rf"[^\n]{{0,200}}?{NAMED}", re.ASCII)
_HARMLESS_TOKEN: Final = re.compile(
    r"(?i)(?:^|[^a-z])(?:bos|class|cls|continuation|cursor|end|eos|first|last|mask|next|pad|page|per|sep|special|start|stop"
    r"|sync|top|unk)[-_. ]?token$|(?:next|page|continuation)(?:Page)?Token$"
)
_OPAQUE: Final = re.compile(r"(?=[^0-9]*+[0-9])(?=[^A-Za-z]*+[A-Za-z])[A-Za-z0-9._~+/=%$@!#:-]{8,}")
_NO_SECRET: Final = re.compile(
    r"(?i)\s*(?:none|null|true|false|undefined|[*•]*|<redact[^<>\n]{0,60}>|__redacted__|\[redacted\]"
    # A variable's place in a template, which may be all that follows a scheme.
    r"|(?:(?:basic|bearer|token)\s)?\s*(?:\$\{[a-z_][a-z0-9_]{0,99}\}|\{{1,2} ?[a-z_][a-z0-9_.]{0,99} ?\}{1,2})?)\s*"
)


def is_secret_name(name: str) -> bool:
    """Say whether what a name names is a credential, whatever it looks like."""
    match = _SECRET_NAME.fullmatch(name)
    return match is not None and match["token"] is None


def is_token_name(name: str) -> bool:
    """Say whether a name names some token, which may be a credential or a piece of text: its looks must tell."""
    match = _SECRET_NAME.fullmatch(name)
    return match is not None and match["token"] is not None and not is_harmless_token(name)


def is_harmless_token(name: str) -> bool:
    """Say whether a token is one of those that mark places, in texts and in lists."""
    return _HARMLESS_TOKEN.search(name) is not None


def is_credential_like(value: str, least: int = 8) -> bool:
    """Say whether a text is one word of letters and digits, as credentials are and words of a language are not.

    Args:
        value: The text.
        least: How long a credential is at least.
    """
    return len(value) >= least and _OPAQUE.fullmatch(value) is not None


def stands_for_nothing(value: str) -> bool:
    """Say whether a text stands where a credential would, and tells none: nothing, stars, ``<redacted>``."""
    return _NO_SECRET.fullmatch(value) is not None


# An encoder writes a tab as `\\t`, and every backslash twice.
_ENDS: Final = (
    rb"(?:[-_. ]?%b)?(?:[ *`\t]{0,20}[:=>\"'\\]|\s+value:|%%3[ad]| is\b| provided:|(?: block)?-----)"
    % _SUFFIXES.encode()
)


def _behind(words: str, letters: str) -> bytes:
    """Say that one of some words, a gap or none, and some letters stand before this place."""
    return "|".join(f"(?<={word}{gap}{letters})" for word in words.split("|") for gap in ("", "[-_. ]")).encode()


# Letters that are rare in text come first: a pair of letters, or one, is sought much faster than a choice of words.
_WITH_K: Final = re.compile(
    rb"k(?<=[a-z_. -]k)(?:(?<=cook)ies?|(?<=tok)en|ey(?=s?[\W_])(?:%b)s?)" % _behind(_KINDS_OF_KEYS, "key") + _ENDS
)
_WITH_SS: Final = re.compile(rb"ss(?:(?<=pass)(?:w(?:or)?ds?|phrases?|codes?|(?<=[a-z][-_.]pass))|n)" + _ENDS)
_WITH_CRE: Final = re.compile(rb"cre(?:(?<=secre)ts?|dentials?)" + _ENDS)
_WITH_WD: Final = re.compile(rb"wd(?<=pwd)" + _ENDS)
_WITH_SRF: Final = re.compile(rb"srf" + _ENDS)
_WITH_Z: Final = re.compile(rb"z(?<=authoriz)ation" + _ENDS)
_WITH_J: Final = re.compile(rb"jwt" + _ENDS)
# Flags of commands, whose value may follow without any sign; among them curl's for a user, and for cookies.
_FLAG: Final = re.compile(
    rb"-(?:-(?=[a-z0-9_.-]{0,120}(?:key|token|cookie|pass|pwd|jwt|secret|cred|srf|ssn|authoriz))|(?:u|-user|b)[ =\\])"
)
_SIGNED: Final = re.compile(rb"=(?:(?<=[?&6]key=)|(?<=[?&6]sig=)|(?<=[?&6]auth=)|(?<=signature=))")


def may_hold_named_secret(data: bytes) -> bool:
    """Say quickly whether text may hold a name of a credential with a value after it.

    Args:
        data: UTF-8 text, or JSON that holds it, undecoded.

    Returns:
        ``False`` only where there is none.
    """
    data = data.lower()
    # A byte alone is sought much faster still.
    return (
        _WITH_K.search(data) is not None
        or _WITH_SS.search(data) is not None
        or _WITH_CRE.search(data) is not None
        or _WITH_WD.search(data) is not None
        or _WITH_SRF.search(data) is not None
        or (b"z" in data and _WITH_Z.search(data) is not None)
        or (b"j" in data and _WITH_J.search(data) is not None)
        or (b"=" in data and _SIGNED.search(data) is not None)
        or (b"-" in data and _FLAG.search(data) is not None)
    )
