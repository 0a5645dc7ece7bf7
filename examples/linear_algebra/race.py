"""Race the penalties as a function: python3 race.py, where numpy and paceline are installed.

The workers import numpy once, on as many threads as their pulls have cores; so `evaluate` need not
take `cores`. With `paired=True` all penalties would get the same data sets, and only differences
would count: far fewer pulls decide then.
"""

from ridge import PENALTIES, evaluate  # type: ignore[import-not-found]  # found beside this file

import paceline

if __name__ == "__main__":
    result = paceline.race(
        evaluate, PENALTIES, direction="minimize", confidence=0.95, deadline="1m"
    )
    print(result)
    print(result.scaling)
