"""The project's measured figures; `make bench` runs them all."""
