"""Numbers in text: counts of things, and Roman numbers, which mark the items of lists."""


def format_count(number: int, singular: str, many: str | None = None) -> str:
    """Return a number and what it counts: "1 record", "2 records", "1,234 replies".

    Args:
        singular: the text after the number 1, which may have a verb: "record takes".
        many: the text after any other number. Default: ``singular`` and "s".
    """
    return f"{number:,} {singular if number == 1 else many or f'{singular}s'}"


def to_roman(number: int) -> str:
    """Return a number as a Roman number in lower case, written with c, l, x, v and i."""
    values = ((100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
    text = ""
    for value, letters in values:
        text += letters * (number // value)
        number %= value
    return text
