"""Which universe explains the supernovae best? A race of 64 candidates, to a deadline.

python3 race.py --deadline 20s
"""

import argparse
import os
from pathlib import Path

from likelihood import CANDIDATES, evaluate, mean_score
from survey import VARIABLE, BadSurvey, load

import paceline


def main() -> None:
    """Read the options, race, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--deadline", default="20s")
    parser.add_argument("--data", help="a table of supernovae; see survey.py for what else is used")
    options = parser.parse_args()
    if options.data:
        os.environ[VARIABLE] = str(Path(options.data).absolute())  # the workers look there too
    try:
        survey = load()
    except BadSurvey as error:
        parser.error(str(error))
    result = paceline.race(evaluate, CANDIDATES, deadline=options.deadline)
    best = max(CANDIDATES, key=lambda arm: mean_score(arm, survey))
    print("survey:", survey.source)
    print(result.verdict)
    print(f"over all points: {best} has the highest mean, {mean_score(best, survey):.3f};")
    print(f"that of {result.best} is {mean_score(result.best, survey):.3f}")


if __name__ == "__main__":
    main()
