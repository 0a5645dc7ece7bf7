"""The paper's instances, and one module per figure. Needs matplotlib, an extra."""
