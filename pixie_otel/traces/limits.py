"""How much of an input may be held, unpacked or passed on."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ReadLimits"]

_MIB = 1024 * 1024
_GIB = 1024 * _MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLimits:
    """Bounds of reading; what goes over one is passed over and reported, never held.

    Attributes:
        max_line_bytes: The longest line that is read.
        max_document_bytes: The longest JSON document that is read where documents span lines.
        max_decompressed_bytes: How much one compressed file may unpack to.
        max_ratio: How many times its packed size a file may unpack to, looked at beyond the first 64 MiB. Text that
            traces are made of packs up to about a hundredfold, a bomb a thousandfold and more.
        spool_bytes: How much of what is unpacked or piped in stays in memory before it goes to a temporary file.
    """

    max_line_bytes: int = 64 * _MIB
    max_document_bytes: int = 256 * _MIB
    max_decompressed_bytes: int = 64 * _GIB
    max_ratio: int = 300
    spool_bytes: int = 8 * _MIB
