"""Keys of Genkit; their segments are parted by colons."""

from __future__ import annotations

from typing import Final

__all__ = ["INPUT", "METADATA", "NAME", "OUTPUT", "STATE", "SUBTYPE", "TOOL_V2", "TYPE"]

TYPE: Final = "genkit:type"
NAME: Final = "genkit:name"
INPUT: Final = "genkit:input"
OUTPUT: Final = "genkit:output"
STATE: Final = "genkit:state"
METADATA: Final = "genkit:metadata:"
SUBTYPE: Final = "genkit:metadata:subtype"
TOOL_V2: Final = "tool.v2"
"""The kind of a tool that gives back parts."""
