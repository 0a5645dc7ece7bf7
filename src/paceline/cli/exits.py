"""Exit codes: what a script can tell without reading the output."""

from paceline.result import Result

EXIT_FAULT = 1
EXIT_BAD_INPUT = 2
EXIT_UNDECIDED = 3
EXIT_FAILED = 4
EXIT_NO_GOAL = 5
EXIT_INTERRUPTED = 130


def exit_code(result: Result) -> int:
    """That of a race which has ended: 0 only if it has a verdict."""
    if result.decided:
        return 0
    story = result.story
    ruled_out = {one.arm for one in story.troubles if one.kind == "out of bounds"}
    if any(result.arms[arm].status == "failed" for arm in ruled_out):
        return EXIT_FAILED
    deadline, asked = result.standing.deadline, story.recipe.options
    came = deadline is not None and result.elapsed >= deadline
    both = asked.get("confidence") is not None and asked.get("deadline") is not None
    return EXIT_NO_GOAL if came and both else EXIT_UNDECIDED
