"""The policies, one file each: they decide, and launch nothing.

They may import `core` and `theory`; no clock, no files.
"""
