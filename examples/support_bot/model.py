"""The model of the offline example: no model at all, but a function that answers as one would."""

from __future__ import annotations

import json
import re
from typing import Any

from pixie_otel.testing import FunctionCall, Reply

__all__ = ["reply"]


def reply(request: dict[str, Any]) -> Reply:
    """Answer a request for a chat completion: with a tool for an order, else with the first help page."""
    system, *_, last = request["messages"]
    if last["role"] == "tool":
        found = json.loads(last["content"])
        return Reply(
            f"Your order {found['order']} is {found['status']} and arrives {found.get('arrives', 'some day')}."
        )
    order = re.search(r"\b[A-Z]-\d{4}\b", last["content"])
    if order is not None:
        return Reply(tool_calls=[FunctionCall("lookup_order", {"order_id": order[0]})])
    _, page, *_ = system["content"].splitlines()
    return Reply(page.partition(": ")[2])
