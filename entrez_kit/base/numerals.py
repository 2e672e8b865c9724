"""Roman numbers, which mark the items of lists."""


def to_roman(number: int) -> str:
    """Return a number as a Roman number in lower case, written with c, l, x, v and i."""
    values = ((100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
    text = ""
    for value, letters in values:
        text += letters * (number // value)
        number %= value
    return text
