"""What all pictures share: axes, colours that everybody can tell apart, names as plain text."""

import sys
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from paceline.characters import shown
from paceline.durations import say_seconds
from paceline.errors import MissingExtra
from paceline.story.standing import ArmRecord

Axes: TypeAlias = Any  # matplotlib's; not imported, because it may not be installed

# Okabe and Ito, "Color universal design": the best arm is blue.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442")
GREY = "#8c8c8c"  # on white and on black
FAILED = "#d55e00"
TOO_LARGE = "the values are too large to be drawn: scale them to about 1"
_LONGEST = 44  # characters of a name
_TEX = {
    **{one: f"\\{one}" for one in "#$%&_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def axes_or_new(ax: Axes, width: float, height: float) -> Axes:
    """The axes given, or those of a new figure; sizes are in inches.

    A new figure is one of pyplot's if pyplot is in use, so that it is shown: it always is in a
    notebook. Otherwise it is nobody's: nothing can open a window, or keep it in memory.
    """
    try:
        import matplotlib.figure
    except ImportError:
        raise MissingExtra(
            "plots need matplotlib, which is not installed: pip install 'paceline[figures]'"
        ) from None
    if ax is not None:
        return ax
    size: dict[str, Any] = {"figsize": (width, height), "layout": "constrained"}
    if "matplotlib.pyplot" in sys.modules or "ipykernel" in sys.modules:
        from matplotlib import pyplot

        return pyplot.subplots(**size)[1]
    return matplotlib.figure.Figure(**size).subplots()


def name(label: str) -> str:
    r"""A label as matplotlib shows it unchanged: no formula, and no sign that its font lacks.

    >>> name("cost in $ or a_b$"), name("_hidden")
    ('cost in \\$ or a_b\\$', ' _hidden')
    """
    text = plain(_drawable(shown(label, _LONGEST)))
    return f" {text}" if text.startswith("_") else text  # legends hide names that begin with it


def plain(text: str) -> str:
    """Text that is neither a formula nor, where TeX writes, a command."""
    import matplotlib as mpl

    if mpl.rcParams["text.usetex"]:
        return "".join(_TEX.get(one, one) for one in text)
    return text.replace("$", r"\$")


def names_of(arms: Iterable[ArmRecord]) -> list[str]:
    """The labels of arms."""
    return [name(record.label) for record in arms]


def foreground() -> str:
    """The colour of text, which is light on dark backgrounds."""
    import matplotlib as mpl

    return str(mpl.rcParams["text.color"])


def legend_above(ax: Axes, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """A legend on top of the axes, in as many columns as its names allow."""
    if not handles:
        return
    longest = max(map(len, labels))
    columns = max(1, min(4, len(labels), 100 // (longest + 6)))
    ax.legend(
        handles,
        labels,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        borderaxespad=0.2,
        ncols=columns,
        frameon=False,
        fontsize="small",
        handlelength=1.4,
    )


def note(ax: Axes, text: str) -> None:
    """A remark in small letters, if there is one, below the right end of the horizontal axis."""
    ax.annotate(
        text,
        (1.0, 0.0),
        xycoords="axes fraction",
        xytext=(0, -34),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize="x-small",
        color=GREY,
    )


def nothing_yet(ax: Axes, text: str) -> Axes:
    """Axes that say why they are empty."""
    ax.text(0.5, 0.5, text, ha="center", va="center", transform=ax.transAxes, color=GREY)
    ax.set(xticks=[], yticks=[])
    return ax


def time_axis(ax: Axes, seconds: float) -> float:
    """Label the horizontal axis with time in a fitting unit; return its seconds."""
    units = (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0), ("seconds", 1.0))
    unit, size = next((one for one in units if seconds >= 3 * one[1]), units[-1])
    ax.set_xlabel(f"{unit} since the race began")
    return size


def seconds_tick(value: float, _place: Any = None) -> str:
    """Seconds of a pull, on a logarithmic axis."""
    return say_seconds(value) if value > 0 else ""


def tidy(ax: Axes) -> None:
    """Leave out the frame where it says nothing."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _drawable(text: str) -> str:
    """The text, with a question mark for each sign that no font in use has."""
    if text.isascii():
        return text
    known = _signs()
    return "".join(one if one.isascii() or ord(one) in known else "?" for one in text)


def _signs() -> set[int]:
    from matplotlib import font_manager, rcParams

    families = rcParams["font.family"]
    found: set[int] = set()
    for family in [families] if isinstance(families, str) else families:
        wanted = font_manager.FontProperties(family=[family])
        found |= set(font_manager.get_font(font_manager.findfont(wanted)).get_charmap())
    return found
