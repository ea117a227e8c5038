"""Credentials in text."""

from __future__ import annotations

import base64
import hashlib
import json
import string
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.secret_patterns import SECRET_PATTERNS
from pixie_otel.secrets import (
    SecretMatch,
    find_secrets,
    mask_secret,
    masked,
    masked_value,
    may_hold_secret,
)

ALNUM: Final = string.ascii_letters + string.digits
WORD: Final = ALNUM + "-_"
HEX: Final = "0123456789abcdef"
UPPER: Final = string.ascii_uppercase + string.digits


def drawn(seed: int, alphabet: str, length: int) -> str:
    """Draw characters as a service does that hands out keys: evenly, and repeatably for a test."""
    digest = b""
    counter = 0
    while len(digest) < length:
        digest += hashlib.sha256(f"{seed}/{alphabet}/{counter}".encode()).digest()
        counter += 1
    return "".join(alphabet[byte % len(alphabet)] for byte in digest[:length])


def json_web_token(seed: int) -> str:
    """Sign nothing, but write it as a signed token is written."""
    parts = [json.dumps({"alg": "HS256", "typ": "JWT"}), json.dumps({"sub": drawn(seed, string.digits, 9)})]
    encoded = [base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts]
    return ".".join([*encoded, drawn(seed, WORD, 43)])


def user_and_password(seed: int) -> str:
    """Write a user's name and a password as an HTTP client does, which is of any length modulo three."""
    text = f"{drawn(seed, string.ascii_lowercase, 2 + seed % 9)}:{drawn(seed, ALNUM + '!%&=~', 9)}"
    return base64.b64encode(text.encode()).decode()


CREDENTIALS: Final[dict[str, list[Callable[[int], str]]]] = {
    "anthropic-key": [lambda n: f"sk-ant-api03-{drawn(n, WORD, 93)}AA"],
    "langfuse-key": [lambda n: "sk-lf-" + "-".join(drawn(n, HEX, size) for size in (8, 4, 4, 4, 12))],
    "openrouter-key": [lambda n: f"sk-or-v1-{drawn(n, HEX, 64)}"],
    "openai-key": [
        lambda n: f"sk-{drawn(n, ALNUM, 19)}7T3BlbkFJ{drawn(n, ALNUM, 20)}",
        lambda n: f"sk-proj-{drawn(n, WORD, 74)}T3BlbkFJ{drawn(n, WORD, 74)}",
        lambda n: f"sk-svcacct-{drawn(n, WORD, 58)}T3BlbkFJ{drawn(n, WORD, 58)}",
        lambda n: f"sk-{drawn(n, HEX, 31)}0",
    ],
    "aws-access-key-id": [lambda n: f"AKIA{drawn(n, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}"],
    "google-api-key": [lambda n: f"AIza{drawn(n, WORD, 35)}"],
    "google-oauth-secret": [lambda n: f"GOCSPX-{drawn(n, WORD, 28)}"],
    "github-token": [
        lambda n: f"gh{'pousr'[n % 5]}_{drawn(n, ALNUM, 36)}",
        lambda n: f"github_pat_{drawn(n, ALNUM, 22)}_{drawn(n, ALNUM, 59)}",
    ],
    "gitlab-token": [lambda n: f"glpat-{drawn(n, WORD, 20)}"],
    "slack-token": [
        lambda n: f"xoxb-{drawn(n, string.digits, 12)}-{drawn(n, string.digits, 12)}-{drawn(n, ALNUM, 24)}",
        lambda n: f"xapp-1-A{drawn(n, ALNUM, 10)}-{drawn(n, string.digits, 13)}-{drawn(n, HEX, 64)}",
    ],
    "stripe-key": [lambda n: f"{'sr'[n % 2]}k_live_{drawn(n, ALNUM, 24)}"],
    "huggingface-token": [lambda n: f"hf_{drawn(n, string.ascii_letters, 33)}Q"],
    "groq-key": [lambda n: f"gsk_{drawn(n, ALNUM, 52)}"],
    "xai-key": [lambda n: f"xai-{drawn(n, ALNUM, 80)}"],
    "perplexity-key": [lambda n: f"pplx-{drawn(n, ALNUM, 48)}"],
    "tavily-key": [lambda n: f"tvly-dev-{drawn(n, ALNUM, 32)}", lambda n: f"tvly-{drawn(n, ALNUM, 32)}"],
    "langsmith-key": [lambda n: f"lsv2_{'ps'[n % 2]}{'tk'[n % 2]}_{drawn(n, HEX, 32)}_{drawn(n, HEX, 10)}"],
    "npm-token": [lambda n: f"npm_{drawn(n, ALNUM, 36)}"],
    "pypi-token": [lambda n: f"pypi-AgEIcHlwaS5vcmc{drawn(n, WORD, 150)}"],
    "age-secret-key": [lambda n: f"AGE-SECRET-KEY-1{drawn(n, 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58)}"],
    "atlassian-token": [lambda n: f"ATATT3xFfGF0{drawn(n, WORD, 171)}={drawn(n, '0123456789ABCDEF', 8)}"],
    "digitalocean-token": [lambda n: f"do{'opr'[n % 3]}_v1_{drawn(n, HEX, 64)}"],
    "linear-key": [lambda n: f"lin_api_{drawn(n, ALNUM, 40)}"],
    "nvidia-key": [lambda n: f"nvapi-{drawn(n, WORD, 64)}"],
    "replicate-token": [lambda n: f"r8_{drawn(n, ALNUM, 37)}"],
    "sendgrid-key": [lambda n: f"SG.{drawn(n, WORD, 22)}.{drawn(n + 1, WORD, 43)}"],
    "shopify-token": [lambda n: f"shp{('at', 'ca', 'pa', 'ss')[n % 4]}_{drawn(n, HEX, 32)}"],
    "vault-token": [
        lambda n: f"hvs.{drawn(n, ALNUM, 23)}Q",
        lambda n: f"hvs.CAESI{drawn(n, WORD, 86)}",
        lambda n: f"hvb.AAAAAQ{drawn(n, WORD, 132)}",
    ],
    "telegram-token": [lambda n: f"{drawn(n, '123456789', 8 + n % 3)}:AA{drawn(n, WORD, 33)}"],
    "slack-webhook": [lambda n: f"T{drawn(n, UPPER, 8 + n % 3)}/B{drawn(n, UPPER, 8 + n % 4)}/{drawn(n, ALNUM, 24)}"],
    "jwt": [json_web_token],
    "bearer-token": [lambda n: drawn(n, ALNUM, 39) + "7"],
    "basic-authorization": [user_and_password],
    "private-key": [lambda n: "\n".join(drawn(n + line, ALNUM + "+/", 64) for line in range(3))],
    "url-password": [
        lambda n: drawn(n, ALNUM + "!%&=~", 12),
        lambda n: quote(drawn(n, string.punctuation + ALNUM, 12), safe="") + "%40",
    ],
    "url-token": [lambda n: drawn(n, WORD, 25) + "q7Z"],
}
"""For every pattern, credentials as their services make them."""

AROUND: Final = {
    "bearer-token": ("Authorization: Bearer ", ""),
    "basic-authorization": ("Authorization: Basic ", ""),
    "slack-webhook": ("https://hooks.slack.com/services/", ""),
    "private-key": ("-----BEGIN RSA PRIVATE KEY-----\n", "\n-----END RSA PRIVATE KEY-----"),
    "url-password": ("postgresql://svc_app:", "@db.internal:5432/orders"),
    "url-token": ("https://", "@git.internal/orders.git"),
}
"""What some credentials are recognised by."""


def credential(kind: str, seed: int) -> tuple[str, str]:
    """Make a credential of a kind, in one of the shapes that it comes in."""
    shapes = CREDENTIALS[kind]
    return kind, shapes[seed % len(shapes)](seed)


made = st.builds(credential, st.sampled_from(sorted(CREDENTIALS)), st.integers(0, 2**32))
words = st.text(string.ascii_lowercase, min_size=1, max_size=12)
prose = st.lists(words, max_size=30).map(" ".join)
# What stands before or after a credential in text, in JSON within text, in a shell and in a URL.
breaks = st.sampled_from(
    [" ", "\n", "\t", '"', "'", "=", ":", ",", "(", "`", "\\n", '\\"', "\\u003d", "%3D", "key=", "é"]
)


def test_every_pattern_is_tried() -> None:
    """Each kind of credential that is known has an example here."""
    assert {pattern.name for pattern in SECRET_PATTERNS} == set(CREDENTIALS)


@given(made, prose, prose, breaks, st.sampled_from([" ", "\n", '"', "'", "`", "\\n", ",", ")", '\\"', ""]))
def test_a_credential_is_found_wherever_it_stands(
    credential: tuple[str, str], before: str, after: str, left: str, right: str
) -> None:
    """A credential of any kind, within any ordinary text, is found as itself and nothing else is."""
    kind, secret = credential
    head, tail = AROUND.get(kind, ("", ""))
    text = f"{before}{left}{head}{secret}{tail}{right or ' '}{after}"
    start = len(before) + len(left) + len(head)

    (found,) = find_secrets(text)

    assert found.pattern == kind
    assert found.start == start
    # Base64 goes on over line ends, and so may take in a few letters of what follows.
    assert found.end == start + len(secret) or kind == "private-key"


@given(made, prose, breaks)
def test_the_quick_test_misses_nothing_in_undecoded_json(credential: tuple[str, str], before: str, left: str) -> None:
    """Where the exact search would find something, the test of the JSON bytes says so."""
    kind, secret = credential
    head, tail = AROUND.get(kind, ("", ""))
    attribute = {"key": "input.value", "value": {"stringValue": before + left + head + secret + tail}}

    once = json.dumps([attribute])
    twice = json.dumps({"stringValue": once})

    assert may_hold_secret(json.dumps([attribute], ensure_ascii=False).encode())
    assert may_hold_secret(once.encode())
    assert may_hold_secret(once.replace("/", "\\/").encode())
    assert may_hold_secret(twice.encode())


@given(st.text())
def test_the_quick_test_agrees_with_the_search_on_any_text(text: str) -> None:
    """Any text at all is searched without an error, and what the quick test refuses holds nothing."""
    found = find_secrets(text)
    assert not found or may_hold_secret(json.dumps(text).encode())


@given(prose)
def test_ordinary_words_are_no_credential(text: str) -> None:
    """Text made of words holds no credential."""
    assert find_secrets(text) == []
    assert find_secrets(text.replace(" ", "-")) == []
    assert find_secrets(text.replace(" ", "_")) == []


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@given(data=st.binary(max_size=2000))
def test_an_image_is_no_credential(encode: Callable[[bytes], bytes], data: bytes) -> None:
    """The Base64 of a data URI is not searched for credentials that begin it, nor has it any within."""
    assert find_secrets(f"data:image/png;base64,{encode(data).decode()}") == []
    assert find_secrets(f"data:image/png;base64,AIza{drawn(1, WORD, 35)}") == []


@pytest.mark.parametrize(
    "text",
    [
        "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "sk-...",
        "sk-proj-your-api-key-goes-right-here-1",
        "sk-0000000000000000000000000000",
        "sk-learn-estimators-with-a-long-name-2024",
        "sk-SK-ViktoriaNeural",
        "task-0123456789abcdef0123456789",
        "ask-0123456789abcdef0123456789",
        "risk-0123456789abcdef0123456789",
        "mask_sk-0123456789abcdef0123456789",
        "AKIAIOSFODNN7EXAMPLE",
        "ASIAN MARKETS ROSE ON FRIDAY",
        "call_9a8b7c6d5e4f3a2b1c0d9e8f",
        "chatcmpl-9a8b7c6d5e4f3a2b1c0d9e8f",
        "550e8400-e29b-41d4-a716-446655440000",
        "the bearer of this letter",
        "the bearer authentication-is-required-for-this",
        "authorization: bearer ${OPENAI_API_KEY}",
        "Basic authentication is required",
        "Basic Authentication1234 is no credential",
        "Authorization: Basic dXNlcjpwYXNzd29yZA==",
        "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
        f"Basic {base64.b64encode(b'app:${PASSWORD}').decode()}",
        f"Basic {base64.b64encode(b'a sentence without a password').decode()}",
        f"Basic {base64.b64encode(bytes(range(200, 230))).decode()}",
        "SG.xxxxxxxxxxxxxxxxxxxxxx.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        f"SG.{drawn(1, WORD, 22)}.too-short",
        f"MSG.{drawn(1, WORD, 22)}.{drawn(2, WORD, 43)}",
        "hvs.read_the_attribute_of_an_object_1",
        "hvs.CAESI...",
        "hvb.AAAAAQ...",
        f"dop_v1_{'0' * 64}",
        "drop_v1_" + drawn(1, HEX, 64),
        f"r8_{drawn(1, ALNUM, 36)}",
        f"for8_{drawn(1, ALNUM, 37)}",
        "shpat_" + drawn(1, HEX, 31),
        "shpat_your_access_token_goes_here",
        "nvapi-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "nvapi-some-key",
        f"AGE-SECRET-KEY-1{'Q' * 58}",
        "AGE-SECRET-KEY-1...",
        "age1" + drawn(1, string.ascii_lowercase, 58),
        f"lin_api_{drawn(1, ALNUM, 39)}",
        "ATATT3xFfGF0...",
        f"1234567:AA{drawn(1, WORD, 33)}",
        f"123456789:AA{drawn(1, WORD, 34)}",
        f"123456789:AA{'a' * 33}",
        f"123456789:BB{drawn(1, WORD, 33)}",
        "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
        "https://hooks.slack.com/services/",
        "https://0123456789abcdef0123456789abcdef@o123.ingest.example.com/42",
        "https://a-rather-long-name-of-a-user-2024@example.com/a",
        "https://medium.example.com/@aRatherLongNameOfAUser2024@home",
        "postgres://app:%24%7BDB_PASSWORD%7D@db/app",
        "postgres://app:%3Cpassword%3E@db/app",
        "Authorization: Bearer ${OPENAI_API_KEY}",
        "Bearer authentication-is-required-for-this",
        "Bearer <your-token>",
        "https://example.com:8443/a?email=someone@example.com",
        "git@github.com:acme/widgets.git",
        "postgres://postgres:postgres@localhost/db",
        "postgres://app:${DB_PASSWORD}@db/app",
        "postgres://app:<password>@db/app",
        "redis://user:aaaaaa@cache",
        "docker://alpine:3.18@sha256:9a8b7c6d5e4f",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "look for -----BEGIN RSA PRIVATE KEY----- in the file",
        f"-----BEGIN RSA PRIVATE KEY-----\n{'A' * 64}\n-----END RSA PRIVATE KEY-----",
        "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxMjM0In0.",
        "",
    ],
)
def test_what_only_looks_like_a_credential_is_left_alone(text: str) -> None:
    """Placeholders, documented examples, ids, slugs, local set-ups and templates are no findings."""
    assert find_secrets(text) == []


def test_several_credentials_come_in_order_and_none_twice() -> None:
    """A token within a header is one finding under its own name, and findings stand in the order of the text."""
    token = json_web_token(1)
    text = f"AIza{drawn(1, WORD, 35)} Authorization: Bearer {token}\nghp_{drawn(2, ALNUM, 36)}"
    assert [match.pattern for match in find_secrets(text)] == ["google-api-key", "jwt", "github-token"]


@pytest.mark.parametrize("scheme", ["Bearer", "bearer"])
def test_a_scheme_may_be_in_small_letters(scheme: str) -> None:
    """HTTP/2 and many programs write the names of headers and schemes in small letters."""
    (found,) = find_secrets(f"authorization: {scheme} {drawn(1, ALNUM, 39)}7")
    assert found.pattern == "bearer-token"


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (f"https://api.telegram.org/bot123456789:AA{drawn(1, WORD, 33)}/sendMessage", "telegram-token"),
        (f"https://ghp_{drawn(1, ALNUM, 36)}@github.com/acme/widgets.git", "github-token"),
        (f"https:\\/\\/hooks.slack.com\\/services\\/T0AB12CD3\\/B0AB12CD3\\/{drawn(1, ALNUM, 24)}", "slack-webhook"),
        ("postgresql://app:p%40ss%3Aw0rd@db/app", "url-password"),
    ],
)
def test_a_credential_within_a_url_is_found(text: str, pattern: str) -> None:
    """A token in the path of a URL, one that is its user, and one with slashes escaped are each found once."""
    assert [match.pattern for match in find_secrets(text)] == [pattern]


def test_a_match_says_where_it_is() -> None:
    """The finding's ends cut the credential out of the text, and of a URL the password only."""
    text = "amqp://worker:pa55-w0rd@queue/"
    assert find_secrets(text) == [SecretMatch("url-password", 14, 23)]
    assert text[14:23] == "pa55-w0rd"


@pytest.mark.parametrize(
    "text",
    [
        "sk-" * 50_000,
        "sk-a-" * 50_000,
        "eyJ" * 50_000 + ".eyJ",
        "\\neyJ" * 50_000 + ".eyJ",
        "Bearer " * 50_000 + "a" * 50_000,
        "-----BEGIN PRIVATE KEY-----\n" * 5_000,
        "://a:" * 50_000 + "@",
        "://" + ":" * 100_000 + "@",
        "/" * 100_000 + "@",
        "xoxb-" * 50_000,
        "AKIA" * 50_000,
        "SG." * 50_000,
        "hvs." * 50_000,
        "hvb.A" * 50_000,
        "hvs." + "a" * 100_000,
        "1" * 100_000 + ":AA",
        "12345678:AA" * 20_000,
        "Basic " * 50_000,
        "Basic " + "YWE6" * 25_000,
        "hooks.slack.com/services/T" + "A" * 100_000,
        "://a" * 50_000 + "@",
    ],
)
def test_no_text_makes_the_search_slow(text: str) -> None:
    """Text made to keep a pattern trying ends all the same, in no finding."""
    assert find_secrets(text) == []


def test_a_credential_is_never_shown() -> None:
    """A long credential is known by its first four characters, a short one by its length alone."""
    assert mask_secret("sk-proj-0123456789abcdef") == "sk-p… (24 characters)"
    assert mask_secret("pa55-w0rd") == "… (9 characters)"


def test_a_text_can_be_masked() -> None:
    """Every credential in a text gives way to its first characters and its length, and nothing else changes."""
    key = "sk-proj-" + "a1B2c3D4" * 4
    text = masked(f"first {key}, then {key}.")
    assert text == f"first {mask_secret(key)}, then {mask_secret(key)}."
    assert masked("nothing here") == "nothing here"


@pytest.mark.parametrize("name", ["api_key", "OPENAI_APIKEY", "client_secret", "password", "access_token"])
def test_a_setting_is_masked_by_its_name(name: str) -> None:
    """What is called like a credential is one, whatever its shape; what is not is looked at for its shape alone."""
    key = "sk-proj-" + "a1B2c3D4" * 4
    settings = {name: "hunter22", "headers": [{"x": key, "y": 1}], "max_tokens": 5, "key": "answer", "none": None}
    shown = masked_value("settings", settings)
    assert "hunter22" not in str(shown)
    assert key not in str(shown)
    assert shown == settings | {name: mask_secret("hunter22"), "headers": [{"x": mask_secret(key), "y": 1}]}
