"""What other tools write in place of OTLP, made into OTLP: one module for each form.

A form module has ``NAME`` (in words, as the report has it), ``recognises`` (whether an object of JSON is of the form,
judged by its keys) and ``convert`` (which makes groups of OTLP's records of it). To add one, write the module and put
it into `FORMS`. Attributes keep the names that their conventions have, so that the dialects read them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from msgspec import Raw

from pixie_otel.traces.forms import (
    cloudwatch,
    columns,
    console,
    jaeger,
    langfuse,
    langsmith,
    mlflow,
    phoenix,
    strands_evals,
    zipkin,
)
from pixie_otel.traces.group import Group
from pixie_otel.traces.lenient import Complain

__all__ = ["FORMS", "Form", "form_of"]


@dataclass(frozen=True, slots=True)
class Form:
    """One way in which traces are written.

    Attributes:
        name: What it is called, in words.
        recognises: Says whether an object is of this form.
        convert: Makes groups of records of it; told of what is lost.
    """

    name: str
    recognises: Callable[[Mapping[str, Raw]], bool]
    convert: Callable[[Mapping[str, Raw], Complain], Iterator[Group]]


FORMS: Final[tuple[Form, ...]] = tuple(
    Form(module.NAME, module.recognises, module.convert)
    for module in (
        console,
        jaeger,
        phoenix,
        langfuse,
        mlflow,
        langsmith,
        cloudwatch,
        strands_evals,
        columns,
        zipkin,
    )
)
"""All forms; an object is of the first one that recognises it."""


def form_of(members: Mapping[str, Raw]) -> Form | None:
    """Say which form an object is of; ``None`` where it is of none that is known.

    Args:
        members: The object's values by key.
    """
    return next((form for form in FORMS if form.recognises(members)), None)
