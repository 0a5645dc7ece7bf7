"""From rounds to jobs, in virtual time or on any engine. Only a runner knows the time."""
