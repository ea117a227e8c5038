"""Credentials do not leave the process, and nothing else is changed."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, Status, StatusCode
from sdk_spans import SPANS, VALUES, sdk_span

from pixie_otel.exporters.otlp_json import encode, encode_span
from pixie_otel.exporters.redaction import RedactionError, Redactor, hide_from_environment
from pixie_otel.exporters.secret_cleaning import Cleaner, may_hold_credential
from pixie_otel.exporters.secret_names import is_secret_name

KEY = "sk-proj-Ab3dEf6hIj9lMn2pQr5tUv8xYz1"
"""Has the shape of a credential."""
PLAIN = "tr0ub4dor-and-3"
"""Has not: only its name gives it away."""


def written(span: ReadableSpan) -> str:
    """Give all that is written of a span."""
    encoded = encode(span)
    return (encoded.data + encoded.resource + encoded.scope).decode()


def redacted(attributes: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """Give a span's attributes as the defaults leave them."""
    return dict(Redactor().redact(sdk_span(attributes, **fields)).attributes or {})


_ENDLESS: list[Any] = []
_ENDLESS.append(_ENDLESS)
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


def test_resources_are_looked_at_once() -> None:
    """One resource is redacted once for all of its spans, and of many, few are kept."""
    redactor = Redactor()
    resource = Resource({"password": PLAIN})
    spans = [sdk_span(number=n) for n in (1, 2)]
    for span in spans:
        span._resource = resource
    first, second = map(redactor.redact, spans)
    for number in range(200):
        redactor.redact(sdk_span(resource={"number": number}))

    assert first.resource is second.resource
    assert first.resource.attributes == {"password": "<redacted>"}
    assert len(redactor._resources) < 100


def test_every_part_of_a_span_is_looked_at() -> None:
    """Names, events, links, the status and the resource are cleaned, too, and everything else comes through."""
    context = SpanContext(1, 9, is_remote=True)
    span = sdk_span(
        {"a": KEY, "b": 1},
        name=f"GET https://example.com/?api_key={PLAIN}",
        parent=context,
        events=[Event("exception", {"exception.message": f"bad key {KEY}", "n": 1}, 7), Event(f"used {KEY}", {}, 8)],
        links=[Link(context, {"password": PLAIN})],
        status=Status(StatusCode.ERROR, f"Incorrect API key: {KEY}"),
        resource={"service.name": "bot", "process.command_args": ["app", "--token=" + KEY]},
        instrumentation_scope=InstrumentationScope(f"s {KEY}", "1", "", {"password": PLAIN}),
    )
    found = Redactor().redact(span)
    text = written(found)

    assert KEY not in text
    assert PLAIN not in text
    assert found.events[0].attributes == {"exception.message": "bad key <redacted: openai-key>", "n": 1}
    assert found.status.description == "Incorrect API key: <redacted: openai-key>"
    assert (found.context, found.parent, found.kind) == (span.context, context, span.kind)
    assert (found.start_time, found.end_time, found.events[0].timestamp) == (span.start_time, span.end_time, 7)
    assert found.resource.attributes["service.name"] == "bot"
    assert found.instrumentation_scope == InstrumentationScope(
        "s <redacted: openai-key>", "1", "", {"password": "<redacted>"}
    )
    assert KEY in written(span), "the span itself is not touched: others have it, too"


def test_counts_of_what_was_dropped_are_kept() -> None:
    """How many attributes, events and links the SDK dropped is known of the new span as well."""
    memory = InMemorySpanExporter()
    limits = SpanLimits(max_span_attributes=2, max_events=1, max_links=1, max_event_attributes=1)
    provider = TracerProvider(span_limits=limits)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    context = SpanContext(1, 9, is_remote=False)
    with provider.get_tracer("t").start_as_current_span("x", links=[Link(context), Link(context)]) as span:
        span.set_attributes({"a": 1, "b": 2, "password": PLAIN})
        span.add_event("one")
        span.add_event("two", {"a": 1, "b": 2})
    (ended,) = memory.get_finished_spans()
    found = Redactor().redact(ended)

    assert found is not ended
    assert (found.dropped_attributes, found.dropped_events, found.dropped_links) == (1, 1, 1)
    assert found.events[0].dropped_attributes == 1


class TestCheapWhereThereIsNothing:
    """A span without credentials is told from its bytes."""

    @given(SPANS)
    def test_spans_without_credentials_are_not_copied(self, span: ReadableSpan) -> None:
        """A span in which nothing is found comes back as it is, encoded beforehand or not."""
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


class TestTheUsersFunction:
    """A user's function has the last word on every value."""

    def test_it_may_change_any_value(self) -> None:
        """It is given attributes, those of events, links and resource, and the status, after the defaults."""
        seen: dict[str, Any] = {}

        def hook(key: str, value: Any) -> Any:
            seen[key] = value
            return "hidden" if key == "email" else value

        span = sdk_span(
            {"email": "a@example.com", "a": KEY, "list": [1, {"x": 2}]},
            events=[Event("e", {"in.event": 1})],
            links=[Link(SpanContext(1, 2, is_remote=False), {"in.link": 2})],
            status=Status(StatusCode.ERROR, "no"),
            resource={"service.name": "bot"},
        )
        found = Redactor(hook).redact(span)

        assert found.attributes == {"email": "hidden", "a": "<redacted: openai-key>", "list": (1, {"x": 2})}
        assert seen == {
            "email": "a@example.com",
            "a": "<redacted: openai-key>",
            "list": [1, {"x": 2}],
            "in.event": 1,
            "in.link": 2,
            "status.description": "no",
            "service.name": "bot",
        }

    def test_it_works_on_copies(self) -> None:
        """What it does to a value does not reach the span, unless it returns it."""

        def hook(_key: str, value: Any) -> Any:
            if isinstance(value, list):
                value.append("more")
            return value

        span = sdk_span({"list": [1]})
        found = Redactor(hook).redact(span)

        assert (span.attributes or {})["list"] == (1,)
        assert (found.attributes or {})["list"] == (1, "more")

    @pytest.mark.parametrize("returned", [object(), {1, 2}, [object()], _ENDLESS])
    def test_what_no_json_can_be_is_hidden(self, returned: Any, caplog: pytest.LogCaptureFixture) -> None:
        """If it returns something else than JSON, the value is not recorded."""
        found = Redactor(lambda _key, _value: returned).redact(sdk_span({"a": KEY}))
        assert found.attributes == {"a": "<redaction failed>"}

    def test_bytes_are_given_as_base64(self) -> None:
        """Bytes come to it as Base64, and stay bytes where it leaves them."""
        seen: list[Any] = []
        found = Redactor(lambda _key, value: seen.append(value) or value).redact(sdk_span({"a": b"abc"}))
        assert ("YWJj" in seen, found.attributes) == (True, {"a": b"abc"})

    def test_its_failure_hides_the_value(self, caplog: pytest.LogCaptureFixture) -> None:
        """If it raises, that value is not recorded, and its owner is told without the value."""

        def hook(key: str, value: Any) -> Any:
            if key == "a":
                raise RuntimeError(f"cannot deal with {value}")
            return value

        with caplog.at_level(logging.WARNING, "pixie_otel"):
            found = Redactor(hook).redact(sdk_span({"a": "private words", "b": 1}))

        assert found.attributes == {"a": "<redaction failed>", "b": 1}
        assert "private words" not in caplog.text

    def test_what_ends_the_process_passes(self) -> None:
        """An interrupt within it is no failure of its own."""

        def hook(_key: str, _value: Any) -> Any:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            Redactor(hook).redact(sdk_span({"a": 1}))


def test_false_leaves_everything() -> None:
    """With `redact=False`, nothing is looked at."""
    span = sdk_span({"password": KEY})
    assert Redactor(redact=False).redact(span) is span


def test_a_span_that_cannot_be_made_safe_is_refused() -> None:
    """A span whose parts cannot be read is an error without its contents, so that nobody writes it."""

    class Broken(ReadableSpan):
        @property
        def events(self) -> Any:
            raise RuntimeError(KEY)

    span = Broken("x", SpanContext(1, 2, is_remote=False), attributes={"password": PLAIN}, resource=Resource({}))
    with pytest.raises(RedactionError) as raised:
        Redactor().redact(span)
    assert KEY not in str(raised.value)


class TestOpenInferencesSettings:
    """`OPENINFERENCE_HIDE_*` counts for every span."""

    def test_nothing_is_hidden_where_nothing_is_set(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without such a variable, or with one that says no, there is nothing to apply."""
        monkeypatch.setenv("OPENINFERENCE_HIDE_INPUTS", "false")
        assert hide_from_environment() is None

    @pytest.mark.parametrize("redact", [True, False])
    def test_inputs_and_outputs_are_hidden(self, monkeypatch: pytest.MonkeyPatch, redact: bool) -> None:  # noqa: FBT001 - a parameter of the test
        """Inputs or outputs are hidden in OpenInference's vocabulary and in others, and the rest stays."""
        monkeypatch.setenv("OPENINFERENCE_HIDE_INPUTS", "true")
        monkeypatch.setenv("OPENINFERENCE_HIDE_OUTPUTS", "TRUE")
        attributes = {
            "input.value": "hi",
            "input.mime_type": "text/plain",
            "output.value": "ho",
            "llm.model_name": "m",
            "llm.input_messages.0.message.content": "hi",
            "gen_ai.prompt.0.content": "hi",
            "gen_ai.output.messages": "ho",
            "pixie.wrap.name": "n",
        }
        found = Redactor(redact, hide=hide_from_environment()).redact(sdk_span(attributes))

        assert found.attributes == {
            "input.value": "__REDACTED__",
            "output.value": "__REDACTED__",
            "llm.model_name": "m",
            "gen_ai.prompt.0.content": "__REDACTED__",
            "gen_ai.output.messages": "__REDACTED__",
            "pixie.wrap.name": "n",
        }

    def test_a_failure_hides_the_value(self) -> None:
        """Where hiding fails, the value is not recorded."""

        def hide(key: str, value: object) -> object:
            raise RuntimeError("no")

        assert Redactor(hide=hide).redact(sdk_span({"a": "words"})).attributes == {"a": "<redaction failed>"}


def test_names_by_their_last_words() -> None:
    """A name is that of a credential by its last words, in any way of writing names."""
    assert [name for name in SECRET_NAMES if not is_secret_name(name)] == []
    assert [name for name in OTHER_NAMES if is_secret_name(name)] == []
