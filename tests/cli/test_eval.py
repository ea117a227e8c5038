"""`pixie-otel eval`, in this process."""

from __future__ import annotations

import gzip
import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from command_calls import Pixie
from foreign_forms import jaeger
from otlp_lines import agent, batch, chat, line, write

from pixie_otel.cli.main import main
from pixie_otel.runs.interrupted import Terminated
from pixie_otel.runs.run import Run
from pixie_otel.runs.store import find_run
from pixie_otel.runs.verdict import Verdict
from pixie_otel.runs.writer import RunWriter


def latest(folder: Path) -> Run:
    """Open the run that was made last."""
    return find_run("latest", folder / "pixie-runs")


class TestExitCodes:
    """The verdict is the exit code."""

    def test_passed(self, pixie: Pixie, traces: Path) -> None:
        """Traces in which the trace checks find nothing pass."""
        done = pixie("eval", traces)

        assert done.code == 0
        assert done.out.startswith("PASSED: 2 of 2 judged cases passed\n")
        assert "3 traces in 1 file: 2 judged, 1 with neither LLM calls nor recorded input" in done.out

    def test_failed(self, pixie: Pixie, traces: Path, judges: Path) -> None:
        """A case below its threshold fails the run, and is shown first, with the reason."""
        done = pixie("eval", traces, "-e", f"{judges}:paris")

        assert done.code == 1
        assert done.out.startswith("FAILED: 1 of 2 judged cases passed, 100 % needed\n")
        cases = done.out.partition("Cases\n")[2].splitlines()
        assert cases[0].split() == ["FAILED", "agent", "00000000"]
        assert cases[1].strip() == "paris failed 0.00 of 0.5 needed: paris returned False"
        assert cases[2].split() == ["passed", "agent", "00000000", "paris", "1.00"]
        assert "A closer look: pixie-otel show PATH --trace 00000000" in done.out

    def test_incomplete(self, pixie: Pixie, traces: Path, judges: Path) -> None:
        """An evaluator that raises makes the run incomplete, which is no failure of the app."""
        done = pixie("eval", traces, "-e", "...", "-e", f"{judges}:broken")

        assert done.code == 4
        assert done.out.startswith("INCOMPLETE: ")
        assert "Not judged, by reason" in done.out
        assert "2x broken, evaluator: " in done.out
        assert "out of order" in done.out

    def test_errors_can_be_allowed(self, pixie: Pixie, traces: Path, judges: Path) -> None:
        """`--allow-errors` takes a share of errors."""
        assert pixie("eval", traces, "-e", "...", "-e", f"{judges}:broken", "--allow-errors", "1").code == 0

    def test_nothing_judged(self, pixie: Pixie, traces: Path) -> None:
        """Without expectations, an evaluator that needs them is skipped, and nothing judged is never a pass."""
        done = pixie("eval", traces, "-e", "ExactMatch")

        assert done.code == 4
        assert "2 skipped" in done.out


def test_says_what_was_converted(pixie: Pixie, folder: Path) -> None:
    """On stderr, beside the report; not where the verdict alone is wanted."""
    (folder / "a.json").write_bytes(jaeger([batch(agent(1), chat(2, parent=1))]))

    assert "a.json: converted from a Jaeger JSON export" in pixie("eval", "a.json").err.splitlines()
    assert "converted" not in pixie("eval", "a.json", "--quiet").err


class TestSelection:
    """What is judged of the traces."""

    def test_a_mistake_in_a_selector_is_shown(self, pixie: Pixie, traces: Path) -> None:
        """With a mark below it, before anything is read."""
        done = pixie("eval", traces, "--select", "kind:llm undr agent:x")

        assert done.code == 2
        assert "'undr' is no term (did you mean under?)\n  kind:llm undr agent:x\n           ^\n" in done.err

    def test_what_matched_nothing_is_explained(self, pixie: Pixie, traces: Path) -> None:
        """Each reason once and whole, with how many traces it is of; in JSON, where the failures are."""
        asked = ("eval", traces, "--select", "agent:agent > kind:llm > tool:search", "--explain")
        done = pixie(*asked)

        assert done.code == 4
        assert (
            "2x observation: agent:agent > kind:llm > tool:search matches nothing: agent:agent: 1 of 2; > kind:llm: "
            "1 of 1; > tool:search: none of 0; nothing lies directly below 'ChatCompletion'"
        ) in " ".join(done.out.split())
        assert "nothing lies directly below" in json.dumps(json.loads(pixie(*asked, "--json").out))
        assert "nothing lies directly below" not in pixie(*asked[:-1]).out

    def test_conversations(self, pixie: Pixie, folder: Path) -> None:
        """The report counts conversations where these are judged."""
        spans = [agent(n, trace=n, attributes={"session.id": "s"}) for n in (1, 2)]
        path = write(folder / "t.jsonl", line(*spans))

        assert "1 conversation in 1 file: all judged." in pixie("eval", path, "--per", "conversation").out
        assert "2 traces in 1 file: all judged." in pixie("eval", path).out
        assert pixie("eval", path, "--per", "day").code == 2


class TestOptions:
    """What can be asked for."""

    def test_thresholds(self, pixie: Pixie, traces: Path, judges: Path) -> None:
        """A threshold holds for all, and one by name goes before it."""
        half = ("eval", traces, "-e", f"{judges}:half")

        assert pixie(*half).code == 0
        assert pixie(*half, "--threshold", "0.6").code == 1
        assert pixie(*half, "--threshold", "0.6", "--threshold", "half=0.5").code == 0
        assert pixie(*half, "--threshold", "half=none").code == 4

    def test_pct(self, pixie: Pixie, traces: Path, judges: Path) -> None:
        """`--pct` says how many of the judged cases must pass."""
        assert pixie("eval", traces, "-e", f"{judges}:paris", "--pct", "0.5").code == 0

    def test_traces_are_chosen(self, pixie: Pixie, traces: Path, folder: Path) -> None:
        """Filters leave traces out, and the report says how many and why."""
        out = pixie("eval", traces, "--trace", f"{2:032x}").out
        assert "3 traces in 1 file: 1 judged, 2 left out by the filter." in out

        out = pixie("eval", traces, "--limit", "1").out
        assert "1 judged, 1 over the limit" in " ".join(out.split())

        out = pixie("eval", traces, "--all").out
        assert "3 traces in 1 file: all judged." in out

        pixie("eval", traces, "--service", "support-bot", "--until", "2026-01-01", "--sample", "1", "--seed", "3")
        assert latest(folder).manifest.settings["seed"] == 3

    def test_what_is_judged_is_selected(self, pixie: Pixie, traces: Path) -> None:
        """`--select` judges another observation; where several are picked, each is a case with its span's id."""
        out = pixie("eval", traces, "--select", "llm_calls", "-e", "...").out

        assert re.search(r"passed +ChatCompletion +00000000:00000000 ", out)

    def test_expectations(self, pixie: Pixie, traces: Path, folder: Path) -> None:
        """`--expect` gives evaluators what to compare with, and rows that fit nothing are reported."""
        rows = "input,expectation\nWhat is the capital of France?,Paris.\nAnd of Spain?,Madrid.\n"
        expected = write(folder / "expected.csv", rows)

        done = pixie("eval", traces, "-e", "ExactMatch", "--expect", expected)

        assert done.code == 0
        assert "1 unmatched-expectation" in done.out
        assert "expected.csv:3" in done.out

    def test_finished_cases(self, pixie: Pixie, folder: Path) -> None:
        """`--cases` judges rows of a file, without traces."""
        rows = "input,output,expectation\ncapital of France,Paris,Paris\ncapital of Italy,Milan,Rome\n"
        cases = write(folder / "cases.csv", rows)

        done = pixie("eval", "--cases", cases, "-e", "ExactMatch")

        assert done.code == 1
        assert "2 cases in 1 file: all judged." in done.out
        assert "A closer look" not in done.out

    def test_results_go_where_they_are_wanted(self, pixie: Pixie, traces: Path, folder: Path) -> None:
        """`--out` says where the run's folder is made, and the report where that is."""
        done = pixie("eval", traces, "--out", folder / "kept")

        (run,) = (folder / "kept").glob("*-*")
        assert f"Results: {run.relative_to(folder)}" in done.out
        assert {path.name for path in run.iterdir()} == {"results.jsonl", "run.json"}

    def test_evaluators_may_go_elsewhere(self, pixie: Pixie, traces: Path, folder: Path) -> None:
        """An evaluator that changes the current directory changes nothing of where results are."""
        write(folder / "moving.py", "import os\ndef judge(evaluable):\n    os.chdir('/')\n    return True\n")

        done = pixie("eval", "traces.jsonl", "-e", "moving.py:judge")

        assert done.code == 0
        assert len(list(latest(folder))) == 2

    def test_strict(self, pixie: Pixie, folder: Path) -> None:
        """`--strict` ends with 3 at what is reported and passed over without it."""
        path = write(folder / "torn.jsonl", line(agent(1), chat(2, parent=1)), '{"resourceSpans": [\n')

        reported, strict = pixie("eval", path), pixie("eval", path, "--strict")

        assert reported.code == 0
        assert "Problems with the input" in reported.out
        assert "torn.jsonl:2" in reported.out
        assert strict.code == 3
        assert "torn.jsonl:2" in strict.err

    def test_long_lines(self, pixie: Pixie, traces: Path) -> None:
        """`--max-line-bytes` passes over longer lines."""
        done = pixie("eval", traces, "--max-line-bytes", "100")

        assert done.code == 3
        assert "no trace was found" in done.err

    def test_reads_standard_input(self, pixie: Pixie, traces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """`-` reads standard input, packed or not."""
        for data in (traces.read_bytes(), gzip.compress(traces.read_bytes())):
            packed = traces.with_suffix(".stdin")
            packed.write_bytes(data)
            with packed.open() as stdin:
                monkeypatch.setattr("sys.stdin", stdin)
                assert pixie("eval", "-").code == 0


class TestOutput:
    """What is printed."""

    def test_quiet(self, pixie: Pixie, traces: Path) -> None:
        """`-q` prints the verdict alone."""
        assert pixie("eval", traces, "-q").out == "PASSED: 2 of 2 judged cases passed\n"

    def test_verbose(self, pixie: Pixie, traces: Path, judges: Path) -> None:
        """`-v` prints every evaluator's outcome on every case."""
        out = pixie("eval", traces, "-v", "-e", "...", "-e", f"{judges}:broken", "-e", "ExactMatch").out

        assert out.count("SpanErrors passed: no span failed") == 2
        assert out.count("broken could not judge (evaluator, RuntimeError)") == 2
        assert out.count("ExactMatch skipped: ") == 2

    def test_json(self, pixie: Pixie, traces: Path, judges: Path, folder: Path) -> None:
        """`--json` prints one document that says what the run comes to and where it is, whatever evaluators print."""
        done = pixie("eval", traces, "-e", f"{judges}:paris", "--json")
        document = json.loads(done.out)

        assert done.code == document["exit_code"] == 1
        assert document["passed"] is False
        assert document["verdict"] == "FAILED: 1 of 2 judged cases passed, 100 % needed"
        assert Path(document["path"]).name == document["run_id"] == latest(folder).id
        assert document["counts"]["without_content"] == 1
        assert document["summary"]["evaluators"][0]["evaluator"] == "paris"
        assert document["problems"] == {"counts": {}, "kept": []}
        assert done.err.count("judging") == 2
        assert "hello from the file" in done.err

    def test_json_of_an_error(self, pixie: Pixie, folder: Path) -> None:
        """`--json` prints a document for an error too, which is said on stderr as well."""
        done = pixie("eval", folder / "nowhere.jsonl", "--json")
        document = json.loads(done.out)

        assert done.code == document["exit_code"] == 3
        assert document["error"]["type"] == "InputError"
        assert document["error"]["message"] in done.err

    @pytest.mark.parametrize(
        ("arguments", "code", "said"),
        [
            (["--pct", "high"], 2, "'--pct'"),
            (["--no-such-option"], 2, "--no-such-option"),
            (["-e", "ExactMach"], 2, "did you mean ExactMatch"),
            (["--trace", "ffffffff"], 3, "not matching the filter"),
        ],
    )
    def test_json_of_wrong_usage(self, pixie: Pixie, traces: Path, arguments: list[str], code: int, said: str) -> None:
        """However wrongly it is called, stdout holds one document that says what is wrong."""
        done = pixie("eval", traces, "--json", *arguments)
        document = json.loads(done.out)

        assert done.code == document["exit_code"] == code
        assert said in document["error"]["message"]

    def test_json_of_a_bug(self, pixie: Pixie, traces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Even what nobody foresaw is told in a document."""

        def broken(*_: object) -> None:
            raise ZeroDivisionError("nobody foresaw")

        monkeypatch.setattr("pixie_otel.traces.reader.Assembly.trace", broken)
        done = pixie("eval", traces, "--json")
        document = json.loads(done.out)

        assert done.code == document["exit_code"] == 70
        assert document["error"] == {"type": "ZeroDivisionError", "message": "nobody foresaw"}

    def test_help_is_no_document(self, pixie: Pixie) -> None:
        """Asked for help as well, it helps."""
        assert pixie("eval", "--json", "--help").out.startswith("Usage: ")

    def test_fits_80_columns(self, pixie: Pixie, traces: Path, judges: Path) -> None:
        """No line of a report is longer than the terminal is wide."""
        arguments = ("-e", "...", "-e", f"{judges}:paris", "-e", f"{judges}:broken", "-e", "ExactMatch")
        for more in ((), ("-v",)):
            out = pixie("eval", traces, *arguments, *more).out
            assert max(map(len, out.splitlines())) <= 80

    def test_long_runs_are_cut(self, pixie: Pixie, folder: Path) -> None:
        """Of many cases the first twenty are shown, and it is said how many more there are and where."""
        path = write(
            folder / "many.jsonl", *(line(agent(n, trace=n), chat(n + 100, parent=n, trace=n)) for n in range(1, 31))
        )

        out = pixie("eval", path).out

        assert out.count("  passed ") == 20
        assert "… and 10 more passed; all are in results.jsonl" in out


class TestInterruption:
    """What ends a run early."""

    @pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
    @pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
    def test_keeps_what_is_done(self, pixie: Pixie, traces: Path, folder: Path, number: str, code: int) -> None:
        """The cases that were done are kept and reported, and the code tells what ended the run."""
        judge = write(
            folder / "ending.py",
            "import signal, threading\n"
            "def judge(evaluable, trace):\n"
            "    if int(trace.trace_id, 16) > 1:\n"
            f"        signal.raise_signal(signal.{number})\n"
            "        threading.Event().wait(600)\n"
            "    return True\n",
        )

        done = pixie("eval", traces, "-e", f"{judge}:judge", "--concurrency", "1")

        assert done.code == code
        assert done.out.startswith("INTERRUPTED: ")
        assert len(list(latest(folder))) == 1

    def test_before_anything_was_judged(self, pixie: Pixie, traces: Path, folder: Path) -> None:
        """Where there is nothing to keep, that is all that is said."""
        loading = write(folder / "loading.py", "raise KeyboardInterrupt\n")

        done = pixie("eval", traces, "-e", f"{loading}:judge")

        assert (done.code, done.out, done.err) == (130, "", "Interrupted before anything was judged.\n")

        document = json.loads(pixie("eval", traces, "-e", f"{loading}:judge", "--json").out)
        assert document["exit_code"] == 130

    @pytest.mark.parametrize(("interrupt", "code"), [(KeyboardInterrupt, 130), (Terminated, 143)])
    def test_while_the_run_is_closed(  # noqa: PLR0917 - fixtures
        self,
        pixie: Pixie,
        traces: Path,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        interrupt: type[KeyboardInterrupt],
        code: int,
    ) -> None:
        """Interrupted after the last case, all of them are kept and reported, and the code is that of an interrupt."""
        close, closed = RunWriter.finish, False

        def finish(writer: RunWriter, verdict: Verdict, **more: Any) -> Run:
            nonlocal closed
            if not closed:
                closed = True
                raise interrupt
            return close(writer, verdict, **more)

        monkeypatch.setattr(RunWriter, "finish", finish)
        done = pixie("eval", traces)

        assert done.code == code
        assert done.out.startswith("INTERRUPTED: ")
        assert "2 of 2 judged cases passed" in done.out
        assert len(list(latest(folder))) == 2

    def test_again_while_the_run_is_closed(
        self, pixie: Pixie, traces: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Interrupted twice, it ends at once, says so, and keeps the results."""

        def impatient(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(RunWriter, "finish", impatient)
        done = pixie("eval", traces)

        assert (done.code, done.out) == (130, "")
        assert done.err.startswith("Interrupted again, before the run was closed; the results of what was judged (2)")
        assert len(list(latest(folder))) == 2

    @pytest.mark.parametrize(("interrupt", "code"), [(KeyboardInterrupt, 130), (Terminated, 143)])
    def test_while_the_report_is_written(
        self,
        pixie: Pixie,
        traces: Path,
        monkeypatch: pytest.MonkeyPatch,
        interrupt: type[KeyboardInterrupt],
        code: int,
    ) -> None:
        """Interrupted while it prints, it stops printing."""

        def impatient(*_: object, **__: object) -> None:
            raise interrupt

        monkeypatch.setattr("pixie_otel.reports.terminal.run_report", impatient)
        assert pixie("eval", traces).code == code

    def test_is_left_to_the_caller_in_other_threads(self, traces: Path, folder: Path) -> None:
        """Where no signal can be caught, the command works as ever."""
        with ThreadPoolExecutor(1) as threads:
            assert threads.submit(main, ["eval", str(traces), "-q"]).result() == 0
