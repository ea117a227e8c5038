"""What all tests share: hypothesis without deadlines, since no test may depend on the machine's speed."""

from __future__ import annotations

import os

from hypothesis import settings

# Whoever works on the code gets new examples on every run; CI tries the same ones, so that what it says of a change
# is about that change.
settings.register_profile("pixie", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("pixie")
