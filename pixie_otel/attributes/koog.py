"""Keys of Koog."""

from __future__ import annotations

from typing import Final

__all__ = [
    "NODE_ID",
    "NODE_INPUT",
    "NODE_NAME",
    "NODE_OUTPUT",
    "STRATEGY",
    "SUBGRAPH_ID",
    "SUBGRAPH_INPUT",
    "SUBGRAPH_NAME",
    "SUBGRAPH_OUTPUT",
]

STRATEGY: Final = "koog.strategy.name"
NODE_ID: Final = "koog.node.id"
NODE_NAME: Final = "koog.node.name"
NODE_INPUT: Final = "koog.node.input"
NODE_OUTPUT: Final = "koog.node.output"
SUBGRAPH_ID: Final = "koog.subgraph.id"
SUBGRAPH_NAME: Final = "koog.subgraph.name"
SUBGRAPH_INPUT: Final = "koog.subgraph.input"
SUBGRAPH_OUTPUT: Final = "koog.subgraph.output"
