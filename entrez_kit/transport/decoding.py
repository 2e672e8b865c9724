"""Decoder: undo the compression of a body, and tell whether the compressed stream came to its end.

urllib3 decompresses as well, but takes half a gzip stream for a whole one.
"""

import zlib
from collections.abc import Iterator
from typing import Final

PIECE_BYTES: Final = 262_144
"""Decompressed bytes handed on at a time, so that a small body cannot fill the memory before its size is looked at."""

_GZIP_OR_ZLIB: Final = 47
_RAW: Final = -zlib.MAX_WBITS
_GZIP_MAGIC: Final = b"\x1f\x8b"


class Undecodable(Exception):
    """The body is not what its Content-Encoding says."""


class Decoder:
    """Decompress one body piece by piece.

    Args:
        encoding: its Content-Encoding, empty for none.
    """

    def __init__(self, encoding: str) -> None:
        self._plain = encoding in ("", "identity")
        if not self._plain and encoding not in ("gzip", "x-gzip", "deflate"):
            raise Undecodable(f"a body in an encoding that was not asked for ({encoding[:20]})")
        self._stream = zlib.decompressobj(_GZIP_OR_ZLIB)
        self._fresh = True

    @property
    def ended(self) -> bool:
        """Whether what was fed so far is a whole body."""
        return self._plain or self._fresh or self._stream.eof

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what further bytes of the body decompress to.

        Raises:
            Undecodable: they are no compressed data.
        """
        if self._plain:
            yield data
            return
        try:
            while data:
                if self._stream.eof:
                    if not data.startswith(_GZIP_MAGIC):
                        return  # padding behind the stream
                    self._stream = zlib.decompressobj(_GZIP_OR_ZLIB)
                piece = self._decompress(data)
                if piece:
                    yield piece
                data = self._stream.unconsumed_tail or self._stream.unused_data
        except zlib.error:
            broken = True
        else:
            broken = False
        if broken:
            raise Undecodable("a body that cannot be decompressed")

    def _decompress(self, data: bytes) -> bytes:
        fresh, self._fresh = self._fresh, False
        try:
            return self._stream.decompress(data, PIECE_BYTES)
        except zlib.error:
            if not fresh:
                raise
            self._stream = zlib.decompressobj(_RAW)  # some servers send deflate without its frame
            return self._stream.decompress(data, PIECE_BYTES)
