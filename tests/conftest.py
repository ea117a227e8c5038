"""What all tests share: hypothesis without deadlines, since no test may depend on the machine's speed."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("pixie", deadline=None)
settings.load_profile("pixie")
