"""The paper's instances, and one module per figure. It needs matplotlib, an extra."""
