"""`paceline`, and `python -m paceline`: imports the command line, which takes a moment."""

import sys


def main() -> int:
    """Run a command; a Ctrl-C before it has begun says no more than one that comes later."""
    try:
        from paceline.cli import main as run
    except KeyboardInterrupt:
        print("paceline: interrupted", file=sys.stderr)
        return 130
    return run()


if __name__ == "__main__":
    sys.exit(main())
