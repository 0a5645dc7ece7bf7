"""The model and the statistics: numpy and scipy only; no clock, no files, no randomness of its own.

It may import nothing from paceline except `errors`.
"""
