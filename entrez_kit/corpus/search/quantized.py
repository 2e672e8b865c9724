"""8-bit quantized vectors: a quarter of the size, with an upper bound on the error of a product.

Each dimension of a block has its own midpoint and step, so that a dimension with large values does not reduce the
precision of others. Midpoints and steps are folded into the query, so a product needs one multiplication by the codes.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

_GREATEST: Final = 127
_AT_ONCE: Final = 1 << 16
"""Codes converted to float32 at a time: 256 kB, which fits in the processor's cache."""


class Quantized(NamedTuple):
    """Unit vectors as the rows of ``codes``; ``error`` is the maximum distance of a vector from its row."""

    middles: Floats
    steps: Floats
    error: float
    codes: NDArray[np.int8]

    @classmethod
    def of(cls, vectors: Floats) -> "Quantized":
        """Quantize vectors."""
        middles = (vectors.max(axis=0) + vectors.min(axis=0)) / 2
        offsets = vectors - middles
        steps = np.abs(offsets).max(axis=0) / _GREATEST
        steps[steps == 0] = 1
        codes = np.rint(offsets / steps)
        error = np.linalg.norm(offsets - codes * steps, axis=1).max()
        return cls(middles, steps, float(error), codes.astype(np.int8))

    @classmethod
    def read(cls, dim: int, middles: bytes, steps: bytes, error: float, codes: bytes) -> "Quantized":
        """Decode stored vectors.

        Raises:
            ValueError: the sizes do not match the dimension.
        """
        return cls(
            np.frombuffer(middles, "<f4").reshape(dim),
            np.frombuffer(steps, "<f4").reshape(dim),
            float(error),
            np.frombuffer(codes, np.int8).reshape(-1, dim),
        )

    def multiply(self, query: Floats, rows: NDArray[np.intp] | None = None) -> Floats:
        """Return the products of all vectors, or of some rows, with a query; ``bound`` limits their error."""
        codes = self.codes if rows is None else self.codes[rows]
        scaled = self.steps * query
        size = max(1, _AT_ONCE // len(query))
        widened = np.empty((min(size, len(codes)), len(query)), dtype=np.float32)
        sims = np.empty(len(codes), dtype=np.float32)
        for start in range(0, len(codes), size):
            part = codes[start : start + size]
            widened[: len(part)] = part
            np.dot(widened[: len(part)], scaled, out=sims[start : start + len(part)])
        sims += self.middles @ query
        return sims

    def approximate(self, rows: NDArray[np.bool_]) -> Floats:
        """Return the approximate vectors of some rows."""
        return self.middles + self.codes[rows] * self.steps

    @property
    def bound(self) -> float:
        """The maximum error of a product with a query of length 1."""
        return self.error + bound_rounding(len(self.steps))


def bound_rounding(dim: int) -> float:
    """Return the maximum rounding error of a product of two float32 unit vectors."""
    return 4 * dim * 2.0**-24
