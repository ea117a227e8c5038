"""A kit for the tests of applications that are traced."""
