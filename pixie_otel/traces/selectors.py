"""Selectors: which observation of a trace is judged, and the evaluable made of it.

A selector is a text, the same on the command line and in Python::

    root                                        the observation that stands for the whole run
    last_llm_call                               the model call that ended last
    llm_calls                                   every real model call
    name:GLOB  kind:KIND  tool:GLOB  agent:GLOB  wrap:GLOB  model:GLOB  status:error
    attr:user.plan=pro                          an attribute of the span or its resource; = != ~ !~ > >= < <=
    attr:user.plan                              any value of it

    kind:llm !name:*summary*                    several terms must all hold; ! or not before one is its opposite
    last kind:tool      first tool:search*      one of several; nth(2), nth(-2)
    tool:get_weather under agent:planner        anywhere below
    kind:agent above tool:get_weather           anywhere above
    agent:planner > tool:*                      directly below;  >> anywhere below
    tool:* under (agent:planner > kind:chain)   a selector within a selector
    name:"chat gpt-4o"                          quotes for what has spaces, parentheses or quotes

Terms are compared as written, upper and lower case as they are; kinds in any case. In names, ``*``, ``?`` and ``[…]``
are those of file names. Observations come in order of start, ``llm_calls`` in order of end. A position counts after all
else of its step: ``last tool:* under agent:x`` is the last of those below ``agent:x``. Behind ``>`` and ``>>`` it
counts within each observation above, so that ``agent:* > last tool:*`` gives a tool for each agent.

In Python, `select` reads a text, or makes a selector of keywords, and selectors make others of themselves::

    select("last kind:tool")
    select(tool="get_weather").under("agent:planner").last()
    select(kind="llm").but("name:*summary*").above(select(tool="search*"))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from pixie_otel.errors import ConfigError
from pixie_otel.traces.selector_explain import explained
from pixie_otel.traces.selector_parser import field_test, parse_chain
from pixie_otel.traces.selector_picking import Picked, as_evaluable, pick, pick_calls, pick_root
from pixie_otel.traces.selector_steps import Attribute, Chain, Combinator, Nested, Relation, Step, Term, Test
from pixie_otel.traces.selector_view import View
from pixie_otel.traces.trace import Trace
from pixie_otel.traces.tree import ObservationNode

if TYPE_CHECKING:
    from pixie_otel.evaluable import Evaluable

__all__ = [
    "AnySelector",
    "Picked",
    "Selector",
    "as_evaluable",
    "last_llm_call",
    "llm_calls",
    "parse_selector",
    "root",
    "select",
    "selector_of",
]

TraceLike: TypeAlias = Trace | Sequence[ObservationNode]
"""A trace, or its root nodes."""


@dataclass(frozen=True, slots=True)
class Selector:
    """Picks observations of a trace; call it to get their evaluables.

    Two selectors are equal when they say the same, however they were written. ``str`` gives a text that says it.

    Attributes:
        chain: What it says.
        text: The selector as typed.
    """

    chain: Chain
    text: str = field(compare=False)

    @property
    def single(self) -> bool:
        """Whether it never picks more than one, so that the trace alone names the case."""
        return self.chain.is_single

    def __call__(self, trace: TraceLike) -> Evaluable | list[Evaluable]:
        """Give the evaluable, or the list of them for a selector that may pick several.

        Raises:
            ObservationError: It matches nothing; the message says what the trace holds.
        """
        evaluables = [picked.evaluable for picked in self.pick(_as_trace(trace))]
        return evaluables[0] if self.single else evaluables

    def __str__(self) -> str:
        """Give a text that `select` reads as this selector."""
        return str(self.chain)

    def pick(self, trace: Trace) -> list[Picked]:
        """Give the observations that it picks, each with its evaluable.

        Raises:
            ObservationError: It matches nothing; the message says what the trace holds.
        """
        return pick(self.chain, self.text, trace)

    def explain(self, trace: TraceLike) -> str:
        """Say how far the selector comes in a trace, and where it finds nothing, what is there instead.

        Args:
            trace: A trace, or its root nodes.

        Returns:
            A line for each part, with how many observations it left of how many, up to the first that left none.
        """
        return explained(self.chain, View(_as_trace(trace)))

    def first(self) -> Selector:
        """Take only the first of what is found, in order of start."""
        return self.nth(1)

    def last(self) -> Selector:
        """Take only the last."""
        return self.nth(-1)

    def nth(self, number: int) -> Selector:
        """Take only one.

        Args:
            number: 1 for the first, 2 for the second; -1 for the last, -2 for the one before.

        Raises:
            ConfigError: The number is 0.
        """
        if not number:
            raise ConfigError("nth takes a number from 1, or from -1 backwards")
        return _with_last(self, lambda step: replace(step, position=number))

    def under(self, other: AnySelector) -> Selector:
        """Take only what lies anywhere below something.

        Args:
            other: What lies above.
        """
        return self._related("under", other)

    def above(self, other: AnySelector) -> Selector:
        """Take only what lies anywhere above something.

        Args:
            other: What lies below.
        """
        return self._related("above", other)

    def but(self, other: AnySelector) -> Selector:
        """Leave out what another selector finds, too.

        Args:
            other: What is left out.
        """
        chain = selector_of(other).chain
        first = chain.steps[0].terms[0]
        is_plain = chain == Chain((Step((first,)),)) and not first.negated
        term = Term(first.test if is_plain else Nested(chain), negated=True)
        return _with_last(self, lambda step: replace(step, terms=(*step.terms, term)))

    def child(self, other: AnySelector) -> Selector:
        """Look further, directly below what was found.

        Args:
            other: What is looked for there.
        """
        return self._followed(">", other)

    def descendant(self, other: AnySelector) -> Selector:
        """Look further, anywhere below what was found.

        Args:
            other: What is looked for there.
        """
        return self._followed(">>", other)

    def _related(self, word: Literal["under", "above"], other: AnySelector) -> Selector:
        chain = selector_of(other).chain
        only = chain.steps[0]
        operand = only if chain == Chain((only,)) and not only.relations else Step((Term(Nested(chain)),))
        relation = Relation(word, operand)
        return _with_last(self, lambda step: replace(step, relations=(*step.relations, relation)))

    def _followed(self, combinator: Combinator, other: AnySelector) -> Selector:
        chain, below = self.chain, selector_of(other).chain
        return _made(Chain((*chain.steps, *below.steps), (*chain.combinators, combinator, *below.combinators)))


AnySelector: TypeAlias = str | Selector | Callable[..., object]
"""A selector, its text, or one of the functions `root`, `last_llm_call` and `llm_calls`."""


def root(trace: TraceLike) -> Evaluable:
    """Make an evaluable of a trace's root observation.

    It is the first root's span; where that recorded neither input nor output, as an HTTP server's span above the agent,
    the topmost observation below it that did. Its input comes first, as ``input``, then the values of
    ``wrap(purpose="input")`` by name. The outputs are the wrapped output and state values, or the observation's own
    ``output`` where no output was wrapped. A conversation of several turns has these of every turn, by the same names.

    Args:
        trace: A trace, or its root nodes.

    Raises:
        ObservationError: The trace is empty. It is a ``ValueError``.
    """
    return pick_root(_as_trace(trace)).evaluable


def last_llm_call(trace: TraceLike) -> Evaluable:
    """Make an evaluable of the model call that ended last.

    Args:
        trace: A trace, or its root nodes.

    Returns:
        Its input is ``messages``; its ``output`` the answer's text, or ``{"content", "tool_calls"}`` where the model
        called tools.

    Raises:
        ObservationError: The trace has no model call. It is a ``ValueError``.
    """
    return pick_calls(_as_trace(trace))[-1].evaluable


def llm_calls(trace: TraceLike) -> list[Evaluable]:
    """Make an evaluable of every real model call, by end; see `last_llm_call`.

    Args:
        trace: A trace, or its root nodes.

    Raises:
        ObservationError: The trace has no model call. It is a ``ValueError``.
    """
    return [picked.evaluable for picked in pick_calls(_as_trace(trace))]


def parse_selector(text: str) -> Selector:
    """Read a selector as typed.

    Args:
        text: The selector; see the module's beginning for what there is.

    Raises:
        ConfigError: It is none; the message shows where.
    """
    return Selector(parse_chain(text), text)


def select(
    text: str = "",
    *,
    name: str | None = None,
    kind: str | None = None,
    tool: str | None = None,
    agent: str | None = None,
    wrap: str | None = None,
    model: str | None = None,
    status: str | None = None,
    attr: Mapping[str, str | float | None] | None = None,
) -> Selector:
    """Make a selector of its text, of keywords, or of both, of which all must hold.

    Args:
        text: A selector as on the command line, such as ``last kind:tool``; keywords add to its last step.
        name: A glob for the span's name.
        kind: The kind, such as ``llm``.
        tool: A glob for the tool's name.
        agent: A glob for the agent's name; that of its span where it recorded none.
        wrap: A glob for the name given to `pixie_otel.wrap`.
        model: A glob for the model asked for or the one that answered.
        status: ``error`` or ``ok``.
        attr: Attributes of the span or its resource by key; ``None`` for any value.

    Returns:
        The selector; call it with a trace, or give it to `pixie_otel.eval_traces`.

    Raises:
        ConfigError: The text is no selector, or a value is none of a selector's, or nothing was given.
    """
    fields = {
        "name": name,
        "kind": kind,
        "tool": tool,
        "agent": agent,
        "wrap": wrap,
        "model": model,
        "status": status,
    }
    tests: list[Test] = [field_test(key, pattern) for key, pattern in fields.items() if pattern is not None]
    tests.extend(_attribute(key, value) for key, value in (attr or {}).items())
    if not tests:
        return parse_selector(text)
    terms = tuple(map(Term, tests))
    if not text:
        return _made(Chain((Step(terms),)))
    return _with_last(parse_selector(text), lambda step: replace(step, terms=(*step.terms, *terms)))


def _attribute(key: str, value: str | float | None) -> Attribute:
    if not key:
        raise ConfigError("an attribute needs a key")
    if value is None:
        return Attribute(key)
    said = str(value).lower() if isinstance(value, bool) else str(value)
    if not said:
        raise ConfigError(f"attr {key!r}: a selector cannot look for an empty text")
    return Attribute(key, "=", said)


def _with_last(selector: Selector, changed: Callable[[Step], Step]) -> Selector:
    """Give a selector with another last step."""
    chain = selector.chain
    return _made(replace(chain, steps=(*chain.steps[:-1], changed(chain.steps[-1]))))


def _made(chain: Chain) -> Selector:
    return Selector(chain, str(chain))


def selector_of(given: AnySelector) -> Selector:
    """Give the selector that is meant.

    Args:
        given: A selector, its text, or one of the functions `root`, `last_llm_call` and `llm_calls`.

    Raises:
        ConfigError: It is none of these, or its text is no selector.
    """
    if isinstance(given, Selector):
        return given
    text = given if isinstance(given, str) else _NAMES.get(given)
    if text is None:
        known = ", ".join(f"pixie_otel.{name}" for name in _NAMES.values())
        raise ConfigError(f"select is {given!r}: give a text such as 'tool:search*', or one of {known}")
    return parse_selector(text)


def _as_trace(trace: TraceLike) -> Trace:
    if isinstance(trace, Trace):
        return trace
    return Trace(trace[0].span.trace_id if trace else "", trace)


_NAMES: Final[Mapping[object, str]] = {root: "root", last_llm_call: "last_llm_call", llm_calls: "llm_calls"}
