"""Settings of the whole test run."""

from hypothesis import settings

# The same examples every time: a test that fails only on some days teaches nobody.
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("repeatable")
