"""The evaluators that come with the package, and the adapters to other people's."""
