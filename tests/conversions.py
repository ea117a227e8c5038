"""Converting traces, for tests."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from pixie_otel.traces.conversion import Conversion, Converted, RecordReader
from pixie_otel.traces.filters import TraceFilter
from pixie_otel.traces.selectors import parse_selector


class Done(NamedTuple):
    """What came of a conversion."""

    traces: list[Converted]
    conversion: Conversion

    @property
    def data(self) -> bytes:
        """All lines."""
        return b"".join(line + b"\n" for trace in self.traces for line in trace.lines)


def convert(*inputs: bytes | str, select: str | None = None, **settings: Any) -> Done:
    """Write each input to a file and convert them all.

    Args:
        inputs: What stands in the files.
        select: A selector.
        settings: Arguments of `Conversion`.
    """
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.jsonl" for number in range(len(inputs))]
        for path, content in zip(paths, inputs, strict=True):
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        selector = None if select is None else parse_selector(select)
        wanted = settings.pop("wanted", TraceFilter())
        conversion = Conversion(RecordReader(*paths), wanted, selector, **settings)
        return Done(list(conversion), conversion)
