"""The credentials that are known by a shape of their own.

A finding that is none costs more trust than a missed one: no guessing by entropy alone, no names or addresses of
people, no keys that are plain hex or plain UUIDs.

Every pattern has anchors, literal text of which each of its matches holds one. Every quantifier is bounded, and no two
in a row share characters unless they are possessive, so that no text makes a search slow.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

__all__ = ["SECRET_PATTERNS", "SecretPattern"]


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


# Long enough that a random credential does not hold one by chance.
_FILLER: Final = re.compile("example|placeholder|redacted|x{5}|your(?:[-_]|api|key|secret|token)", re.IGNORECASE)
_FEWEST_DIFFERENT: Final = 6
"""A random credential of 16 characters or more has at least as many different ones; a filler like ``0000`` has not."""

_SAMPLE_PASSWORD: Final = re.compile(
    "admin|changeme|foobar|guest|hunter2|minioadmin|mysql|open ?sesame|pass|passwd|password|postgres|pwd|redis|root"
    "|sample|secret|test|token|user|username",
    re.IGNORECASE,
)
_VARIABLE: Final = re.compile(r"\$?\{.*\}|\$\w+|\$\(.*\)|<.*>|\[.*\]")
_TOKEN_LETTERS: Final = re.compile(r"(?=.*[0-9])(?=.*[a-z])(?=.*[A-Z])")


def _is_no_filler(match: re.Match[str]) -> bool:
    """Refuse what stands for a credential in documentation: fillers, examples, one character again and again."""
    secret = match.group("secret")
    # What follows a prefix, where there is one.
    drawn = match.groupdict().get("drawn", secret)
    return len(set(drawn)) >= _FEWEST_DIFFERENT and _FILLER.search(secret) is None


def _is_no_sample_password(match: re.Match[str]) -> bool:
    """Refuse what is put together by a program, or else is no password of anybody; `%` may begin an escape."""
    user, password = match.group("user", "secret")
    if password.startswith("$") or any(sign in password for sign in "{}*[]"):
        return False
    return _is_password(unquote(user), unquote(password))


def _is_password(user: str, password: str) -> bool:
    """Refuse what stands for a password in documentation and in local set-ups, and templates' variables."""
    return not (
        _SAMPLE_PASSWORD.fullmatch(password) is not None
        or _VARIABLE.fullmatch(password) is not None
        or password == user
        or len(set(password)) < 3
        or _FILLER.search(password) is not None
    )


def _is_user_and_password(match: re.Match[str]) -> bool:
    """Say whether a text in Base64 is a user's name and a password."""
    encoded = match.group("secret").replace("\\/", "/").rstrip("=")
    try:
        text = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    user, colon, password = text.partition(":")
    return bool(colon) and text.isprintable() and len(password) >= 3 and _is_password(user, password)


def _is_mixed(match: re.Match[str]) -> bool:
    """Say whether a word is of digits and of letters in both cases: no name and no number, nor a key of plain hex."""
    return _TOKEN_LETTERS.match(match.group("secret")) is not None and _is_no_filler(match)


def _token(prefix: str, body: str) -> re.Pattern[str]:
    """Build the pattern of a credential with a prefix of its own.

    The prefix stands first and what precedes it is looked at afterwards, since `re` then finds it at the speed of a
    literal search. Text often is JSON or a URL within JSON, so a letter before the prefix may end an escape.
    """
    before = (
        rf"(?:(?<![A-Za-z0-9_-]{prefix})|(?<=\\[nrtbf]{prefix})|(?<=\\u[0-9A-Fa-f]{{4}}{prefix})"
        rf"|(?<=%[0-9A-F]{{2}}{prefix}))(?<!;base64,{prefix})"
    )
    return re.compile(rf"(?P<secret>{prefix}{before}(?P<drawn>{body}))")


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
    *_of_tokens("age-secret-key", ("AGE-SECRET-KEY-1", f"[02-9AC-HJ-NP-Z]{{58}}{_END}"), anchors=("AGE-SECRET-KEY-",)),
    *_of_tokens("atlassian-token", ("ATATT3", rf"{_WORD}{{60,250}}+(?:=[0-9A-F]{{8}})?"), anchors=("ATATT3",)),
    *_of_tokens("digitalocean-token", ("do[opr]_v1_", f"[0-9a-f]{{64}}{_END}"), anchors=("_v1_",)),
    *_of_tokens("linear-key", ("lin_api_", f"[A-Za-z0-9]{{40}}{_END}"), anchors=("lin_api_",)),
    *_of_tokens("nvidia-key", ("nvapi-", rf"{_WORD}{{60,100}}+"), anchors=("nvapi-",)),
    *_of_tokens("replicate-token", ("r8_", f"[A-Za-z0-9]{{37}}{_END}"), anchors=("r8_",)),
    *_of_tokens("sendgrid-key", (r"SG\.", rf"{_WORD}{{22}}\.{_WORD}{{43}}(?!{_WORD})"), anchors=("SG.",)),
    *_of_tokens(
        "shopify-token",
        ("shp(?:at|ca|pa|ss)_", f"[0-9a-fA-F]{{32}}{_END}"),
        anchors=("shpat_", "shpca_", "shppa_", "shpss_"),
    ),
    *_of_tokens(
        "vault-token",
        # An attribute of some object `hvs` has a name in small letters.
        (r"hvs\.", rf"(?=[a-z0-9_-]{{0,300}}+[A-Z]){_WORD}{{24,300}}+"),
        # Batch tokens begin with the number of the key that they are encrypted with, in four bytes.
        (r"hvb\.A", rf"{_WORD}{{60,1000}}+"),
        anchors=("hvs.", "hvb.A"),
    ),
    SecretPattern(
        "telegram-token",
        (":AA",),
        re.compile(rf"(?<![0-9])(?P<secret>[0-9]{{8,10}}+:AA(?P<drawn>{_WORD}{{33}}))(?!{_WORD})"),
        _is_no_filler,
    ),
    SecretPattern(
        "slack-webhook",
        ("hooks.slack.com",),
        re.compile(
            r"hooks\.slack\.com\\?/services\\?/"
            r"(?P<secret>T[A-Z0-9]{8,14}+\\?/B[A-Z0-9]{8,14}+\\?/[A-Za-z0-9]{20,40}+)"
        ),
        _is_no_filler,
    ),
    # Header and payload are JSON objects, so both start with the Base64 of `{"`.
    *_of_tokens(
        "jwt",
        ("eyJ", rf"{_WORD}{{8,8000}}+\.eyJ{_WORD}{{16,8000}}+\.{_WORD}{{16,2000}}+"),
        anchors=(".eyJ",),
    ),
    SecretPattern(
        "bearer-token",
        ("earer ",),
        re.compile(
            r"[Bb]earer {1,4}+"
            r"(?P<secret>(?=[A-Za-z._~+/-]{0,4000}+[0-9])[A-Za-z0-9._~+/-]{20,4000}+={0,2}+)"
        ),
        _is_no_filler,
    ),
    SecretPattern(
        "basic-authorization",
        ("Basic ",),
        re.compile(r"Basic {1,4}+(?P<secret>(?:[A-Za-z0-9+]|\\?/){11,4000}+={0,2}+)"),
        _is_user_and_password,
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
    SecretPattern(
        "url-token",
        ("@",),
        re.compile(rf":(?<=[A-Za-z0-9]:)\\?/\\?/(?P<secret>{_WORD}{{20,300}}+)@(?=[A-Za-z0-9\[])"),
        _is_mixed,
    ),
)
