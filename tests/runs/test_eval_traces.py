"""`eval_traces` and `eval_cases`: the main job in Python."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from otlp_lines import agent, chat, line, span, write

import pixie_otel
from pixie_otel.errors import ConfigError, InputError
from pixie_otel.evals.evaluation import FailureKind, Outcome, ScoreThreshold
from pixie_otel.evaluable import Evaluable, collapse_named_data
from pixie_otel.runs.eval_traces import eval_cases, eval_traces
from pixie_otel.runs.interrupted import Interrupted, Terminated
from pixie_otel.runs.manifest import InputFile, Manifest, RunStatus
from pixie_otel.runs.run import Run
from pixie_otel.traces.filters import TraceFilter
from pixie_otel.traces.selectors import parse_selector
from pixie_otel.traces.trace import Trace


def says_paris(evaluable: Evaluable) -> bool:
    """Judge by one word."""
    return "Paris" in str(collapse_named_data(evaluable.eval_output))


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """Three traces: a good answer, a wrong one, and a health check."""
    return write(
        tmp_path / "traces.jsonl",
        line(chat(2, parent=1), agent(1)),
        line(agent(3, "And of Italy?", "Rome.", trace=2), chat(4, "And of Italy?", "Rome.", parent=3, trace=2)),
        line(span(5, trace=3, name="GET /health")),
    )


def results(run: Run) -> list[tuple[str, str, Outcome]]:
    """Give the outcomes of a run, by case and evaluator."""
    return [(case.case.id, result.evaluator, result.outcome) for case in run for result in case.results]


class TestEvalTraces:
    """What is judged, and what comes of it."""

    def test_judges_root_observations(self, traces: Path) -> None:
        """Each trace with content is a case, judged by its root's output."""
        run = eval_traces(traces, [says_paris])

        assert [(int(case.case.trace_id or "", 16), case.outcome) for case in run] == [
            (1, Outcome.PASSED),
            (2, Outcome.FAILED),
        ]
        assert run.exit_code == 1
        assert not run.passed

    def test_counts_what_was_left_out(self, traces: Path) -> None:
        """A health check is counted apart and judged only when asked for."""
        run = eval_traces(traces, [says_paris])
        counts = run.manifest.counts

        assert {key: value for key, value in counts.items() if value} == {"read": 3, "judged": 2, "without_content": 1}
        assert len(eval_traces(traces, ["SpanErrors"], include_empty=True)) == 3

    def test_default_evaluators_are_the_trace_checks(self, traces: Path) -> None:
        """Nothing named means the trace checks, and sound traces pass them."""
        run = eval_traces([traces])

        assert "SpanErrors" in {summary.evaluator for summary in run.summary.evaluators}
        assert run.exit_code == 0

    def test_a_selector_may_give_several_cases(self, tmp_path: Path) -> None:
        """Every model call is a case of its own, named by trace and span."""
        path = write(tmp_path / "t.jsonl", line(agent(1), chat(2, parent=1), chat(3, answer="Rome.", parent=1)))
        run = eval_traces(path, [says_paris], select="llm_calls")

        assert [f"{1:032x}:{2:016x}", f"{1:032x}:{3:016x}"] == [case.case.id for case in run]
        assert [case.outcome for case in run] == [Outcome.PASSED, Outcome.FAILED]

    def test_conversations(self, tmp_path: Path) -> None:
        """Traces of one session are one case, which an evaluator gets whole."""
        spans = [agent(n, answer=f"Paris {n}.", trace=n, attributes={"session.id": "s"}) for n in (1, 2)]
        path = write(tmp_path / "t.jsonl", line(*spans))
        seen: list[tuple[str, ...]] = []

        def look(evaluable: Evaluable, trace: Trace) -> bool:
            seen.append(trace.trace_ids)
            return collapse_named_data(evaluable.eval_output) == {"output": ["Paris 1.", "Paris 2."]}

        run = eval_traces(path, look, per="conversation")

        assert [case.outcome for case in run] == [Outcome.PASSED]
        assert seen == [(f"{1:032x}", f"{2:032x}")]
        assert run.manifest.settings["per"] == "conversation"

    def test_a_selector_that_matches_nothing_fails_the_observation(self, tmp_path: Path) -> None:
        """The case says what the trace does hold, and the run is incomplete."""
        path = write(tmp_path / "t.jsonl", line(agent(1)))
        run = eval_traces(path, [says_paris], select="last_llm_call")
        (case,) = run

        assert case.case.failure is not None
        assert FailureKind.OBSERVATION is case.case.failure.kind
        assert "1 agent" in case.case.failure.message
        assert run.exit_code == 4

    def test_expectations_join_by_trace_and_by_input(self, traces: Path, tmp_path: Path) -> None:
        """Rows by trace id and by input give expectations; rows that fit nothing are told."""
        expect = tmp_path / "golden.jsonl"
        rows = [
            {"trace_id": f"{1:032x}", "expectation": "Paris."},
            {"input": "And of Italy?", "expectation": "Rome."},
            {"input": "And of Spain?", "expectation": "Madrid."},
        ]
        expect.write_text("".join(json.dumps(row) + "\n" for row in rows))
        run = eval_traces(traces, ["ExactMatch"], expect=expect)

        assert [case.outcome for case in run] == [Outcome.PASSED, Outcome.PASSED]
        assert run.manifest.problems.counts == {"unmatched-expectation": 1}

    def test_evaluators_get_the_trace(self, traces: Path) -> None:
        """An evaluator that takes ``trace`` gets the trace, which is the sequence of its roots too."""
        seen: list[tuple[str, str]] = []

        def look(evaluable: Evaluable, trace: Trace) -> float:
            seen.append((trace.trace_id, trace[0].span.name))
            return 1.0

        eval_traces(traces, [look], limit=1)

        assert [(f"{1:032x}", "agent")] == seen

    def test_filter_limit_and_sample(self, traces: Path) -> None:
        """Filters, limits and samples leave out, and say how many."""
        assert len(eval_traces(traces, [says_paris], filter=TraceFilter.parse(where=["name=agent"]), limit=1)) == 1
        with pytest.raises(InputError, match="not matching the filter"):
            eval_traces(traces, [says_paris], filter=TraceFilter.parse(services=["other"]))
        with pytest.raises(InputError, match="not in the sample"):
            eval_traces(traces, [says_paris], sample=0.0)

    def test_criteria_come_in_one_value_too(self, traces: Path) -> None:
        """A `ScoreThreshold` says the score to reach and the share of cases that must reach it."""
        assert eval_traces(traces, [says_paris], thresholds=ScoreThreshold(threshold=0.9, pct=0.5)).passed
        assert not eval_traces(traces, [says_paris], thresholds=ScoreThreshold(threshold=0.9)).passed

    def test_a_run_is_kept_where_asked(self, traces: Path, tmp_path: Path) -> None:
        """With a folder the run stays, and can be opened again with equal results."""
        run = eval_traces(traces, [says_paris], out=tmp_path / "runs")

        assert results(run) == results(Run.open(tmp_path / "runs" / run.id))
        assert str(traces) == run.manifest.inputs[0].path

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"select": "nonsense"}, "unknown selector"),
            ({"pct": 1.5}, "pct is 1.5"),
            ({"sample": float("nan")}, "sample is nan"),
            ({"limit": 0}, "limit is 0"),
            ({"concurrency": 0}, "concurrency"),
            ({"thresholds": {"Nobody": 0.5}}, "Nobody"),
            ({"evaluators": ["Nobody"]}, "Nobody"),
            ({"evaluators": []}, "no evaluator was given"),
            ({"select": print}, "select is <built-in function print>"),
            ({"select": "kind:zork"}, "'zork' is no kind"),
            ({"per": "day"}, "per is 'day': give trace or conversation"),
        ],
    )
    def test_wrong_settings_are_said_before_anything_runs(
        self, traces: Path, tmp_path: Path, options: dict[str, Any], message: str
    ) -> None:
        """A wrong setting is a `ConfigError`, and no run is made."""
        with pytest.raises(ConfigError, match=message):
            eval_traces(traces, **{"evaluators": [says_paris], "out": tmp_path / "runs", **options})

        assert not (tmp_path / "runs").exists()

    def test_no_trace_is_an_input_error(self, tmp_path: Path) -> None:
        """A file without traces is no success; the message says what was in it."""
        path = tmp_path / "notes.jsonl"
        path.write_text('{"hello": "world"}\n')
        with pytest.raises(InputError, match=r"no trace was found .*notes\.jsonl:\n.*notes\.jsonl:1: "):
            eval_traces(path, out=tmp_path / "runs")

        assert not (tmp_path / "runs").exists()

    @pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt, 130), (Terminated, 143)])
    def test_an_interruption_keeps_what_is_done(
        self, traces: Path, tmp_path: Path, error: type[BaseException], code: int
    ) -> None:
        """What was judged before Ctrl-C or SIGTERM is in the run, whose status says so."""

        def stop(_: object) -> None:
            raise error

        with pytest.raises(Interrupted) as caught:
            eval_traces(traces, [says_paris], out=tmp_path / "runs", on_case=stop)

        run = Run.open(tmp_path / "runs" / caught.value.run.id)
        assert code == run.exit_code
        assert len(list(run)) == 1
        assert RunStatus.INTERRUPTED is run.manifest.status

    @pytest.mark.parametrize(
        "select", [pixie_otel.last_llm_call, parse_selector("last_llm_call"), "last_llm_call"], ids=type
    )
    def test_a_selector_may_be_a_function(self, traces: Path, select: Any) -> None:
        """The public selector, what was made of its name, and its name are one."""
        run = eval_traces(traces, says_paris, select=select)

        assert run.manifest.settings["select"] == "last_llm_call"
        assert [result.evaluator for case in run for result in case.results] == ["says_paris"] * 2

    def test_what_was_run_on_what(self, traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """`run.json` says with which evaluators, made how and of which files, on which inputs; and never a key."""
        key = "sk-proj-" + "a1B2c3D4" * 4
        monkeypatch.setenv("OPENAI_API_KEY", key)
        judge = write(
            tmp_path / "judge.py",
            "import os\n"
            "class Judge:\n"
            "    def __init__(self, model, api_key, urls=()):\n"
            "        self.model = model\n"
            "    def __call__(self, evaluable):\n"
            "        raise RuntimeError('refused: ' + os.environ['OPENAI_API_KEY'])\n",
        )
        expect = write(tmp_path / "golden.jsonl", '{"input": "And of Italy?", "expectation": "Rome."}\n')
        made = f'{judge}:Judge:model=small,api_key=hunter22,urls=["https://me:{key}@host"]'
        run = eval_traces(
            traces, ["NoRepeatedToolCalls:severity=fail", made], expect=expect, strict=True, out=tmp_path / "runs"
        )
        manifest = Manifest.load(run.path)
        builtin, own = manifest.evaluators

        assert (builtin.reference, builtin.parameters) == ("NoRepeatedToolCalls", {"limit": 3})
        assert (builtin.threshold, builtin.severity, builtin.sha256) == (1.0, "fail", None)
        assert own.reference == own.source == f"{judge}:Judge"
        assert own.sha256 == hashlib.sha256(judge.read_bytes()).hexdigest()
        assert own.parameters["model"] == "small"
        assert manifest.inputs == (InputFile.of(traces),)
        assert manifest.expect == InputFile.of(expect)
        assert manifest.settings["strict"] is True
        assert manifest.ended_at is not None
        assert [kind for kind, count in run.summary.failure_kinds.items() if count] == [FailureKind.EVALUATOR]
        written = "".join(file.read_text() for file in run.path.iterdir())
        assert "refused" in written
        assert key not in written
        assert "hunter22" not in written

    def test_the_public_name(self, traces: Path) -> None:
        """`pixie_otel.eval_traces` is this function, and gives rows for pandas."""
        run = pixie_otel.eval_traces(traces, [says_paris], limit=1)

        assert [row["evaluator"] for row in run.to_records()] == ["says_paris"]


class TestOrder:
    """Results do not depend on the order of lines or files."""

    @given(seed=st.integers(0, 2**32), files=st.integers(1, 4))
    @settings(max_examples=25, deadline=None)
    def test_shuffled_lines_and_files_give_the_same_results(
        self, tmp_path_factory: pytest.TempPathFactory, seed: int, files: int
    ) -> None:
        """Lines in any order, over any number of files, give byte-identical results but for times."""
        lines = [line(agent(trace * 10, f"Question {trace}", start_ms=trace % 3, trace=trace)) for trace in range(1, 9)]
        lines += [line(chat(trace * 10 + 1, parent=trace * 10, trace=trace)) for trace in range(1, 9)]
        plain = write(tmp_path_factory.mktemp("plain") / "a.jsonl", *lines)
        folder = tmp_path_factory.mktemp("shuffled")
        shuffler = random.Random(seed)
        shuffler.shuffle(lines)
        for number in range(files):
            write(folder / f"{number}.jsonl", *lines[number::files])

        for some in ({}, {"limit": 3}, {"sample": 0.7, "seed": seed, "limit": 4}):
            judged = [_timeless(eval_traces(path, ["...", says_paris], **some)) for path in (plain, folder)]
            assert judged[0] == judged[1]


def _timeless(run: Run) -> list[Any]:
    rows = [json.loads(text) for text in (run.path / "results.jsonl").read_text().splitlines()]
    for row in rows:
        for result in row["results"]:
            result.pop("duration_ms", None)
    return rows


class TestEvalCases:
    """Finished cases from a file."""

    def test_judges_rows(self, tmp_path: Path) -> None:
        """Rows are judged without any trace."""
        path = tmp_path / "cases.jsonl"
        rows = [
            {"input": "Capital of France?", "output": "Paris", "expectation": "Paris"},
            {"input": "Capital of Italy?", "output": "Milan", "expectation": "Rome"},
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        run = eval_cases(path, ["ExactMatch"])

        assert {key: n for key, n in run.summary.outcomes.items() if n} == {Outcome.PASSED: 1, Outcome.FAILED: 1}
        assert len(eval_cases(path, ["ExactMatch"], limit=1)) == 1

    def test_trace_checks_are_skipped(self, tmp_path: Path) -> None:
        """A list of evaluators that is made for traces judges finished cases too, as far as it can."""
        path = write(tmp_path / "cases.jsonl", '{"input": 1, "output": "Paris", "expectation": "Paris"}\n')
        run = eval_cases(path, ["...", "ExactMatch"])

        assert run.exit_code == 0
        assert {item.skipped for item in run.summary.evaluators} == {0, 1}
        assert eval_cases(path, "...").exit_code == 4
