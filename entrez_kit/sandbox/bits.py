"""Sets of records as integers: bit *i* is set if record *i* is a member. AND, OR and NOT are one operation each."""

from collections.abc import Iterable
from itertools import compress
from typing import Final

_ONES: Final = bytes.maketrans(b"01", b"\x00\x01")
_FEW: Final = 64
"""Largest set that is built bit by bit. Larger sets are parsed from a string of zeros and ones in linear time."""


def from_flags(flags: bytes) -> int:
    """Return the set whose members are the positions of ``b"1"`` in a string of zeros and ones."""
    return int(flags[::-1], 2) if flags else 0


def from_numbers(numbers: Iterable[int], size: int) -> int:
    """Return the set of these record numbers, all below ``size``."""
    members = list(numbers)
    if len(members) <= _FEW:
        bits = 0
        for number in members:
            bits |= 1 << number
        return bits
    flags = bytearray(b"0") * size
    for number in members:
        flags[number] = 49  # b"1"
    return from_flags(bytes(flags))


def to_numbers(bits: int) -> list[int]:
    """Return the members of a set in ascending order."""
    flags = bin(bits)[:1:-1].encode("ascii").translate(_ONES)
    return list(compress(range(len(flags)), flags))


def fill(size: int) -> int:
    """Return the set of all ``size`` records."""
    return (1 << size) - 1
