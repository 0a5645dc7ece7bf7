"""The policies, one file each: they decide, and launch nothing.

May import `core` and `theory`; no clock, no files.
"""
