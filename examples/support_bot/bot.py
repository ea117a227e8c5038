"""A support bot: it looks for help pages, looks up an order where it is asked for one, and answers from what it found.

It is an ordinary application of OpenAI's client. What makes it visible are the lines with `pixie`: `observe` makes a
call of a function an observation, and `wrap` names what goes in and what comes out, so that it can be judged.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import openai
from pages import ORDERS, PAGES

import pixie_otel as pixie

__all__ = ["answer"]

MODEL = "gpt-4o-mini"
MOST_STEPS = 4
TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "lookup_order",
            "description": "Look up where an order is.",
            "parameters": {
                "type": "object",
                "properties": {"order_id": {"type": "string", "description": "Such as A-1042."}},
                "required": ["order_id"],
            },
        },
    }
]


@pixie.observe(kind="agent")
def answer(question: str) -> str:
    """Answer a customer's question."""
    docs = pixie.wrap(search(question), purpose="input", name="docs", description="the help pages that were found")
    pages = "\n".join(f"{doc['title']}: {doc['text']}" for doc in docs)
    messages: list[Any] = [
        {"role": "system", "content": f"You work for a shop. Answer from these help pages alone.\n{pages}"},
        {"role": "user", "content": question},
    ]
    reply = "I am sorry, I could not find that out."
    for _ in range(MOST_STEPS):
        completion = client().chat.completions.create(model=MODEL, messages=messages, tools=TOOLS)
        message = completion.choices[0].message
        if not message.tool_calls:
            reply = message.content or reply
            break
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            found = lookup_order(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(found)})
    return pixie.wrap(reply, purpose="output", name="reply")


@pixie.observe(kind="retriever")
def search(question: str, count: int = 2) -> list[dict[str, str]]:
    """Find the help pages that are closest to a question."""
    titles = list(PAGES)
    wanted, *vectors = embed([question, *(f"{title} {PAGES[title]}" for title in titles)])
    closeness = [sum(a * b for a, b in zip(wanted, vector, strict=True)) for vector in vectors]
    best = sorted(range(len(titles)), key=closeness.__getitem__, reverse=True)[:count]
    return [{"title": titles[at], "text": PAGES[titles[at]]} for at in best]


@pixie.observe(kind="tool")
def lookup_order(order_id: str) -> dict[str, str]:
    """Look up where an order is."""
    return ORDERS.get(order_id, {"order": order_id, "status": "unknown"})


def embed(texts: list[str]) -> list[list[float]]:
    """Give the vectors of texts."""
    found = client().embeddings.create(model="text-embedding-3-small", input=texts)
    return [item.embedding for item in found.data]


@cache
def client() -> openai.OpenAI:
    """Give the one client, made when it is first needed: after `pixie.init`, and where the environment says."""
    return openai.OpenAI()
