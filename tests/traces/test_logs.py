"""Log records that belong to spans."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st
from otlp_strategies import compact

from pixie_otel.traces.logs import LogRecord, Strays, in_order
from pixie_otel.traces.wire import decode_log


def record(name: str, time: int, seen: int = 0, line: int = 1) -> LogRecord:
    """Make a log record that was written in a line, which has one list of them."""
    data = compact({"eventName": name, "timeUnixNano": str(time), "observedTimeUnixNano": str(seen)})
    return LogRecord(decode_log(data), data, line)


def names(*records: LogRecord) -> list[str]:
    """Give the names in order."""
    return [str(log.event_name) for log in in_order(records)]


def test_records_stand_in_order_of_time() -> None:
    """When they were made, then when they were seen."""
    assert names(record("c", 2), record("b", 1, 9), record("a", 1, 3)) == ["a", "b", "c"]


def test_a_record_without_a_time_has_the_one_at_which_it_was_seen() -> None:
    """Bridges from logging libraries may know no other."""
    assert names(record("b", 0, 5), record("a", 4)) == ["a", "b"]


def test_records_of_one_time_keep_the_order_of_their_line() -> None:
    """Producers often give the messages of a conversation all the same time."""
    assert names(record("b", 1), record("a", 1), record("b", 1)) == ["b", "a", "b"]


def test_a_line_that_was_delivered_twice_counts_once() -> None:
    """And one that was cut into batches in another way as well."""
    first = [record("b", 1, line=1), record("a", 1, line=1), record("b", 1, line=1)]
    again = [record("b", 1, line=2), record("a", 1, line=2)]

    assert names(*first, *again) == ["b", "a", "b"]
    assert names(*first, *first) == names(*first, *[item._replace(batch=3) for item in first]) * 2
    assert names(record("a", 1, line=1), record("b", 1, line=2)) == ["a", "b"]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 3), st.integers(1, 4)), max_size=12), st.randoms())
def test_lines_in_any_order_give_the_same(written: list[tuple[str, int, int]], random: Random) -> None:
    """As long as the records of a line stay together."""
    lines: dict[int, list[LogRecord]] = {}
    for name, time, line in written:
        lines.setdefault(line, []).append(record(name, time, line=line))
    batches = list(lines.values())
    expected = names(*(item for batch in batches for item in batch))
    random.shuffle(batches)
    renumbered = [item._replace(batch=number) for number, batch in enumerate(batches) for item in batch]

    assert names(*renumbered) == expected


class TestStrays:
    """Records that were written outside of their span's context."""

    def strays(self, *times: int, name: str | None = None) -> Strays:
        """Take records made at some times."""
        strays = Strays()
        for offset, time in enumerate(times):
            log = record(name or f"at {time}", time)
            strays.add(log.log, log.data, offset)
        strays.sort()
        return strays

    def test_one_that_is_alone_in_a_span_of_time_is_found(self) -> None:
        """Both ends belong to it."""
        strays = self.strays(30, 10, 20)

        for start, end in ((20, 20), (11, 29), (20, 29)):
            found = strays.alone_within(start, end)
            assert found is not None
            assert (found.event_name, found.offset) == ("at 20", 2)

    def test_none_and_several_are_none(self) -> None:
        """Nobody could say which one it is."""
        strays = self.strays(10, 20)

        assert strays.alone_within(11, 19) is None
        assert strays.alone_within(10, 20) is None
        assert strays.alone_within(30, 10) is None

    def test_one_that_was_delivered_twice_is_alone(self) -> None:
        """It is the same record."""
        found = self.strays(10, 20, 10).alone_within(5, 15)

        assert found is not None
        assert found.event_name == "at 10"

    def test_two_of_the_same_content_at_other_times_are_two(self) -> None:
        """Their time is part of what they are."""
        assert self.strays(10, 11, name="x").alone_within(5, 15) is None

    def test_of_very_many_the_earliest_are_kept(self) -> None:
        """Whatever the order in which they come, so that memory stays bounded and the result the same."""
        times = list(range(1, 25_001))
        forward, backward = self.strays(*times), self.strays(*reversed(times))

        for strays in (forward, backward):
            assert strays.alone_within(10_000, 30_000) is not None
            assert strays.alone_within(10_001, 30_000) is None
