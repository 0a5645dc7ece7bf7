"""`python -m paceline`."""

import sys

from paceline.cli import main

sys.exit(main())
