"""Pictures with 256 colours: a third of the bytes, and nobody sees it where a page is shown."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Final

from playwright.sync_api import Browser

_REDUCE: Final = """
async address => {
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const drawing = canvas.getContext('2d');
  drawing.drawImage(image, 0, 0);
  const {data} = drawing.getImageData(0, 0, image.width, image.height);
  const counts = new Map();
  for (let at = 0; at < data.length; at += 4) {
    const colour = data[at] << 16 | data[at + 1] << 8 | data[at + 2];
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const far = (one, other) => ((one >> 16) - (other >> 16)) ** 2 + ((one >> 8 & 255) - (other >> 8 & 255)) ** 2
    + ((one & 255) - (other & 255)) ** 2;
  const palette = [];
  for (const least of [300, 40, 0]) {  // the common ones first, and of those that are alike one
    for (const [colour] of [...counts].sort((one, other) => other[1] - one[1])) {
      if (palette.length < 256 && palette.every(kept => far(kept, colour) > least)) palette.push(colour);
    }
  }
  const nearest = new Map();
  for (const colour of counts.keys()) {
    let best = 0;
    for (let index = 1; index < palette.length; index += 1) {
      if (far(palette[index], colour) < far(palette[best], colour)) best = index;
    }
    nearest.set(colour, best);
  }
  const indexes = new Uint8Array(data.length / 4);
  for (let at = 0; at < indexes.length; at += 1) {
    indexes[at] = nearest.get(data[4 * at] << 16 | data[4 * at + 1] << 8 | data[4 * at + 2]);
  }
  let text = '';
  for (let at = 0; at < indexes.length; at += 8192) text += String.fromCharCode(...indexes.subarray(at, at + 8192));
  return [image.width, image.height, palette, btoa(text)];
}
"""


def smaller(browser: Browser, pictures: list[bytes]) -> list[bytes]:
    """PNG files with as many pixels and fewer colours; the browser does the work."""
    page = browser.new_page()
    try:
        reduced = []
        for picture in pictures:
            address = "data:image/png;base64," + base64.b64encode(picture).decode()
            width, height, palette, indexes = page.evaluate(_REDUCE, address)
            reduced.append(_png(width, height, palette, base64.b64decode(indexes)))
        return reduced
    finally:
        page.close()


def _png(width: int, height: int, palette: list[int], indexes: bytes) -> bytes:
    rows = b"".join(b"\0" + indexes[row * width : (row + 1) * width] for row in range(height))
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
        + _chunk(b"PLTE", b"".join(colour.to_bytes(3) for colour in palette))
        + _chunk(b"IDAT", zlib.compress(rows, 9))
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
