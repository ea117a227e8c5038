"""Selectors as people type them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.errors import ConfigError
from pixie_otel.traces.selector_parser import field_test, parse_chain
from pixie_otel.traces.selector_steps import (
    FIELDS,
    NAMED,
    Attribute,
    Chain,
    Field,
    Named,
    Nested,
    Relation,
    Step,
    Term,
)

TEXTS = st.text(min_size=1, max_size=12)
FREE = st.builds(Field, st.sampled_from([name for name, field in FIELDS.items() if not field.words]), TEXTS)
WORDS = st.one_of(
    *(st.builds(Field, st.just(name), st.sampled_from(field.words)) for name, field in FIELDS.items() if field.words)
)
ATTRIBUTES = st.one_of(
    st.builds(Attribute, TEXTS),
    st.builds(Attribute, TEXTS, st.sampled_from(["=", "!=", "~", "!~"]), TEXTS),
    st.builds(Attribute, TEXTS, st.sampled_from([">", ">=", "<", "<="]), st.integers().map(str)),
)
LEAVES = st.one_of(st.builds(Named, st.sampled_from(NAMED)), FREE, WORDS, ATTRIBUTES)
PIECES = [
    *"=!()>'\"\\ \nx:",
    *("root", "last", "not", "under", "above", "nth(", "nth(2)", ">>"),
    *("name:", "kind:llm", "tool:x", "attr:", "a>1"),
]
POSITIONS = st.none() | st.integers(-99, 99).filter(bool)


def chains(tests: st.SearchStrategy[object]) -> st.SearchStrategy[Chain]:
    """Make selectors of tests."""
    terms = st.lists(st.builds(Term, tests, st.booleans()), min_size=1, max_size=3).map(tuple)
    operands = st.builds(Step, terms, st.just(()), POSITIONS)
    relations = st.lists(st.builds(Relation, st.sampled_from(["under", "above"]), operands), max_size=2).map(tuple)
    steps = st.lists(st.builds(Step, terms, relations, POSITIONS), min_size=1, max_size=3)
    return steps.flatmap(
        lambda found: st.builds(
            Chain,
            st.just(tuple(found)),
            st.lists(st.sampled_from([">", ">>"]), min_size=len(found) - 1, max_size=len(found) - 1).map(tuple),
        )
    )


CHAINS = st.recursive(chains(LEAVES), lambda inner: chains(LEAVES | st.builds(Nested, inner)), max_leaves=3)


@given(chain=CHAINS)
def test_what_is_written_is_read_as_the_same(chain: Chain) -> None:
    """Whatever a selector says, its text says it too."""
    assert parse_chain(str(chain)) == chain


@given(text=st.text() | st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_text_is_a_selector_or_a_wrong_one(text: str) -> None:
    """Nothing that can be typed raises anything but `ConfigError`; what is read can be read again."""
    try:
        chain = parse_chain(text)
    except ConfigError:
        return
    assert parse_chain(str(chain)) == chain


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("root", "root"),
        (" last_llm_call ", "last_llm_call"),
        ("kind:LLM", "kind:llm"),
        ("name:chat gpt-4o", 'name:"chat gpt-4o"'),
        ("name:POST http://host/x kind:llm", 'name:"POST http://host/x" kind:llm'),
        ("name:at 12:30 under kind:agent", 'name:"at 12:30" under kind:agent'),
        ("name:f(x)", 'name:"f(x)"'),
        ("(name:f(x))", '(name:"f(x)")'),
        ("(name:f(x) y kind:llm)", '(name:"f(x) y" kind:llm)'),
        ("tool:'it\\'s \\n'", 'tool:"it\'s \\\\n"'),
        ('tool:"a" kind:"llm"', "tool:a kind:llm"),
        ("not kind:llm", "!kind:llm"),
        ("!!kind:llm", "kind:llm"),
        ("! not not kind:llm", "!kind:llm"),
        ("each kind:llm", "kind:llm"),
        ("nth( -1 ) kind:llm", "last kind:llm"),
        ("nth(1) kind:llm", "first kind:llm"),
        ("nth(-2) kind:llm", "nth(-2) kind:llm"),
        ("agent:a  >tool:b >>root", "agent:a > tool:b >> root"),
        ("attr:user.plan", "attr:user.plan"),
        ("attr:user.plan == pro", "attr:user.plan=pro"),
        ("attr:'my key'!~'a b'", 'attr:"my key"!~"a b"'),
        ("attr:n>=5 > kind:llm", "attr:n>=5 > kind:llm"),
        ("attr:n > kind:llm", "attr:n > kind:llm"),
        ("tool:x under (agent:y > kind:chain) above last kind:llm",) * 2,
    ],
)
def test_what_can_be_typed(text: str, canonical: str) -> None:
    """Simple selectors need no quotes, and each has one form in which it is written."""
    if " ==" in text:
        text = text.replace(" == ", "==")
    assert str(parse_chain(text)) == canonical


@pytest.mark.parametrize(
    ("text", "at", "said"),
    [
        ("", 0, "expected a term"),
        ("roots", 0, r"'roots' is no term \(did you mean root\?\)"),
        ("kind", 0, r"did you mean kind:\?"),
        ("kind=llm", 0, r"'kind=llm' is no term \(did you mean kind:\?\)"),
        ("name:", 5, "expected a value right after name:"),
        ("kind:zork", 5, "'zork' is no kind"),
        ("kind:tol", 5, r"did you mean tool\?"),
        ("span:x", 0, "span: is no field"),
        ("tool:x agnt:y", 7, r"agnt: is no field \(did you mean agent:\?\)"),
        ("tool:x undr agent:y", 7, r"'undr' is no word of a selector \(did you mean under\?\)"),
        ("agent:a>tool:x", 7, "> needs a space before it"),
        ("tool:x under", 12, "expected a term"),
        ("tool:x under > kind:llm", 13, "expected a term"),
        ("tool:x last", 7, "last stands before all terms"),
        ("last", 4, "expected a term"),
        ("nth(0) tool:x", 0, "nth takes a number"),
        ("nth tool:x", 0, "nth takes a number"),
        ("nth(9999999999) tool:x", 0, "nth takes a number"),
        ("(tool:x", 7, r"expected the \) that closes the \( at 1"),
        ("tool:x kind:llm)", 15, r"no \( that this \) closes"),
        ("tool:b>> root", 6, "> needs a space before it"),
        ("name:a> b", 6, "> needs a space before it"),
        ("tool:x)", 6, r"there is no \( that this \) closes"),
        ("name:f(x under root", 6, "expected a space, or quotes"),
        ("kind:llm )", 9, r"there is no \( that this \) closes"),
        ("tool:'x", 5, "expected another ' that ends the value"),
        ("tool:''", 5, "expected something between the quotes"),
        ("tool:'x'y", 8, "expected a space"),
        ("attr:", 5, "expected the key of an attribute"),
        ("attr:=x", 5, "expected the key of an attribute"),
        ("attr:k=", 7, "expected a value right after attr:k="),
        ("attr:k>x", 7, "^unknown selector 'attr:k>x': 'x' is no number"),
        ("!", 1, "expected a term"),
        ("a :", 0, "'a' is no term"),
        ("kind:llm :", 9, "expected a term"),
        ("tool:a\tb\x00 !'", 11, "is no term"),
    ],
)
def test_mistakes_are_shown(text: str, at: int, said: str) -> None:
    """The message shows the selector, a mark below the place, and what there is."""
    with pytest.raises(ConfigError, match=said) as caught:
        parse_chain(text)

    first, shown, mark, *usage = str(caught.value).splitlines()
    assert first.startswith("unknown selector ")
    assert mark.index("^") == at + 2
    assert shown.isprintable()
    assert "agent:GLOB" in usage[1]
    assert max(map(len, usage)) <= 80


def test_a_mistake_in_a_long_selector() -> None:
    """Of a long text, what is around the mistake is shown."""
    text = "!name:" + "x" * 200 + " !zork:y " + "kind:llm " * 50
    with pytest.raises(ConfigError, match="…': zork: is no field") as caught:
        parse_chain(text)

    _, shown, mark, *_ = str(caught.value).splitlines()
    assert len(shown) == 62
    assert shown[mark.index("^") :].startswith("zork:y")
    with pytest.raises(ConfigError, match="nested deeper than 32"):
        parse_chain("(" * 40 + "root" + ")" * 40)


def test_a_field_by_itself() -> None:
    """Fields and words are checked wherever they come from."""
    assert field_test("kind", "LLM") == Field("kind", "llm")
    with pytest.raises(ConfigError, match=r"nam is no field \(did you mean name\?\)"):
        field_test("nam", "x")
    with pytest.raises(ConfigError, match="name: needs a value"):
        field_test("name", "")
