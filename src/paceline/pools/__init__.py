"""From rounds to jobs: runs what the loop asks for, in virtual time or on any engine's workers."""
