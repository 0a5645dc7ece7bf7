"""One pull as a command: how well a universe explains 50 supernovae.

python3 pull.py --h0 70 --matter 0.3 --lambda 0.7 --seed 7 --cores 2
"""

import argparse

from distances import Cosmology
from likelihood import evaluate
from survey import BadSurvey, load


def main() -> None:
    """Read the options, evaluate, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--h0", type=float, required=True)
    parser.add_argument("--matter", type=float, required=True)
    parser.add_argument("--lambda", type=float, required=True, dest="dark_energy")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--data", help="a table of supernovae; see survey.py for what else is used")
    options = parser.parse_args()
    try:
        survey = load(options.data)
    except BadSurvey as error:
        parser.error(str(error))
    arm = Cosmology(options.h0, options.matter, options.dark_energy)
    score = evaluate(arm, seed=options.seed, cores=options.cores, survey=survey)
    print("survey:", survey.source)
    print("score", score)


if __name__ == "__main__":
    main()
