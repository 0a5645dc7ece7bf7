"""The model and the statistics: numpy and scipy only; no clock, no files, no randomness of its own.

May import nothing of paceline but `errors`.
"""
