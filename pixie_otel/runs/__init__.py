"""Results: what one evaluation pass was given, and what it found, in a folder of its own."""
