"""Records of one resource and scope, as they were found in a document."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Group"]


@dataclass(frozen=True, slots=True)
class Group:
    """Spans or log records of one resource and scope.

    Attributes:
        resource: The resource's JSON.
        scope: The JSON of the instrumentation scope.
        records: The JSON of each span or log record; of what is no object among them, too.
        logs: Whether the records are log records.
        metrics: How many resource entries of metrics or profiles stood there in place of records.
        form: What the document was that they were made of, where that was not OTLP.
    """

    resource: bytes = b"null"
    scope: bytes = b"null"
    records: tuple[bytes, ...] = ()
    logs: bool = False
    metrics: int = 0
    form: str = ""
