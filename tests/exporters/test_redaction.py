"""Credentials do not leave the process, and nothing else is changed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from made_secrets import KEY, PLAIN, redacted, written
from opentelemetry.sdk.trace import ReadableSpan
from sdk_spans import SPANS, VALUES, sdk_span

from pixie_otel.exporters.otlp_json import encode_span
from pixie_otel.exporters.redaction import Redactor
from pixie_otel.exporters.secret_cleaning import Cleaner, may_hold_credential
from pixie_otel.exporters.secret_names import is_secret_name

SECRET_NAMES = [
    *("api_key", "apikey", "x-api-key", "OPENAI_API_KEY", "authorization", "Proxy-Authorization", "password", "passwd"),
    *("secret", "client_secret", "clientSecret", "access_token", "accessToken", "refresh_token", "id_token", "ssn"),
    *("private_key", "cookie", "set-cookie", "session_token", "credentials", "csrf", "xsrf_token", "X-CSRFToken"),
    *("http.request.header.authorization", "AWS_SECRET_ACCESS_KEY", "dbPassword", "mysql_pwd", "SECRET_KEY_BASE"),
    *("jwt", "passphrase", "Api Key"),
]
OTHER_NAMES = [
    *("max_tokens", "token_count", "total_tokens", "tokens", "token", "key", "keys", "llm.token_count.prompt"),
    *("secretary", "password_policy", "session.id", "primary_key", "sort_key", "author", "authors", "cookie_policy"),
    *("input.value", "gen_ai.usage.input_tokens", "tokenizer", "keyboard", "next_page_token", "has_passwords_changed"),
    *("monkey", "x_key"),
]
SPOTS = [
    *(
        "{}",
        '{{"{}": ',
        "{}: ",
        "{}=",
        "{}\t=\t",
        "x['{}'] = ",
        "('{}', ",
        "**{}:** ",
        "<{}>",
        "{} is ",
        "{}: str = ",
        "{}%3D",
    ),
    *('"{}"=>', "{}\n  value: ", "curl -u {}:", '{} "'),
]
PEM = "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----\n"


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_what_stands_under_the_name_of_a_credential_is_hidden(name: str) -> None:
    """Under such a name nothing is kept: as an attribute, in a mapping, in JSON, in JSON within JSON, in code."""
    inner = json.dumps({name: PLAIN, "n": 1})
    found = redacted(
        {
            name: PLAIN,
            "mapping": {"deep": {name: PLAIN, "n": 1}},
            "json": inner,
            "json.in.json": json.dumps({"body": inner}),
            "cut.off": inner[:-12],
            "code": f"{{'{name}': '{PLAIN}'}}",
            "list": json.dumps([{"name": name, "value": PLAIN}]),
            "headers": {name: [PLAIN]},
        }
    )

    assert PLAIN[:4] not in json.dumps(found)
    assert found[name] == "<redacted>"
    assert found["mapping"] == {"deep": {name: "<redacted>", "n": 1}}
    assert json.loads(found["json"]) == {name: "<redacted>", "n": 1}
    assert json.loads(json.loads(found["json.in.json"])["body"]) == {name: "<redacted>", "n": 1}
    assert found["headers"] == {name: ("<redacted>",)}


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_other_names_are_let_be(name: str) -> None:
    """Names that only resemble those change nothing: the very same span comes back."""
    inner = json.dumps({name: "hello world", "n": 1})
    span = sdk_span({name: "hello world", "json": inner, "again": json.dumps([inner]), "number": {name: 5}})
    assert Redactor().redact(span) is span


@pytest.mark.parametrize(
    "value",
    [
        f"the key is {KEY}.",
        f"https://example.com/?a=1&api_key={PLAIN}&b=2",
        f"https://maps.example.com/x?key={PLAIN}Ab3dEf6h",
        f"https://user:{PLAIN}@example.com/",
        f"OPENAI_API_KEY={PLAIN}",
        f"curl --password {PLAIN} https://example.com",
        f"curl -H 'Authorization: Basic {PLAIN}' https://example.com",
        f'client = Client(api_key="{PLAIN}")',
        f"Cookie: theme=dark; session={PLAIN}",
        f"password: {PLAIN}",
        ["app", "--api-key", PLAIN, "--verbose"],
        ["app", f"--api-key={PLAIN}"],
        f"-----BEGIN PRIVATE KEY-----\n{KEY * 3}\n-----END PRIVATE KEY-----".replace("-proj-", ""),
        f"{{{KEY}".encode(),
        {KEY: 1},
        f'{{"huge": 1e999, "api_key": "{PLAIN}"}}',
        f'{{"note": "\\"api_key\\": \\"a\\\\\\"{PLAIN}\\"", "cut',
        f"{{'api_key': b'{PLAIN}'}}",
        f'"api_key": "{PLAIN}\\\\", "x',
        f"[('api_key', '{PLAIN}')]",
        f'[["password", "{PLAIN}"]]',
        f"os.environ['API_KEY'] = '{PLAIN}'",
        f"setenv('API_KEY', '{PLAIN}')",
        f"{{:password => '{PLAIN}'}}",
        f'{{"password"=>"{PLAIN}"}}',
        f"<password>{PLAIN}</password>",
        f'<add key="ApiKey" value="{PLAIN}"/>',
        f"password\t=\t{PLAIN}",
        f"password:\t{PLAIN}",
        f"password            =    {PLAIN}",
        f"password := '{PLAIN}'",
        f"password: str = '{PLAIN}'",
        f"if password == '{PLAIN}':",
        f'password = """{PLAIN}"""',
        f"password: `{PLAIN}`",
        f"**Password:** {PLAIN}",
        f"my password is {PLAIN}",
        f"Incorrect API key provided: {PLAIN}.",
        f"ALTER USER bob WITH PASSWORD '{PLAIN}'",
        f"env:\n- name: API_KEY\n  value: {PLAIN}\n",
        f"curl -u admin:{PLAIN} https://example.com",
        f'curl -b "sid={PLAIN}" https://example.com',
        f"--password '{PLAIN}'",
        f"https%3A%2F%2Fexample.com%3Faccess_token%3D{PLAIN}a1%26b",
        f"?a=1\\u0026sig={PLAIN}a1",
        f'[{{"Name": "password", "Value": "{PLAIN}"}}]',
        f'{{"CLIENTSECRET": "{PLAIN}", "DB_PASS": "{PLAIN}", "OPENAI_KEY": "{PLAIN}", "passwordConfirm": "{PLAIN}"}}',
        ["api_key=", PLAIN],
        ["X-Api-Key", PLAIN],
        PEM.format(f"Proc-Type: 4,ENCRYPTED\n\n{KEY * 3}").replace("sk-proj-", ""),
        PEM.format(KEY * 3).replace("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK").replace("sk-proj-", ""),
    ],
)
def test_credentials_are_found_wherever_they_stand(value: object) -> None:
    """In text, URLs, settings, commands, headers, code, bytes and keys, and the rest of the text is kept."""
    found = written(Redactor().redact(sdk_span({"process.command_args": value, "kept": "as it is"})))

    for secret in (KEY, PLAIN):
        assert secret not in found
    assert "<redacted" in found or "bytesValue" in found
    assert "as it is" in found


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("user: bob\npassword: correcthorse\nport: 5\n", "user: bob\npassword: <redacted>\nport: 5\n"),
        ("A=1\nexport DB_PASSWORD=p@ss(w0rd)!\n", "A=1\nexport DB_PASSWORD=<redacted>\n"),
        ("PASSWORD=s3cr3t", "PASSWORD=<redacted>"),
        ('password = "correct horse battery"', 'password = "<redacted>"'),
        ("Client(password='correct horse')", "Client(password='<redacted>')"),
    ],
)
def test_settings_may_be_any_words(text: str, cleaned: str) -> None:
    """On a line of its own, or in quotes, the value of such a name is hidden whatever it looks like."""
    assert redacted({"input.value": text}) == {"input.value": cleaned}


def test_private_keys_are_found_line_by_line() -> None:
    """A private key whose lines are the items of a list is hidden as a whole, and what follows it is kept."""
    lines = ["before", *PEM.format("MIIEowIBAAKCAQEA7bq2V0W8\nkR5t4XyZ1pQw9sLm").splitlines(), "after"]
    expected = [*lines[:2], "<redacted>", "<redacted>", *lines[4:]]

    assert redacted({"a": lines}) == {"a": tuple(expected)}
    assert json.loads(redacted({"a": json.dumps(lines)})["a"]) == expected


def test_definitions_of_tools_are_let_be() -> None:
    """Parameters that are called like credentials are described, not given; a default among them is."""
    described: dict[str, dict[str, Any]] = {
        "api_key": {"type": "string", "description": "The API key: it is sent along"},
        "password": {"title": "Password", "description": "Your password"},
        "client_secret": {"enum": ["a1b2c3d4e5", "f6g7h8i9j0"]},
        "token": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    }
    tool = {"name": "login", "parameters": {"properties": described, "required": ["api_key", "address1_line"]}}
    assert redacted({"a": json.dumps(tool)}) == {"a": json.dumps(tool)}
    assert redacted({"a": repr(tool)}) == {"a": repr(tool)}

    described["api_key"]["default"] = PLAIN
    found = json.loads(redacted({"a": json.dumps(tool)})["a"])
    assert found["parameters"]["properties"]["api_key"].pop("default") == "<redacted>"
    del described["api_key"]["default"]
    assert found == tool


def test_json_stays_json() -> None:
    """What was JSON is JSON afterwards, with everything else as it was."""
    value = {
        "a": [1, 2.5, None, True, "ü"],
        "k": KEY,
        "password": 12345,
        "secret": {"x": ["y"]},
        "empty": {"secret": ""},
    }
    found = json.loads(redacted({"input.value": json.dumps(value)})["input.value"])

    assert found == {
        "a": [1, 2.5, None, True, "ü"],
        "k": "<redacted: openai-key>",
        "password": "<redacted>",
        "secret": {"x": ["<redacted>"]},
        "empty": {"secret": ""},
    }


@pytest.mark.parametrize(
    "value",
    [
        '{"properties": {"password": {"type": "string", "description": "Your password"}}, "required": ["password"]}',
        '[{"token": " hello", "logprob": -0.1}, {"token": "!", "logprob": -0.2}]',
        "How do I reset my password? My token is fine, and so is the API key: nobody has it.",
        '{"password": null, "has_secret": true, "secret": false, "authorization": "<redacted>", "max_tokens": 100}',
        "def login(password=None, api_key=os.environ['API_KEY'], token=token): ...",
        "https://example.com/?key=name&page_token=3",
        '{"properties": {"password": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "secret": {"type": ["null"]}}}',
        "--api-key --verbose",
        "api_key: ",
        "{'token': 5}",
        "password=required",
        "Password: required\nEmail: optional",
        "self.password = password\nself.api_key = api_key or os.environ['OPENAI_API_KEY']\n",
        "password = get_password()\napi_key = settings.api_key\n",
        "interface Login { password: string; apiKey?: string }",
        "The password is wrong. Enter password: ",
        'api_key="${OPENAI_API_KEY}" or "{api_key}"',
        "headers['Authorization'] = f'Bearer {token}'\nkey_password=None,\n",
        'class Credential:\n    """A username and a password."""',
        "docker run -u 1000:1000 --rm image",
        '["api_key", "name"] and ("password", "username")',
        "Authorization: see RFC 6750; WWW-Authenticate: Bearer realm=x",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b by bob@example.com, 550e8400-e29b-41d4-a716-446655440000",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    ],
)
def test_what_only_speaks_of_credentials_is_let_be(value: str) -> None:
    """Schemas of tools, log probabilities, questions and code without a credential stay as they are."""
    assert redacted({"input.value": value}) == {"input.value": value}


def test_a_key_that_stands_twice_is_hidden_twice() -> None:
    """In JSON with a key twice, of which a parser would show one, both are hidden."""
    value = f'{{"api_key": "{PLAIN}", "api_key": ""}}'
    assert redacted({"input.value": value}) == {"input.value": '{"api_key": "<redacted>", "api_key": ""}'}


def test_what_is_nested_too_deep_to_look_into_is_hidden() -> None:
    """JSON too deep to be parsed is hidden whole where it may hold a credential, and else stays."""
    deep = "[" * 100_000 + "]" * 100_000
    assert redacted({"a": deep}) == {"a": deep}
    assert redacted({"a": f'[{{"api_key": "{PLAIN}"}}, {deep}]'}) == {"a": "<redaction failed>"}


def test_what_is_nested_too_deep_as_a_value_is_hidden() -> None:
    """So is a value that is nested deeper than anything is read."""
    value: Any = {"password": PLAIN}
    for _ in range(150):
        value = [value]
    assert PLAIN not in repr(Cleaner().value("a", value))
    assert Cleaner().value("a", marker := object()) is marker


@pytest.mark.parametrize("method", ["value", "text"])
def test_a_fault_of_our_own_hides_the_value(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where looking at a value or a name fails, it is hidden."""

    def fail(*_arguments: object) -> object:
        raise RecursionError

    monkeypatch.setattr(Cleaner, method, fail)
    found = Redactor().redact(sdk_span({"password": PLAIN}, name=KEY))

    assert PLAIN not in written(found)
    assert "<redaction failed>" in written(found)


def test_numbers_under_such_names_are_hidden_in_code() -> None:
    """A number is hidden as well, in a mapping's text as Python writes it."""
    assert redacted({"a": "{'password': 123456, 'n': 1}"}) == {"a": "{'password': <redacted>, 'n': 1}"}


class TestCheapWhereThereIsNothing:
    """A span without credentials is told from its bytes."""

    @given(SPANS)
    def test_spans_without_credentials_are_not_copied(self, span: ReadableSpan) -> None:
        """A span in which nothing is found comes back as it is, encoded beforehand or not."""
        # A name that is made up may happen to be that of a credential.
        assume(not may_hold_credential(written(span).encode()))
        assert Redactor().redact(span) is span
        assert Redactor().redact(span, encode_span(span)) is span

    @given(
        st.recursive(
            st.one_of(
                VALUES,
                st.builds(
                    lambda spot, name, value, rest: spot.format(name) + value + rest,
                    st.sampled_from(SPOTS),
                    st.sampled_from([*SECRET_NAMES, *OTHER_NAMES, "--api-key ", "?key", "&sig"]),
                    st.sampled_from([PLAIN, KEY, f'"{PLAIN}"', f"'{KEY}'", "Basic " + PLAIN, "5", "[1", "a=b"]),
                    st.sampled_from(["", "}", "&x", "\n", "é", "\\"]),
                ),
            ),
            lambda inner: st.one_of(
                st.dictionaries(st.sampled_from([*SECRET_NAMES, *OTHER_NAMES, "name", "value"]), inner, max_size=3),
                st.lists(inner, max_size=2),
                inner.map(lambda value: json.dumps(value, default=str)),
                inner.map(lambda value: json.dumps(value, default=str, ensure_ascii=False)[:-3]),
            ),
            max_leaves=5,
        ),
        st.sampled_from([*SECRET_NAMES, *OTHER_NAMES]),
    )
    def test_nothing_that_would_be_found_is_cleared_by_its_bytes(self, value: object, name: str) -> None:
        """Whatever a close look changes, the bytes of the encoded span make it look closely."""
        span = sdk_span({name: value})
        given_value = (span.attributes or {})[name]
        if Cleaner().value(name, given_value) is not given_value:
            encoded = encode_span(span)
            assert may_hold_credential(encoded) or b'"bytesValue"' in encoded

    def test_redacting_twice_changes_nothing_more(self) -> None:
        """What was redacted is clean."""
        once = redacted({"a": f"{KEY} password={PLAIN}", "b": json.dumps({"secret": PLAIN}), "secret": PLAIN})
        assert redacted(once) == once


def test_names_by_their_last_words() -> None:
    """A name is that of a credential by its last words, in any way of writing names."""
    assert [name for name in SECRET_NAMES if not is_secret_name(name)] == []
    assert [name for name in OTHER_NAMES if is_secret_name(name)] == []
