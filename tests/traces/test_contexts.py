"""What the records of an index have in common."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.traces.contexts import Contexts
from pixie_otel.traces.stored import Spool
from pixie_otel.traces.stores import SalvageStore

JSON = st.binary(max_size=20)


def test_a_combination_has_one_number() -> None:
    """As long as it is met again soon, which is how files are."""
    with Spool(1000) as spool:
        contexts, store = Contexts(spool), SalvageStore(spool)
        first = contexts.number(store, "a", b"{}", b"null", logs=False)

        assert contexts.number(store, "a", b"{}", b"null", logs=False) == first
        assert contexts.number(store, "a", b"{}", b"null", logs=True) != first
        assert contexts.entry(first) is contexts.entry(first)


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab"), JSON, JSON, st.booleans()), max_size=20))
def test_a_number_means_what_it_was_given_for(used: list[tuple[int, str, bytes, bytes, bool]]) -> None:
    """Whatever was put in before and after, and wherever it lies."""
    with Spool(30) as spool:
        contexts, stores = Contexts(spool), [SalvageStore(spool) for _ in range(4)]
        numbers = [
            contexts.number(stores[store], source, resource, scope, logs=logs)
            for store, source, resource, scope, logs in used
        ]
        for number, (store, source, resource, scope, logs) in zip(numbers, used, strict=True):
            entry = contexts.entry(number)
            origin = entry.origin
            assert entry.store is stores[store]
            assert (origin.source, origin.resource_json, origin.scope_json, origin.logs) == (
                source,
                resource,
                scope,
                logs,
            )


def test_few_are_held_of_many() -> None:
    """A file in which every line has a resource of its own costs a few bytes a line."""
    with Spool(1000) as spool:
        contexts, store = Contexts(spool), SalvageStore(spool)
        numbers = [contexts.number(store, "a", b"%d" % line, b"null", logs=False) for line in range(5000)]

        assert [contexts.entry(number).origin.resource_json for number in numbers[::-1]] == [
            b"%d" % line for line in reversed(range(5000))
        ]
        assert len(contexts._numbers) <= 1024
        assert len(contexts._entries) <= 1024


def test_little_is_held_of_large_ones() -> None:
    """What is held is bounded in bytes as well."""
    with Spool(1000) as spool:
        contexts, store = Contexts(spool), SalvageStore(spool)
        numbers = [contexts.number(store, "a", b"%d" % line * 1_000_000, b"null", logs=False) for line in range(1, 9)]

        assert all(len(contexts.entry(number).origin.resource_json) == 1_000_000 for number in numbers)
        assert sum(len(known[2]) for known in contexts._numbers) <= 4 * 1024 * 1024
        assert len(contexts._entries) <= 4
