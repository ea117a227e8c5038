"""Evaluators as they are typed."""

import asyncio
import json
import sys
import textwrap
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pixie_otel.errors import ConfigError
from pixie_otel.evals.evaluate import evaluate_sync
from pixie_otel.evals.evaluation import Severity
from pixie_otel.evals.evaluators.checks import NoSecrets, SpanErrors
from pixie_otel.evals.evaluators.heuristics import ExactMatch, LevenshteinMatch, ValidJSON
from pixie_otel.evals.references import load_evaluators, parse_settings
from pixie_otel.evals.registry import DEFAULTS
from pixie_otel.evaluable import UNSET, Evaluable, NamedData

Write = Callable[..., str]
EVALUABLE = Evaluable(eval_output=[NamedData("output", "x")])

FILE = '''
from dataclasses import dataclass
from pixie_otel import Evaluation

imports = globals().setdefault("imports", 0) + 1

def polite(evaluable):
    """Judge."""
    return 1.0

async def patient(evaluable, trace=None):
    """Judge later."""
    return 0.5

def make():
    """Make an evaluator."""
    def inner(evaluable):
        return 0.25
    return inner

def make_limited(limit=10):
    """Judge, or make one where a setting is given."""
    return lambda evaluable: limit / 100

@dataclass
class Limit:
    """A class with a setting."""
    limit: int = 10
    def __call__(self, evaluable):
        return self.limit / 100

class Named:
    name = "called otherwise"
    def __call__(self, evaluable):
        return True

class Needy:
    def __init__(self, key):
        self.key = key
    def __call__(self, evaluable):
        return True

class Broken:
    def __init__(self):
        raise RuntimeError("no key")

class Leaves:
    def __init__(self):
        raise SystemExit(2)

class Mute:
    pass

async def make_later():
    return polite

strict = Limit(90)
lax = Limit(10)
shout = lambda evaluable: 0.75
largest = max
number = 5
'''


@pytest.fixture(autouse=True)
def clean_imports() -> Iterator[None]:
    """Forget what a test imported, and the folders it added."""
    modules, path = set(sys.modules), [*sys.path]
    yield
    for name in set(sys.modules) - modules:
        if name.startswith("pixie_user_file"):
            del sys.modules[name]
    sys.path[:] = path


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Write a file of a user's, and give its path."""
    path = tmp_path / "evals.py"
    path.write_text(textwrap.dedent(FILE), encoding="utf-8")
    return str(path)


def test_a_builtin_is_loaded_by_its_name() -> None:
    """A name alone gives the evaluator as it is by default, and remembers what was typed."""
    (bound,) = load_evaluators([" ExactMatch "])

    assert bound.call == ExactMatch()
    assert bound.name == bound.reference == "ExactMatch"
    assert bound.source == "pixie_otel.evals.evaluators.heuristics:ExactMatch"
    assert bound.trusted


def test_settings_follow_a_colon() -> None:
    """Values are JSON where they are JSON, else text."""
    bound = load_evaluators(
        ["LevenshteinMatch:threshold=0.9, severity=warn", 'ValidJSON:schema={"type": "object", "required": ["a", "b"]}']
    )

    assert bound[0].call == LevenshteinMatch(threshold=0.9, severity="warn")
    assert (bound[0].threshold, bound[0].severity) == (0.9, Severity.WARN)
    assert bound[1].call == ValidJSON(schema={"type": "object", "required": ["a", "b"]})


def test_dots_stand_for_the_default_checks() -> None:
    """`...` gives the trace checks in their order, and what stands beside it is added."""
    names = [bound.name for bound in load_evaluators(["ExactMatch", "...", "..."])]

    assert names == ["ExactMatch", *DEFAULTS]


def test_a_check_that_is_named_replaces_the_default_one() -> None:
    """`-e ... -e NoSecrets:severity=warn` changes the check instead of adding a second."""
    bound = load_evaluators(["...", "NoSecrets:severity=warn", SpanErrors(scope="any")])

    assert sorted(evaluator.name for evaluator in bound) == sorted(DEFAULTS)
    assert next(evaluator for evaluator in bound if evaluator.name == "NoSecrets").call == NoSecrets(
        severity=Severity.WARN
    )


def test_the_same_reference_twice_is_one_evaluator() -> None:
    """Doubled references are no second evaluator; another setting is."""
    bound = load_evaluators(["LevenshteinMatch", " LevenshteinMatch", "LevenshteinMatch:threshold=0.9"])

    assert [(evaluator.name, evaluator.threshold) for evaluator in bound] == [
        ("LevenshteinMatch", UNSET),
        ("LevenshteinMatch-2", 0.9),
    ]


def test_evaluators_themselves_may_stand_among_references() -> None:
    """From Python, functions and instances are given as they are."""
    bound = load_evaluators(["ExactMatch", lambda evaluable: 1.0, ValidJSON()])

    assert [evaluator.name for evaluator in bound] == ["ExactMatch", "<lambda>", "ValidJSON"]


@pytest.mark.parametrize(
    ("name", "called", "score"),
    [
        ("polite", "polite", 1.0),
        ("patient", "patient", 0.5),
        ("make", "make", 0.25),
        ("Limit", "Limit", 0.1),
        ("Limit:limit=50", "Limit", 0.5),
        ("make_limited:limit=40", "make_limited", 0.4),
        ("Named", "called otherwise", 1.0),
        ("strict", "strict", 0.9),
        ("lax", "lax", 0.1),
        ("shout", "shout", 0.75),
    ],
)
def test_everything_in_a_file_that_judges_can_be_named(file: str, name: str, called: str, score: float) -> None:
    """Functions and objects judge, classes and factories make; each is called as the user called it."""
    (bound,) = load_evaluators([f"{file}:{name}"])

    assert bound.name == called
    plain, _, settings = name.partition(":")
    assert bound.reference == f"{file}:{plain}"
    assert bound.source == f"{Path(file).resolve()}:{plain}"
    assert bound.parameters == parse_settings(settings, name)
    assert bound.digest == sha256(Path(file).read_bytes()).hexdigest()
    assert not bound.trusted
    assert evaluate_sync(bound, EVALUABLE).score == score


def test_a_file_is_imported_once_for_all_its_references(file: str) -> None:
    """All references to a file give objects of one module."""
    one, two = load_evaluators([f"{file}:polite", f"{file}:patient"])

    assert one.call.__globals__ is two.call.__globals__
    assert asyncio.iscoroutinefunction(two.call)
    assert two.takes_trace


def test_a_function_without_a_signature_is_taken_for_an_evaluator(file: str) -> None:
    """What is written in C may not tell its parameters; it is no factory."""
    (bound,) = load_evaluators([f"{file}:largest"])

    assert bound.call is max


def test_a_windows_path_is_told_from_the_name_behind_it() -> None:
    r"""The colon of `C:\` is no separator."""
    with pytest.raises(ConfigError) as caught:
        load_evaluators(["C:\\checks\\mine.py:polite"])

    assert str(caught.value).startswith("C:\\checks\\mine.py: the evaluators' file cannot be read")


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("ExactMach", r"no evaluator is called 'ExactMach'; did you mean ExactMatch\b.*see `pixie-otel evaluators`"),
        ("exactmatch", r"called 'exactmatch'; did you mean ExactMatch\b"),
        ("zzz", "no evaluator is called 'zzz'; see `pixie-otel evaluators`"),
        ("", "no evaluator is called ''"),
        ("ExactMatch:treshold=1", r"'ExactMatch:treshold=1': .*unexpected keyword.*; it takes: threshold, severity"),
        ("MaxLatency", "'MaxLatency': missing a required argument: 'seconds'; it takes: severity, seconds"),
        ("MaxLatency:seconds=fast", "'MaxLatency:seconds=fast': MaxLatency: seconds='fast' is no number"),
        ("ExactMatch:threshold=high", "threshold is 'high'; give a number from 0 to 1, or None"),
        ("ExactMatch:threshold", "write settings as key=value,key=value, not 'threshold'"),
        ("ExactMatch:=1", "write settings as key=value,key=value, not ''"),
        ("ExactMatch:threshold=1,threshold=0", "sets threshold twice"),
        ('ValidJSON:schema={"a"', r'schema starts like JSON and is none .*; as text, write schema="\{'),
        ('ValidJSON:schema={"a":1} threshold=1', "after schema=.* comes 'threshold=1', and no comma"),
    ],
)
def test_a_reference_that_leads_nowhere_is_refused(reference: str, message: str) -> None:
    """The message says what is wrong with it, and what to write."""
    with pytest.raises(ConfigError, match=message):
        load_evaluators([reference])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "names a file and nothing in it: write .*evals.py:NAME"),
        (":", "names a file and nothing in it: write .*evals.py:NAME"),
        (":polit", r"evals.py has no 'polit'; did you mean polite\? It defines: polite, patient, make,"),
        (":number", r"evals.py: 5 \(int\) is no evaluator"),
        (":Mute", r"evals.py: .*Mute.* is no evaluator: it cannot be called"),
        (":Needy", "missing a required argument: 'key'; it takes: key"),
        (":Broken", "making it raised RuntimeError: no key"),
        (":Leaves", "making it raised SystemExit: 2"),
        (":make:limit=1", "unexpected keyword argument 'limit'; it takes: no settings"),
        (":strict:limit=1", "strict is a Limit, which takes no settings"),
        (":make_later", "an `async` function makes no evaluator"),
    ],
)
def test_a_name_in_a_file_that_judges_nothing_is_refused(file: str, name: str, message: str) -> None:
    """The message says what stands there instead."""
    with pytest.raises(ConfigError, match=message):
        load_evaluators([f"{file}{name}"])


def test_a_builtin_that_wants_scipy_says_so_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without scipy, loading ListContains names the command that installs it."""
    monkeypatch.setitem(sys.modules, "scipy", None)

    with pytest.raises(ConfigError, match=r"pip install 'pixie-otel\[scipy\]'"):
        load_evaluators(["ListContains"])


def test_a_word_is_text_where_it_is_no_json() -> None:
    """Python's NaN and Infinity are words, as they are no JSON."""
    assert parse_settings('a=1,b=true,c=x y,d=null,e=NaN,f="a,b",g=[1, 2],h=', "X") == {
        "a": 1,
        "b": True,
        "c": "x y",
        "d": None,
        "e": "NaN",
        "f": "a,b",
        "g": [1, 2],
        "h": "",
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), JSON, max_size=4), st.sampled_from(["", " "]))
def test_settings_written_as_json_are_read_back(values: dict[str, object], space: str) -> None:
    """Any JSON value can stand in a reference, whatever commas and quotes it holds."""
    text = f"{space},{space}".join(f"{key}{space}={space}{json.dumps(value)}" for key, value in values.items())

    assert parse_settings(text, "X") == values


@given(st.text())
@example("evals.py:")
@example(".py:x")
@example("ExactMatch:threshold=[")
def test_any_text_is_evaluators_or_an_error_of_ours(text: str) -> None:
    """No text that is typed ends in another exception."""
    try:
        load_evaluators([text])
    except ConfigError:
        return
    assert text.strip()
