"""The support bot in plain Python: it answers three questions, offline, and leaves its traces in the folder `traces`.

python examples/support_bot/run.py
"""

from __future__ import annotations

from bot import answer
from model import reply

import pixie_otel as pixie
from pixie_otel.testing import OpenAIStub

QUESTIONS = (
    "How many days does a refund take?",
    "Where is my order A-1042?",
    "Do you ship to every country?",
)


def main() -> None:
    """Ask the questions."""
    pixie.init(file="traces/", service_name="support-bot")
    # With a key of your own, leave the stub out, and the bot asks OpenAI.
    with OpenAIStub(reply) as stub, stub.activate():
        for question in QUESTIONS:
            print(f"{question}\n  {answer(question)}")
    pixie.shutdown()
    print("\nWhat happened: pixie-otel show traces/")


if __name__ == "__main__":
    main()
