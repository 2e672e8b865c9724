"""Vectors as numbers of 8 bits: a quarter of their size, and a bound on what that changes of a product.

Each dimension has a middle and a step of its own in a block, so that one whose numbers are large or far from 0 costs
the others nothing. With these folded into the query, a product takes one multiplication by the numbers themselves.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

_GREATEST: Final = 127
_AT_ONCE: Final = 1 << 15
"""Numbers that are widened at once: 128 kB, which stay in a processor's cache until they are multiplied."""


class Quantized(NamedTuple):
    """Vectors of length 1, as the rows of ``codes``; ``error`` is how far one is at most from what its row says."""

    middles: Floats
    steps: Floats
    error: float
    codes: NDArray[np.int8]

    @classmethod
    def of(cls, vectors: Floats) -> "Quantized":
        """Round vectors."""
        middles = (vectors.max(axis=0) + vectors.min(axis=0)) / 2
        offsets = vectors - middles
        steps = np.abs(offsets).max(axis=0) / _GREATEST
        steps[steps == 0] = 1
        codes = np.rint(offsets / steps)
        error = np.linalg.norm(offsets - codes * steps, axis=1).max()
        return cls(middles, steps, float(error), codes.astype(np.int8))

    @classmethod
    def read(cls, dim: int, middles: bytes, steps: bytes, error: float, codes: bytes) -> "Quantized":
        """Read stored ones.

        Raises:
            ValueError: they do not have this dimension.
        """
        return cls(
            np.frombuffer(middles, "<f4").reshape(dim),
            np.frombuffer(steps, "<f4").reshape(dim),
            float(error),
            np.frombuffer(codes, np.int8).reshape(-1, dim),
        )

    def products(self, query: Floats, rows: NDArray[np.intp] | None = None) -> Floats:
        """Return the products of the vectors, or of some rows, with a query; see ``bound`` for how exact they are."""
        codes = self.codes if rows is None else self.codes[rows]
        scaled = self.steps * query
        size = max(1, _AT_ONCE // len(query))
        widened = np.empty((min(size, len(codes)), len(query)), dtype=np.float32)
        found = np.empty(len(codes), dtype=np.float32)
        for start in range(0, len(codes), size):
            part = codes[start : start + size]
            widened[: len(part)] = part
            np.dot(widened[: len(part)], scaled, out=found[start : start + len(part)])
        found += self.middles @ query
        return found

    def vectors(self, rows: NDArray[np.bool_]) -> Floats:
        """Return some vectors as their rows say them."""
        return self.middles + self.codes[rows] * self.steps

    @property
    def bound(self) -> float:
        """How far a product with a query of length 1 is at most from that of the vectors themselves."""
        return self.error + rounding(len(self.steps))


def rounding(dim: int) -> float:
    """Return what the order of additions can change of a product of two vectors of length 1 of 32-bit numbers."""
    return 4 * dim * 2.0**-24
