"""Judging: evaluators, their outcomes, and the engine that runs them."""
