"""Span trees, for any parent graph."""

from __future__ import annotations

import gc
from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.traces.spans import LLMSpan, ObservationKind, ObserveSpan, ToolSpan
from pixie_otel.traces.tree import Links, ObservationNode, build_tree, link, order

LENGTH = 100_000
IDS = st.sampled_from([f"{number:016x}" for number in range(1, 8)])


def observation(span_id: str, parent: str | None = None, start: int = 1, end: int = 2, **fields: object) -> ObserveSpan:
    """Make an observation."""
    given_fields = {"trace_id": "t", "name": span_id, "kind": ObservationKind.OTHER, **fields}
    return ObserveSpan(
        span_id=span_id, parent_span_id=parent, start_time_unix_nano=start, end_time_unix_nano=end, **given_fields
    )


OBSERVATIONS = st.lists(
    st.builds(
        observation, IDS, st.none() | IDS, st.integers(0, 3), st.integers(0, 3), name=st.sampled_from(["x", "y"])
    ),
    max_size=14,
)


def shape(nodes: list[ObservationNode]) -> list[Any]:
    """Give a forest as ids in nested lists."""
    return [[node.span.span_id, *shape(node.children)] for node in nodes]


def chain(length: int) -> list[ObserveSpan]:
    """Make a chain of spans, each below the one before."""
    return [
        observation(f"{number:016x}", f"{number - 1:016x}" if number else None, number + 1) for number in range(length)
    ]


@given(OBSERVATIONS)
def test_any_parent_graph_gives_trees_that_hold_every_span_once(spans: list[ObserveSpan]) -> None:
    """Whatever the parents: missing, themselves, in cycles, of twins."""
    roots = build_tree(spans)
    walked = [node.span for root in roots for node in root.walk()]

    assert Counter(map(id, walked)) == Counter(map(id, spans))
    for root in roots:
        for node in root.walk():
            for child in node.children:
                assert child.span.parent_span_id == node.span.span_id


@given(OBSERVATIONS, st.randoms())
def test_the_order_of_the_spans_makes_no_difference(spans: list[ObserveSpan], random: Random) -> None:
    """The result depends on what the spans are."""
    expected = build_tree(spans)
    shuffled = list(spans)
    random.shuffle(shuffled)

    assert build_tree(shuffled) == expected


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([], []),
        ([observation("b", "a", 2), observation("a"), observation("c", "a", 3)], [["a", ["b"], ["c"]]]),
        ([observation("a"), observation("b", "gone", 2)], [["a"], ["b"]]),
        ([observation("a", "a")], [["a"]]),
        ([observation("a", "c", 3), observation("b", "a", 1), observation("c", "b", 2)], [["b", ["c", ["a"]]]]),
        (
            [observation("a", "b", 1), observation("b", "a", 2), observation("x", "b", 5), observation("y", "x", 0)],
            [["a", ["b", ["x", ["y"]]]]],
        ),
        ([observation("a", None, 1, 5), observation("a", None, 2, 9), observation("b", "a", 3)], [["a"], ["a", ["b"]]]),
    ],
)
def test_trees_of_broken_graphs_are_the_stated_ones(spans: list[ObserveSpan], expected: list[Any]) -> None:
    """Orphans and self-parents are roots, cycles are cut at their earliest span, the last twin has the children."""
    assert shape(build_tree(spans)) == expected


def test_spans_of_several_traces_do_not_mix() -> None:
    """The same id in another trace is another span."""
    spans = [observation("a"), observation("b", "a", 3, trace_id="u"), observation("b", "a", 2)]

    assert shape(build_tree(spans)) == [["a", ["b"]], ["b"]]


def test_links_say_what_was_wrong() -> None:
    """By position: of orphans, of spans that are their own parents, and of where cycles were cut."""
    spans = [
        observation("a", "gone", 1),
        observation("b", "b", 2),
        observation("c", "d", 3),
        observation("d", "c", 4),
        observation("e", "d", 5),
    ]
    assert link(spans) == Links(
        roots=[0, 1, 2],
        parents=[-1, -1, -1, 2, 3],
        orphans=[0],
        self_parents=[1],
        cut=[2],
    )


def test_a_chain_of_a_hundred_thousand_spans_works() -> None:
    """Building, walking, comparing, writing and freeing it, all without recursion."""
    spans = chain(LENGTH)
    (root,) = build_tree(spans)
    (other,) = build_tree(reversed(spans))

    assert [node.span for node in root.walk()] == spans
    assert root == other
    assert root.to_text().count("\n") == LENGTH - 1
    assert len(root.find(spans[-1].name)) == 1
    other.children[0].children[0].children.clear()
    assert root != other
    del root, other
    gc.collect()


def test_a_long_chain_can_be_copied() -> None:
    """Which takes longer, as its values are copied too."""
    (root,) = build_tree(chain(5000))

    assert root.copy() == root


def test_a_cycle_of_a_hundred_thousand_spans_works() -> None:
    """As does a span with as many children, in a cycle itself."""
    spans = chain(LENGTH)
    ring = [observation(spans[0].span_id, spans[-1].span_id), *spans[1:]]
    assert link(ring).cut == [0]

    star = [observation("a", "b", 0), observation("b", "a", 1), *(observation(f"c{n}", "a", 2) for n in range(LENGTH))]
    assert link(star).cut == [0]
    assert link(star).parents.count(0) == LENGTH + 1


def test_many_cycles_are_cut_each_once() -> None:
    """In reasonable time."""
    pairs = [observation(f"{number:06}", f"{number ^ 1:06}", number) for number in range(LENGTH)]

    assert link(pairs).cut == link(pairs).roots == list(range(0, LENGTH, 2))


class TestNodes:
    """Nodes of a tree."""

    def tree(self) -> ObservationNode:
        """Make a small tree."""
        tool = ToolSpan(trace_id="t", span_id="2", parent_span_id="1", name="search", kind=ObservationKind.TOOL)
        call = LLMSpan(trace_id="t", span_id="3", parent_span_id="2", name="chat", kind=ObservationKind.LLM)
        other = LLMSpan(trace_id="t", span_id="4", parent_span_id="1", name="chat", kind=ObservationKind.LLM)
        (root,) = build_tree([observation("1", start=0), tool, call, other])
        return root

    def test_find_by_name_and_by_class(self) -> None:
        """Both look through the whole tree, depth first; a subclass is of its class."""
        root = self.tree()

        assert [node.span.span_id for node in root.find("chat")] == ["3", "4"]
        assert [node.span.span_id for node in root.find_by_type(LLMSpan)] == ["3", "4"]
        assert [node.span.span_id for node in root.find_by_type(ObserveSpan)] == ["1", "2", "3", "4"]
        assert root.find("nothing") == []

    def test_nodes_are_equal_when_their_trees_are(self) -> None:
        """And can not be hashed, as they can change."""
        root = self.tree()

        assert root == self.tree()
        assert root != self.tree().children[0]
        assert root != "a node"
        root.children.reverse()
        assert root != self.tree()
        with pytest.raises(TypeError):
            hash(root)

    def test_a_node_shows_what_it_is(self) -> None:
        """Name, kind and how many are below."""
        assert repr(self.tree()) == "<ObservationNode '1' other, 2 children>"

    def test_a_node_from_no_file_has_no_bytes(self) -> None:
        """There is nothing undecoded to search."""
        assert self.tree().wire_bytes() == []

    def test_a_span_is_decoded_when_asked_for(self) -> None:
        """And then kept."""
        source = _Source()
        node = ObservationNode(source)

        assert (source.decoded, node.wire_bytes()) == (0, [b"bytes"])
        assert node.span is node.span
        assert source.decoded == 1

    def test_a_copy_shares_nothing_that_can_change(self) -> None:
        """Changing a value in it leaves the tree as it was."""
        root = ObservationNode(observation("1", attributes={"a": [1]}), [ObservationNode(_Source())])
        twin = root.copy()
        assert twin == root
        twin.span.attributes["a"] = 2
        twin.children[0].span.attributes["b"] = 3
        twin.children.clear()

        assert root.span.attributes == {"a": [1]}
        assert root.children[0].span.attributes == {}


class _Source:
    """Something that can be decoded into an observation."""

    def __init__(self) -> None:
        self.decoded = 0
        self.end_time_unix_nano = 7

    def observe(self) -> ObserveSpan:
        """Decode it."""
        self.decoded += 1
        return observation("s", attributes={})

    def wire_bytes(self) -> list[bytes]:
        """Give its bytes."""
        return [b"bytes"]


def test_order_is_start_id_and_end() -> None:
    """The key by which spans stand in order."""
    assert order(observation("b", None, 5, 7)) == (5, "b", 7)
