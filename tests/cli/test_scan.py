"""`pixie-otel scan`: credentials in files are found, said where, and never shown."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_calls import Pixie
from otlp_lines import agent, batch, line, span, write

KEY = "sk-proj-Ab3dEf6hIj9lMn2pQr5tUv8xYz1"
PLAIN = "tr0ub4dor-and-3"


def test_a_clean_file_ends_with_0(pixie: Pixie, traces: Path) -> None:
    """A file without credentials is said to be one, with what was searched."""
    done = pixie("scan", traces)

    assert (done.code, done.out) == (0, "")
    assert done.err == "No credential was found in 3 lines and documents of 1 file.\n"


def test_says_where_a_credential_is(pixie: Pixie, folder: Path) -> None:
    """A credential is shown masked, with file, line, attribute, span and trace, and the command ends with 1."""
    path = write(folder / "traces.jsonl", line(agent(1)), line(agent(2, f"my key is {KEY}", trace=5)))
    done = pixie("scan", path)

    assert done.code == 1
    assert done.out.splitlines() == [
        f"openai-key: sk-p… ({len(KEY)} characters)",
        f"  {path}:2 · input.value · span {2:016x} · trace 00000000",
    ]
    assert done.err == "Found 1 different credential in 1 place, in 2 lines and documents of 1 file.\n"


def test_never_shows_a_credential(pixie: Pixie, folder: Path) -> None:
    """Wherever it stands, also in the name of an attribute, nothing but its beginning is printed."""
    path = write(folder / "a.jsonl", line(span(1, attributes={KEY: KEY, "password": PLAIN}, name=KEY, error=KEY)))

    for options in ([], ["-v"], ["--json"]):
        done = pixie("scan", path, *options)
        assert done.code == 1
        assert KEY[:12] not in done.out + done.err
        assert PLAIN[:6] not in done.out + done.err


@pytest.mark.parametrize(
    "attributes",
    [
        {"password": PLAIN},
        {"tool.parameters": json.dumps({"client_secret": PLAIN})},
        {"nested": {"credentials": {"user": PLAIN}}},
        {"process.command_args": ["app", "--api-key", PLAIN]},
        {"url": f"https://example.com/?api_key={PLAIN}"},
    ],
)
def test_finds_what_only_a_name_tells(pixie: Pixie, folder: Path, attributes: dict[str, object]) -> None:
    """What stands under the name of a credential is found, and with `--no-names` is not."""
    path = write(folder / "a.jsonl", line(span(1, attributes=attributes)))

    assert pixie("scan", path).code == 1
    assert pixie("scan", path, "--no-names").code == 0


def test_looks_at_everything_in_a_line(pixie: Pixie, folder: Path) -> None:
    """Names, statuses, events, links, resources, bytes, logs and metrics are searched."""
    places: list[dict[str, object]] = [
        batch(span(1, name=KEY)),
        batch(span(1, error=f"bad {KEY}")),
        batch(span(1, events=[{"name": "e", "attributes": [{"key": "m", "value": {"stringValue": KEY}}]}])),
        batch(span(1, links=[{"traceId": "1" * 32, "attributes": [{"key": "m", "value": {"stringValue": KEY}}]}])),
        batch(span(1), service=KEY),
        batch(
            span(1, attributes={}) | {"attributes": [{"key": "b", "value": {"bytesValue": "cGFzc3dvcmQ9dHIwdWI0ZG9y"}}]}
        ),
        {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": KEY}}]}]}]},
        {"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"description": KEY}]}]}]},
        {"spans": [{"tags": [{"key": "authorization", "value": PLAIN}]}]},
    ]
    for number, place in enumerate(places):
        path = write(folder / f"{number}.jsonl", json.dumps(place) + "\n")
        assert pixie("scan", path).code == 1, place

    done = pixie("scan", *sorted(folder.glob("*.jsonl")))
    assert done.err == "Found 3 different credentials in 9 places, in 9 lines and documents of 9 files.\n"


def test_looks_at_torn_lines(pixie: Pixie, folder: Path) -> None:
    """A line that is no JSON is searched, too: cut off within a value, or running into the next one."""
    whole = line(agent(1, f"my key is {KEY}")).strip()
    named = line(span(2, attributes={"password": PLAIN})).strip()
    texts = [
        whole[: whole.index(KEY) + len(KEY)],
        named[: named.index(PLAIN) + 8],
        whole[: whole.index(KEY) - 20] + named,
        f"not json at all, but {KEY}",
    ]
    for number, text in enumerate(texts):
        path = write(folder / f"{number}.jsonl", line(agent(9)), text + "\n")
        done = pixie("scan", path)
        assert done.code == 1, text
        assert f"{path}:2" in done.out


@pytest.mark.parametrize("broken", ["", "\n}}} {"])
def test_looks_at_documents_over_several_lines(pixie: Pixie, folder: Path, broken: str) -> None:
    """A pretty-printed document is searched as one, and what of it cannot be read line by line."""
    text = json.dumps(batch(agent(1, f"my key is {KEY}")), indent=2)
    assert pixie("scan", write(folder / "a.json", text + broken)).code == 1
    assert pixie("scan", write(folder / "b.json", text[: text.index(KEY) + len(KEY)])).code == 1


@pytest.mark.parametrize(
    "text",
    [
        f'{{"api_key": "", "api_key": "{PLAIN}"}}',
        "[" * 5000 + f'"{KEY}"' + "]" * 5000,
        "[" * 900 + f'{{"api_key": "{PLAIN}"}}' + "]" * 900,
        json.dumps({"attributes": [{"key": "b", "value": {"bytesValue": "***"}}, {"key": "secret", "value": PLAIN}]}),
        json.dumps({"headers": {"authorization": PLAIN}}),
        json.dumps(["app", f"--password={PLAIN}"]),
        f'{{"key":"\\x","value":{{"stringValue":"a"}}}},{{"key":"password","value":{{"stringValue":"{PLAIN}',
    ],
)
def test_looks_at_any_json(pixie: Pixie, folder: Path, text: str) -> None:
    """JSON of other forms is searched, too: with a key twice, nested without end, with odd values."""
    assert pixie("scan", write(folder / "a.jsonl", text + "\n")).code == 1


def test_ends_when_nobody_reads_on(traces: Path) -> None:
    """When the reader of its output is gone, nothing more is written and the result counts all the same."""
    write(traces, *(line(agent(number, f"{KEY}{number}")) for number in range(1, 3000)))
    command = [sys.executable, "-m", "pixie_otel", "scan", str(traces), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(60) == 1


def test_searches_what_is_packed_and_in_folders(pixie: Pixie, folder: Path) -> None:
    """Folders and packed files are searched as everywhere."""
    (folder / "packed").mkdir()
    (folder / "packed" / "a.jsonl.gz").write_bytes(gzip.compress(line(agent(1, KEY)).encode()))
    assert pixie("scan", "packed").code == 1


def test_many_places_are_counted(pixie: Pixie, folder: Path) -> None:
    """One credential in many places is shown once with the first few, and with `-v` with all."""
    path = write(folder / "a.jsonl", *(line(agent(number, KEY)) for number in range(1, 11)))

    assert pixie("scan", path).out.splitlines()[-1] == "  … and in 7 more places"
    assert len(pixie("scan", path, "-v").out.splitlines()) == 11


def test_gives_a_line_of_json_for_each_place(pixie: Pixie, folder: Path) -> None:
    """`--json` gives each place with what is known of it."""
    path = write(folder / "a.jsonl", line(agent(1, KEY)), f"key: {KEY}\n")
    shown = {"kind": "openai-key", "secret": f"sk-p… ({len(KEY)} characters)", "source": str(path)}

    assert [json.loads(text) for text in pixie("scan", path, "--json").out.splitlines()] == [
        shown | {"line": 1, "trace_id": f"{1:032x}", "span_id": f"{1:016x}", "attribute": "input.value"},
        shown | {"line": 2},
    ]


def test_nothing_to_search_is_an_error(pixie: Pixie, folder: Path) -> None:
    """A path that is not there, or a file with nothing in it, ends with 3; no path at all with 2."""
    assert pixie("scan", "absent.jsonl").code == 3
    done = pixie("scan", write(folder / "empty.jsonl", "\n\n"))
    assert done.code == 3
    assert "nothing was found to search in" in done.err
    assert pixie("scan").code == 2


def test_what_could_not_be_searched_is_no_all_clear(pixie: Pixie, folder: Path) -> None:
    """Where a file is damaged and nothing was found in the rest, the command ends with 4 and says so."""
    packed = bytearray(gzip.compress(line(agent(1)).encode() * 2000))
    packed[len(packed) // 2] ^= 0xFF
    path = folder / "a.jsonl.gz"
    path.write_bytes(packed)
    done = pixie("scan", path)

    assert done.code == 4
    assert "not all of it could be searched" in done.err
    assert "bad-gzip" in done.err
