"""What says that an arm is out: pure functions of a tally."""
