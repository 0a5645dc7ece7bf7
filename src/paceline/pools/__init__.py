"""From rounds to jobs: what the loop asks for, in virtual time or on the workers of any engine."""
