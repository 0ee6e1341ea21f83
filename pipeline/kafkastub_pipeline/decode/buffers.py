"""Columns of bytes read in place: integers by unaligned gathers, strings as cuts of the one buffer.

Nothing here loops over rows. Positions are byte positions in the buffer of the whole Arrow column, one a row. A read
past a row's end marks the row as odd, and gives anything; odd rows are left to `decode.rows`, which knows every
exception.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Positions = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_LEAST: Final = 16
"""Bytes that a buffer has: nothing larger is read at once."""
_EVERY: Final = slice(None)


def mask(array: pa.Array) -> Mask:
    """Which entries are not null."""
    found: Mask = array.is_valid().to_numpy(zero_copy_only=False)
    return found


class Rows:
    """A cursor for each row of a binary column, or for each that is chosen.

    Attributes:
        at: where each row is read next.
        end: where it ends.
        odd: rows that did not hold what was asked of them.
    """

    def __init__(self, column: pa.BinaryArray, chosen: Positions | slice = _EVERY) -> None:
        count = len(column)
        offsets = np.frombuffer(column.buffers()[1], np.int32, count + 1 + column.offset)[column.offset :]
        first, last = int(offsets[0]), int(offsets[-1])
        self._data = np.zeros(0, np.uint8)
        if last > first:
            self._data = np.frombuffer(column.buffers()[2], np.uint8, last)[first:]
        if last - first < _LEAST:
            self._data = np.concatenate([self._data, np.zeros(_LEAST, np.uint8)])
        starts = offsets.astype(np.int64) - first
        self.begin: Positions = starts[:-1][chosen]
        self.at: Positions = self.begin.copy()
        self.end: Positions = starts[1:][chosen]
        self.odd: Mask = np.zeros(len(self.at), np.bool_)

    def only(self, chosen: Positions) -> Rows:
        """Cursors of their own for some of the rows, over the same bytes."""
        some = Rows.__new__(Rows)
        some._data = self._data
        some.begin, some.at, some.end = self.begin[chosen], self.at[chosen], self.end[chosen]
        some.odd = self.odd[chosen]
        return some

    def _gather(self, dtype: str, size: int) -> npt.NDArray[Any]:
        """Big-endian numbers at the cursors, which move behind them."""
        after = self.at + size
        self.odd |= after > self.end
        view: npt.NDArray[Any] = np.ndarray((len(self._data) - size + 1,), dtype=dtype, buffer=self._data, strides=(1,))
        found = view[np.minimum(self.at, len(self._data) - size)].astype(dtype.replace(">", "="))
        self.at = after
        return found

    def fields(self, layout: np.dtype[Any]) -> npt.NDArray[Any]:
        """Several numbers that lie behind one another, read at once, which is faster than one by one.

        The cursors stay: `skip` moves them. A row that is shorter gives anything, and is not odd by that.

        Args:
            layout: a structure of at most 16 bytes.
        """
        size = layout.itemsize
        view: npt.NDArray[Any] = np.ndarray(
            (len(self._data) - size + 1,), dtype=f"V{size}", buffer=self._data, strides=(1,)
        )
        return view[np.minimum(self.at, len(self._data) - size)].view(layout)

    def skip(self, size: Positions) -> None:
        """Move each cursor by as many bytes."""
        self.at = self.at + size
        self.odd |= self.at > self.end

    def int16(self) -> npt.NDArray[np.int16]:
        """Byte by byte, which is aligned: half the time."""
        at = np.minimum(self.at, len(self._data) - 2)
        self.at = self.at + 2
        self.odd |= self.at > self.end
        found: npt.NDArray[np.int16] = (self._data[at].astype(np.int16) << 8) | self._data[at + 1]
        return found

    def int32(self) -> npt.NDArray[np.int32]:
        return self._gather(">i4", 4)

    def int64(self) -> npt.NDArray[np.int64]:
        return self._gather(">i8", 8)

    def uint8(self) -> npt.NDArray[np.uint8]:
        return self._gather("|u1", 1)

    def varint(self) -> Positions:
        """Unsigned varints of at most three bytes (2 MiB); longer ones are odd."""
        found = np.zeros(len(self.at), np.int64)
        going: Mask = np.ones(len(self.at), np.bool_)
        for shift in (0, 7, 14):
            byte = self._data[np.minimum(self.at, len(self._data) - 1)].astype(np.int64)
            found |= np.where(going, (byte & 0x7F) << shift, 0)
            self.odd |= going & (self.at >= self.end)
            self.at = self.at + going
            going = going & (byte >= 0x80)
        self.odd |= going
        return found

    def cut(self, size: Positions) -> tuple[Positions, Positions]:
        """The next `size` bytes of each row as (start, end); negative sizes are odd, and empty."""
        start, end = self.at.copy(), self.at + size
        self.odd |= (size < 0) | (end > self.end)
        after = end.copy()
        odd = np.flatnonzero(self.odd)
        after[odd] = start[odd]
        start[odd] = end[odd] = self.begin[odd]
        self.at = after
        return start, end

    def bytes_of(self, cut: tuple[Positions, Positions]) -> pa.BinaryArray:
        """Cuts as an Arrow column. They lie in the buffer in the order of their rows, so that their edges are offsets.

        Every other entry of the array over those offsets is a gap between two cuts.
        """
        start, end = cut
        count = len(start)
        if not count:
            return pa.array([], pa.binary())
        edges = np.empty(2 * count, np.int32)
        edges[0::2], edges[1::2] = start, end
        cuts = pa.BinaryArray.from_buffers(
            pa.binary(), 2 * count - 1, [None, pa.py_buffer(edges), pa.py_buffer(self._data)]
        )
        return cuts.take(pa.array(np.arange(0, 2 * count - 1, 2, dtype=np.int32)))

    def text_of(self, cut: tuple[Positions, Positions], chosen: Mask | slice = _EVERY) -> pa.StringArray:
        """Cuts as strings, of all rows or of some; rows that are no UTF-8 become odd, and empty."""
        raw = self.bytes_of((cut[0][chosen], cut[1][chosen]))
        if _is_ascii(raw):
            return pa.StringArray.from_buffers(len(raw), raw.buffers()[1], raw.buffers()[2], offset=raw.offset)
        try:
            return pc.cast(raw, pa.string())
        except pa.ArrowInvalid:
            texts = [_utf8(one) for one in raw.to_pylist()]
            self.odd[chosen] |= np.array([text is None for text in texts], np.bool_)
            return pa.array([text or "" for text in texts], pa.string())


def _is_ascii(raw: pa.BinaryArray) -> bool:
    """Whether that is easily seen, as it mostly is: a sixth of the time of looking for UTF-8."""
    data = raw.buffers()[2]
    return data is None or not data.size or int(np.frombuffer(data, np.uint8).max()) < 0x80


def _utf8(raw: bytes) -> str | None:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def present(absent: Mask) -> pa.Buffer | None:
    """What an Arrow array knows of its nulls; None where nothing is absent."""
    return pa.py_buffer(np.packbits(~absent, bitorder="little")) if absent.any() else None


def numbers(values: npt.NDArray[Any], bits: pa.Buffer | None) -> pa.Array:
    """The numbers, null where `present` says so: nothing is copied."""
    buffers = [bits, pa.py_buffer(np.ascontiguousarray(values))]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), buffers)


def masked(texts: pa.StringArray, bits: pa.Buffer | None) -> pa.StringArray:
    """The texts, null where `present` says so: nothing is copied."""
    if bits is None:
        return texts
    return pa.StringArray.from_buffers(len(texts), texts.buffers()[1], texts.buffers()[2], bits, -1, texts.offset)


def scattered(values: pa.Array, chosen: Positions, count: int) -> pa.Array:
    """Values of the chosen rows, spread over all rows; the others are null."""
    if len(chosen) == count:
        return values
    index = np.full(count, -1, np.int64)
    index[chosen] = np.arange(len(chosen))
    return values.take(pa.array(index, mask=index < 0))
