"""Choosing traces: by id, service, time and conditions; and taking a sample that is the same every time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from pixie_otel.errors import ConfigError
from pixie_otel.traces.conditions import Condition, parse_condition

if TYPE_CHECKING:
    from pixie_otel.traces.trace import Trace

__all__ = ["TraceFilter", "parse_moment", "sampled"]

_SHORTEST_PREFIX: Final = 8
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_AGES: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_MOMENTS: Final = "2026-11-30, 2026-11-30T16:15 (UTC where it names no zone), or an age: 90s, 30m, 2h, 7d, 1w"


@dataclass(frozen=True, slots=True)
class TraceFilter:
    """Which traces to take: those for which everything that is set holds.

    Attributes:
        trace_ids: Ids, or the first 8 digits of one or more; any of them. Upper and lower case are the same. A
            conversation fits by the id of any of its traces.
        services: Names of services; a trace fits that has a span of any of them.
        since: The trace starts at this moment or later. A trace without times does not fit.
        until: The trace starts before this moment, likewise.
        where: Conditions, all of which hold.
    """

    trace_ids: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    where: tuple[Condition, ...] = ()

    @classmethod
    def parse(
        cls,
        *,
        trace_ids: Iterable[str] = (),
        services: Iterable[str] = (),
        since: str | None = None,
        until: str | None = None,
        where: Iterable[str] = (),
        now: datetime | None = None,
    ) -> TraceFilter:
        """Understand what people type.

        Args:
            trace_ids: Ids or beginnings of ids.
            services: Names of services.
            since: A date, a moment or an age, see `parse_moment`.
            until: Likewise; a date is its midnight, so the day itself is not part of it.
            where: Conditions, see `parse_condition`.
            now: What ages count from; the present, when not given.

        Raises:
            ConfigError: Something of it cannot be understood, or leaves no moment between ``since`` and ``until``.
        """
        first = None if since is None else parse_moment(since, now=now)
        last = None if until is None else parse_moment(until, now=now)
        if first is not None and last is not None and first >= last:
            raise ConfigError(f"--since {since} is not before --until {until}: no trace can lie between them")
        ids = tuple(text.strip().lower() for text in trace_ids)
        if "" in ids:
            raise ConfigError("--trace is empty: give a trace id, or at least its first 8 digits")
        return cls(ids, tuple(services), first, last, tuple(map(parse_condition, where)))

    def matches(self, trace: Trace) -> bool:
        """Say whether a trace fits; what is cheap to know is asked first.

        Args:
            trace: The trace.
        """
        return (
            self._has_id(trace)
            and self._has_time(trace)
            and (not self.services or not set(self.services).isdisjoint(trace.service_names))
            and all(condition.holds(trace) for condition in self.where)
        )

    def __str__(self) -> str:
        """Say what is set, in the words of the command line."""
        parts = [
            *(f"--trace {text}" for text in self.trace_ids),
            *(f"--service {name}" for name in self.services),
            *([f"--since {self.since.isoformat()}"] if self.since else []),
            *([f"--until {self.until.isoformat()}"] if self.until else []),
            *(f"--where {condition.text!r}" for condition in self.where),
        ]
        return " ".join(parts)

    def _has_id(self, trace: Trace) -> bool:
        if not self.trace_ids:
            return True
        return any(
            found == wanted or (len(wanted) >= _SHORTEST_PREFIX and found.startswith(wanted))
            for found in map(str.lower, trace.trace_ids)
            for wanted in self.trace_ids
        )

    def _has_time(self, trace: Trace) -> bool:
        if self.since is None and self.until is None:
            return True
        start = trace.start_time_unix_nano
        return (
            start > 0
            and (self.since is None or start >= _nanoseconds(self.since))
            and (self.until is None or start < _nanoseconds(self.until))
        )


def parse_moment(text: str, *, now: datetime | None = None) -> datetime:
    """Understand a moment.

    Args:
        text: A date or a moment in ISO 8601, in UTC where it names no zone; or an age such as ``2h`` or ``7d``.
        now: What ages count from; the present, when not given.

    Raises:
        ConfigError: It is neither.
    """
    stripped = text.strip()
    try:
        if age := re.fullmatch(r"([0-9]{1,9})([smhdw])", stripped, re.ASCII):
            return (now or datetime.now(UTC)) - timedelta(**{_AGES[age[2]]: int(age[1])})
        moment = datetime.fromisoformat(stripped)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ConfigError(f"{text!r} is no moment; these are: {_MOMENTS}") from error


def sampled(trace_id: str, rate: float, seed: int = 0) -> bool:
    """Say whether a trace belongs to a sample.

    It depends on nothing but the id, the rate and the seed: not on the file, its order, or other traces. A sample
    with a lower rate is part of the one with a higher rate and the same seed.

    Args:
        trace_id: The trace's id.
        rate: The share of traces to take, from 0 to 1.
        seed: Another seed gives another sample.

    Raises:
        ConfigError: The rate is no share.
    """
    if not 0 <= rate <= 1:
        raise ConfigError(f"--sample is a share from 0 to 1, not {rate}")
    digest = blake2b(f"{seed}:{trace_id}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) < rate * 2**64


def _nanoseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND * 1000
