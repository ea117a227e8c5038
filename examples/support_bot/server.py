"""The same support bot inside FastAPI, served offline until Ctrl-C; its traces go to the folder `traces` too.

python examples/support_bot/server.py
curl http://127.0.0.1:8000/ask -H 'Content-Type: application/json' -d '{"question": "Where is my order A-1042?"}'
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import uvicorn
from bot import answer
from fastapi import FastAPI
from model import reply
from pydantic import BaseModel

import pixie_otel as pixie
from pixie_otel.testing import OpenAIStub


class Question(BaseModel):
    """What a customer asks."""

    question: str


class Answer(BaseModel):
    """What the bot says."""

    reply: str


@asynccontextmanager
async def lifespan(_app: FastAPI) -> AsyncGenerator[None]:
    """Trace from the start of the application to its end."""
    pixie.init(file="traces/", service_name="support-bot-api")
    yield
    pixie.shutdown()


app = FastAPI(lifespan=lifespan)


@app.post("/ask")
def ask(question: Question) -> Answer:
    """Answer a question; FastAPI runs this on a thread, and each request becomes a trace of its own."""
    return Answer(reply=answer(question.question))


if __name__ == "__main__":
    port = int(sys.argv[1]) if sys.argv[1:] else 8000
    with OpenAIStub(reply) as stub, stub.activate():
        uvicorn.run(app, host="127.0.0.1", port=port)
