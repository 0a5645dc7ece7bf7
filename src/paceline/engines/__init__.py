"""What runs pulls and says when they finish. Only an engine knows the time."""
