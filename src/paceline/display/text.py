"""Words and labels for a terminal: some characters have effects, some take two columns."""


def shorten(text: str, width: int) -> str:
    """Cut out the middle of a text that is too wide: arms often differ at their ends.

    >>> shorten("rate=0.01 depth=3 seed=77", 16)
    'rate=0.0…seed=77'
    """
    if cell_width(text) <= width:
        return text
    from rich.cells import chop_cells

    if width < 3:
        return "…"[:width]
    tail = (width - 1) // 2
    start = chop_cells(text, width - 1 - tail)[0]
    end = chop_cells(text[::-1], tail)[0][::-1]
    return f"{start}…{end}"


def cell_width(text: str) -> int:
    """Columns on a terminal, where some characters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def pad(text: str, width: int) -> str:
    """Fill a text with blanks up to a width in columns."""
    return text + " " * (width - cell_width(text))
