"""Reading: from OTLP lines to trees of observations, and from a tree to what is judged."""
