"""Engines of clusters: what they cost beside the system they ride on."""
