"""Strategies for Python values: plain ones, and any at all."""

from __future__ import annotations

import datetime as dt
import types
from collections import OrderedDict, deque
from typing import Any, Final

from hostile_values import hostile_objects, ill_behaved, unusual_values
from hypothesis import strategies as st
from traps import (
    HostileDict,
    HostileList,
)
from value_classes import Attrs, Colour, Model, Plain, Point, Slotted, Struct

__all__ = ["any_value", "plain_json", "plain_scalars"]


def _cycle(values: list[Any]) -> list[Any]:
    values.append({"again": values})
    return values


def _shared(value: Any) -> Any:
    for _ in range(3):
        value = [value, value]
    return value


plain_scalars: Final = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
)
"""Values that JSON has by itself."""


plain_json: Final = st.recursive(
    plain_scalars,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(), inner, max_size=6),
    max_leaves=30,
)
"""Values that are JSON already."""


_texts: Final = st.text(st.characters(codec=None) | st.sampled_from("\ud800\udfff\x00\u2028"))


_moments: Final = (
    st.datetimes(timezones=st.none() | st.just(dt.UTC)) | st.dates() | st.times() | st.timedeltas() | st.uuids()
)


def any_value(max_leaves: int = 25) -> st.SearchStrategy[Any]:
    """Make any Python value, nested in any way: plain, unusual, ill-behaved and hostile ones.

    Args:
        max_leaves: About how many values a value may consist of.
    """
    made = st.sampled_from((hostile_objects, ill_behaved, unusual_values)).flatmap(
        lambda make: st.integers(0, len(make()) - 1).map(lambda place: make()[place])
    )
    leaves = st.one_of(plain_scalars, st.integers(), st.floats(), _texts, st.binary(), _moments, st.decimals(), made)
    keys = st.one_of(
        _texts, plain_scalars, st.integers(), st.tuples(_texts, st.integers()), st.sampled_from(Colour), st.uuids()
    )

    def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        lists = st.lists(inner, max_size=5)
        dicts = st.dictionaries(keys, inner, max_size=5)
        return st.one_of(
            lists,
            dicts,
            lists.map(tuple),
            lists.map(deque),
            lists.map(HostileList),
            lists.map(_cycle),
            inner.map(_shared),
            dicts.map(OrderedDict),
            dicts.map(HostileDict),
            dicts.map(types.MappingProxyType),
            st.sets(keys, max_size=5),
            st.builds(Point, inner, inner),
            st.builds(Plain, inner, inner),
            st.builds(Slotted, inner),
            st.builds(Attrs, inner),
            st.builds(Struct, inner),
            inner.map(lambda value: Model(a=value)),
            lists.map(lambda values: ValueError(*values)),
        )

    return st.recursive(leaves, containers, max_leaves=max_leaves)
