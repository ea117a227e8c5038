"""Facts about choosing traces."""

from datetime import UTC, datetime, timedelta, timezone
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.errors import ConfigError
from pixie_otel.traces.conversation import Conversation
from pixie_otel.traces.filters import TraceFilter, parse_moment, sampled
from pixie_otel.traces.spans import ObserveSpan
from pixie_otel.traces.trace import Trace

_NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
_ID = "4bf92f3577b34da6a3ce929d0e0e4736"


def _trace(trace_id: str = _ID, *, at: datetime | None = _NOW, services: tuple[str, ...] = ("bot",)) -> Trace:
    start = 0 if at is None else int(at.timestamp()) * 1_000_000_000
    return Trace.from_spans(
        ObserveSpan(
            trace_id=trace_id,
            span_id=f"{index:016}",
            parent_span_id=None if index == 0 else "0" * 16,
            name="work",
            start_time_unix_nano=start,
            resource={"service.name": name},
        )
        for index, name in enumerate(services)
    )


def _takes(trace: Trace, **what: list[str] | str) -> bool:
    return TraceFilter.parse(now=_NOW, **what).matches(trace)  # type: ignore[arg-type]


def test_nothing_set_takes_every_trace() -> None:
    """Without any criterion every trace fits, also one without times."""
    assert TraceFilter.parse() == TraceFilter()
    assert TraceFilter.parse().matches(_trace(at=None))


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        ([_ID], True),
        ([_ID.upper()], True),
        ([f" {_ID[:8]} "], True),
        ([_ID[:7]], False),
        ([_ID[1:]], False),
        (["0" * 32, _ID[:12]], True),
        (["0" * 32], False),
    ],
)
def test_ids_are_whole_or_begun(wanted: list[str], *, fits: bool) -> None:
    """A trace is named by its id or at least 8 of its first digits, in either case of letters."""
    assert _takes(_trace(), trace_ids=wanted) is fits


def test_a_short_id_is_named_whole() -> None:
    """An id that a producer wrote shorter than 8 characters can still be named."""
    assert _takes(_trace("abc"), trace_ids=["ABC"])
    assert not _takes(_trace("abcd"), trace_ids=["abc"])


def test_a_conversation_fits_by_any_of_its_traces() -> None:
    """Whichever of its ids somebody has."""
    whole = Conversation([_trace(), _trace("b" * 32)])

    assert _takes(whole, trace_ids=["bbbbbbbb"])
    assert _takes(whole, trace_ids=[_ID])
    assert not _takes(whole, trace_ids=["cccccccc"])


def test_a_service_of_any_span_counts() -> None:
    """A trace fits that has a span of one of the services."""
    trace = _trace(services=("bot", "search"))
    assert _takes(trace, services=["search"])
    assert _takes(trace, services=["other", "bot"])
    assert not _takes(trace, services=["Bot"])


@pytest.mark.parametrize(
    ("since", "until", "fits"),
    [
        ("2026-11-30", None, True),
        ("2026-12-01", None, False),
        (None, "2026-11-30", False),
        (None, "2026-12-01", True),
        ("2026-11-30T12:00", None, True),
        (None, "2026-11-30T12:00", False),
        (None, "2026-11-30T12:00:01", True),
        ("1h", None, True),
        (None, "1h", False),
        ("2026-11-30T13:00+01:00", "2026-11-30T13:01+01:00", True),
    ],
)
def test_a_trace_fits_by_its_start(since: str | None, until: str | None, *, fits: bool) -> None:
    """``since`` takes a trace that starts at the moment, ``until`` only one that starts before it."""
    found = TraceFilter.parse(since=since, until=until, now=_NOW)
    assert found.matches(_trace()) is fits
    assert not found.matches(_trace(at=None))


def test_everything_has_to_hold() -> None:
    """Criteria of different kinds, and all conditions, hold together."""
    assert _takes(_trace(), trace_ids=[_ID], services=["bot"], since="1d", where=["status=ok", "name=work"])
    assert not _takes(_trace(), services=["bot"], where=["status=ok", "name=play"])


def test_it_says_what_is_set() -> None:
    """A filter shows as the options that make it."""
    found = TraceFilter.parse(trace_ids=[_ID], services=["bot"], since="1h", until="1m", where=["status=ok"], now=_NOW)
    assert str(found) == (
        f"--trace {_ID} --service bot --since 2026-11-30T11:00:00+00:00 --until 2026-11-30T11:59:00+00:00 "
        "--where 'status=ok'"
    )
    assert str(TraceFilter()) == ""


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ({"trace_ids": [" "]}, "--trace is empty"),
        ({"since": "1h", "until": "2h"}, "--since 1h is not before --until 2h"),
        ({"where": ["x"]}, "'x' is no condition"),
        ({"since": "yesterday"}, "'yesterday' is no moment"),
    ],
)
def test_what_cannot_be_understood_is_told(what: dict[str, list[str] | str], said: str) -> None:
    """A criterion that makes no sense is a `ConfigError`."""
    with pytest.raises(ConfigError, match=said):
        _takes(_trace(), **what)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-30", datetime(2026, 11, 30, tzinfo=UTC)),
        (" 2026-11-30 16:15 ", datetime(2026, 11, 30, 16, 15, tzinfo=UTC)),
        ("2026-11-30T16:15:22.5Z", datetime(2026, 11, 30, 16, 15, 22, 500_000, tzinfo=UTC)),
        ("2026-11-30T16:15+02:00", datetime(2026, 11, 30, 14, 15, tzinfo=UTC)),
        ("90s", _NOW - timedelta(seconds=90)),
        ("30m", _NOW - timedelta(minutes=30)),
        ("2h", _NOW - timedelta(hours=2)),
        ("7d", _NOW - timedelta(days=7)),
        ("1w", _NOW - timedelta(weeks=1)),
    ],
)
def test_a_moment_is_a_date_a_time_or_an_age(text: str, moment: datetime) -> None:
    """ISO 8601 is understood, in UTC where it names no zone, and ages count back from now."""
    assert parse_moment(text, now=_NOW) == moment
    assert parse_moment(text, now=_NOW).utcoffset() == timedelta(0)


def test_an_age_counts_from_the_present() -> None:
    """Without a moment to count from, an age counts from the present."""
    before = datetime.now(UTC)
    assert before - timedelta(hours=1) <= parse_moment("1h") <= datetime.now(UTC) - timedelta(hours=1)


def test_ages_may_count_from_any_zone() -> None:
    """The moment that ages count from may stand in any zone."""
    here = _NOW.astimezone(timezone(timedelta(hours=5)))
    assert parse_moment("2h", now=here) == _NOW - timedelta(hours=2)


@given(
    st.text(max_size=20) | st.sampled_from(["999999999w", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00+12:00", "٣h"])
)
def test_any_text_is_a_moment_or_our_error(text: str) -> None:
    """Whatever is typed, it is a moment in a zone or a `ConfigError`."""
    try:
        moment = parse_moment(text, now=_NOW)
    except ConfigError:
        return
    assert moment.tzinfo is not None


_ids = st.lists(st.text(max_size=10), max_size=30, unique=True)
_rates = st.floats(0, 1)


@given(_ids, _rates, st.integers(), st.randoms())
def test_a_sample_depends_on_nothing_but_the_id(ids: list[str], rate: float, seed: int, random: Random) -> None:
    """The same traces are taken in whatever order they are read."""
    first = {trace_id for trace_id in ids if sampled(trace_id, rate, seed)}
    random.shuffle(ids)
    assert {trace_id for trace_id in ids if sampled(trace_id, rate, seed)} == first


@given(st.text(max_size=10), _rates, _rates, st.integers())
def test_a_smaller_sample_is_part_of_a_larger(trace_id: str, one: float, other: float, seed: int) -> None:
    """A trace in the sample of a rate is in that of every higher rate with the same seed; 0 is none and 1 is all."""
    assert sampled(trace_id, min(one, other), seed) <= sampled(trace_id, max(one, other), seed)
    assert not sampled(trace_id, 0, seed)
    assert sampled(trace_id, 1, seed)


def test_a_sample_has_about_its_rate() -> None:
    """Of many traces about the share is taken, and another seed takes others."""
    ids = [f"{index:032x}" for index in range(10_000)]
    one, two = ([trace_id for trace_id in ids if sampled(trace_id, 0.1, seed)] for seed in (0, 1))
    assert 900 < len(one) < 1100
    assert 900 < len(two) < 1100
    assert len(set(one) & set(two)) < 200


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_a_rate_is_a_share(rate: float) -> None:
    """A rate outside 0 to 1 is a `ConfigError`."""
    with pytest.raises(ConfigError, match="--sample is a share from 0 to 1"):
        sampled("a", rate)
