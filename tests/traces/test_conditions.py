"""Facts about conditions on traces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.errors import ConfigError
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.conditions import parse_condition
from pixie_otel.traces.spans import LLMSpan, ObservationKind, ObserveSpan, SpanError
from pixie_otel.traces.trace import Trace

_MS = 1_000_000


def _span(span_id: str, parent: str | None = "root", attributes: dict[str, JsonValue] | None = None) -> ObserveSpan:
    return ObserveSpan(trace_id="t", span_id=span_id, parent_span_id=parent, attributes=attributes or {})


@pytest.fixture(scope="module")
def trace() -> Trace:
    """Give a trace of 2.5 s with an agent, a model call and a tool that failed."""
    start = 1_700_000_000_000 * _MS
    root = ObserveSpan(
        trace_id="t",
        span_id="root",
        name="answer question",
        kind=ObservationKind.AGENT,
        start_time_unix_nano=start,
        end_time_unix_nano=start + 2500 * _MS,
        session_id="s1",
        user_id="ada",
        attributes={"user.plan": "pro", "n": 5, "flag": True, "tags": ["a", "b"], "text": "7", "half": 0.5},
        resource={"service.name": "bot", "env": "prod"},
    )
    call = LLMSpan(
        trace_id="t",
        span_id="call",
        parent_span_id="root",
        name="chat",
        kind=ObservationKind.LLM,
        start_time_unix_nano=start,
        end_time_unix_nano=start + 100 * _MS,
        request_model="gpt-4o",
        response_model="gpt-4o-2024-08-06",
        input_tokens=900,
        output_tokens=100,
        cost=0.02,
    )
    tool = ObserveSpan(
        trace_id="t",
        span_id="tool",
        parent_span_id="root",
        name="search web",
        kind=ObservationKind.TOOL,
        start_time_unix_nano=start + _MS,
        end_time_unix_nano=start + 2 * _MS,
        error=SpanError("timeout"),
    )
    return Trace.from_spans([root, call, tool])


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("status=error", True),
        ("status=ok", False),
        ("status!=ok", True),
        ("name=chat", True),
        ("name=cha", False),
        ("name = chat ", True),
        ("name==chat", True),
        ("name~*search*", True),
        ("name~search", False),
        ("name~[cx]ha?", True),
        ("name~CHAT", False),
        ("name!~*search*", False),
        ("name!=other", True),
        ("kind=llm", True),
        ("kind=retriever", False),
        ("kind!=llm", False),
        ("kind~ag*", True),
        ("model=gpt-4o", True),
        ("model~gpt-4o-2024*", True),
        ("model~claude*", False),
        ("session=s1", True),
        ("session=s2", False),
        ("session~s*", True),
        ("user=ada", True),
        ("user!=ada", False),
        ("attr.user.plan=pro", True),
        ("attr.user.plan=free", False),
        ("attr:user.plan=pro", True),
        ("attr.user.plan!=free", True),
        ("attr.user.plan~p*", True),
        ("attr.env=prod", True),
        ("attr.absent=x", False),
        ("attr.absent!=x", True),
        ("attr.absent~*", False),
        ("attr.n=5", True),
        ("attr.n=5.0", True),
        ("attr.n>4", True),
        ("attr.n>=5", True),
        ("attr.n<5", False),
        ("attr.n<=5", True),
        ("attr.half=.5", True),
        ("attr.text=7", True),
        ("attr.text>6", False),
        ("attr.flag=true", True),
        ("attr.flag=True", False),
        ("attr.flag=1", False),
        ("attr.tags=b", True),
        ("attr.tags~?", True),
        ("attr.tags=c", False),
        ("attr.tags>1", False),
        ("duration>2s", True),
        ("duration>=2500ms", True),
        ("duration<2.5 s", False),
        ("duration=2500ms", True),
        ("duration<1m", True),
        ("duration<1h", True),
        ("duration!=2500ms", False),
        ("tokens>999", True),
        ("tokens>1000", False),
        ("tokens=1e3", True),
        ("cost>0.01", True),
        ("cost<=0.02", True),
        ("cost>-1", True),
    ],
)
def test_a_condition_holds_or_not(trace: Trace, text: str, *, holds: bool) -> None:
    """Each field with each of its operators says of the trace what its name promises."""
    assert parse_condition(text).holds(trace) is holds


@pytest.mark.parametrize("text", ["duration>0s", "tokens<5", "cost=0", "cost>=0", "session=s1", "model~*", "attr.k=v"])
def test_what_was_not_recorded_fits_nothing(text: str) -> None:
    """A trace that recorded nothing meets no condition, and meets its opposite."""
    empty = Trace.from_spans([_span("root", None)])
    assert not parse_condition(text).holds(empty)
    if "=" in text and ">" not in text:
        assert parse_condition(text.replace("=", "!=")).holds(empty)


def test_a_trace_without_errors_is_ok() -> None:
    """The status is ok where no span failed."""
    assert parse_condition("status=ok").holds(Trace.from_spans([_span("root", None)]))


def test_an_attribute_of_any_span_counts() -> None:
    """Attributes are looked for on every span, by keys with any characters but operators."""
    trace = Trace.from_spans([_span("root", None), _span("b", attributes={"a:b/c-d": {"x": 1}, "e": None})])
    assert parse_condition("attr.a:b/c-d~*'x'*").holds(trace)
    assert parse_condition("attr.e=None").holds(trace)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "'' is no condition, which is a field, an operator and a value"),
        ("status", "'status' is no condition"),
        ("statu=error", "unknown field 'statu' (did you mean status?)"),
        ("colour=red", "unknown field 'colour'; conditions look like this: status=error"),
        ("attr.=x", "unknown field 'attr.'"),
        ("=x", "unknown field ''"),
        ("status=bad", "status is one of error, ok, not 'bad'"),
        ("kind=llms", "kind is one of llm, tool, "),
        ("kind~x*", "kind is one of llm, tool, "),
        ("name>3", "name is text, and takes = != ~ !~, not >"),
        ("tokens~1*", "tokens is a number, and takes = != > >= < <=, not ~"),
        ("tokens>many", "'many' is no number"),
        ("tokens>nan", "'nan' is no number"),
        ("tokens>1_000", "'1_000' is no number"),
        ("tokens>", "'' is no number"),
        ("duration>2", "a duration has a unit, ms, s, m or h, as in duration>2s; '2' has none"),
        ("duration>xs", "'x' is no number"),
        ("attr.n>x", "'x' is no number"),
        ("attr.n>=", "'' is no number"),
    ],
)
def test_a_wrong_condition_is_told(text: str, said: str) -> None:
    """A condition that cannot be understood is a `ConfigError` that quotes it and says what there is."""
    with pytest.raises(ConfigError) as caught:
        parse_condition(text)
    assert said in str(caught.value)


@given(st.text(max_size=30) | st.from_regex(r"(name|attr\.k|tokens|kind)(=|~|>|!=).*", fullmatch=True))
def test_any_text_is_a_condition_or_our_error(text: str) -> None:
    """Whatever is typed, it is understood or refused, and what is understood can be asked."""
    trace = Trace.from_spans([_span("root", None, {"k": text})])
    try:
        condition = parse_condition(text)
    except ConfigError:
        return
    assert condition.holds(trace) in {True, False}
    assert condition == parse_condition(text)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_a_glob_of_a_value_itself_is_literal(value: str) -> None:
    """``=`` compares text as it is, whatever characters a glob would give a meaning to."""
    trace = Trace.from_spans([_span("root", None, {"k": value.strip()})])
    assert parse_condition(f"attr.k={value}").holds(trace) is not value.startswith("=")
