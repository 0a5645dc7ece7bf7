"""Exit codes: what a script can tell without reading the output."""

EXIT_FAULT = 1
EXIT_BAD_INPUT = 2
EXIT_UNDECIDED = 3
EXIT_FAILED = 4
EXIT_INTERRUPTED = 130
