"""Messages to bytes and back, at any version.

`encode` and `decode` are the plain way; `encoder` and `decoder` give the compiled functions for a hot path. All are
compiled when first asked for. Whatever is wrong with the bytes ends as `MalformedMessage`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

from kafkawire.codec.decoder import Decoder, PacedDecoder, compile_decoder, compile_paced_decoder
from kafkawire.codec.encoder import Encoder, PacedEncoder, Parts, compile_encoder, compile_paced_encoder
from kafkawire.codec.layout import StructLayout, layout_of
from kafkawire.codec.reader import Reader
from kafkawire.schema import Message

__all__ = [
    "Decoder",
    "Encoder",
    "PacedDecoder",
    "PacedEncoder",
    "Parts",
    "decode",
    "decode_from",
    "decoder",
    "encode",
    "encoder",
    "encoder_of",
    "fast_decoder",
    "paced_decoder",
    "paced_encoder",
    "read_reference",
]

F = TypeVar("F", bound=Callable[..., Any])
M = TypeVar("M", bound=Message)


def _once_each(make: F) -> F:
    """What is made is kept for each version that is used; bounded by the versions that exist."""
    return cast(F, cache(make))


@_once_each
def _layout(cls: type[Message], version: int) -> StructLayout:
    return layout_of(cls, version)


@_once_each
def encoder(cls: type[Message], version: int) -> Encoder:
    """The compiled `message -> list of buffers`. Raises ValueError for a version that the message does not have."""
    return compile_encoder(_layout(cls, version), f"encode {cls.__name__} v{version}")


@_once_each
def encoder_of(cls: type[Message], field: str, version: int) -> Encoder:
    """The compiled encoder of one struct of an array in the message: for `kafkawire.rows.Shared.encoded`.

    Who answers a large request bit by bit encodes bit by bit, too. `field` may be an array within the structs of
    another one: "topics.partitions". Raises ValueError for a version that the message does not have, KeyError for an
    array of structs that it does not have.
    """
    layout = _layout(cls, version)
    for name in field.split("."):
        arrays = {one.name: one.struct for one in layout.fields if one.array and one.struct is not None}
        layout = arrays[name]
    return compile_encoder(layout, f"encode {field} of {cls.__name__} v{version}")


@_once_each
def fast_decoder(cls: type[Message], version: int) -> Decoder:
    """The compiled decoder without a net: whatever it raises, or an end behind `size`, means to ask `decoder`.

    Raises ValueError here for a version that the message does not have.
    """
    return compile_decoder(_layout(cls, version), f"decode {cls.__name__} v{version}")


@_once_each
def decoder(cls: type[Message], version: int) -> Decoder:
    """The compiled `(data, position, size) -> (message, position behind it)`; raises MalformedMessage only.

    Raises ValueError here for a version that the message does not have.
    """
    straight = fast_decoder(cls, version)

    def decode_or_explain(data: bytes, position: int, size: int) -> tuple[Message, int]:
        try:
            message, end = straight(data, position, size)
            if end <= size:  # `data` may go on with the next frame: what lies there is not ours
                return message, end
        except Exception:
            pass
        return read_reference(cls, version, data, position, size)

    return decode_or_explain


@_once_each
def paced_decoder(cls: type[Message], version: int) -> PacedDecoder:
    """As `fast_decoder`, for requests that may be large: see `PacedDecoder`."""
    return compile_paced_decoder(_layout(cls, version), f"decode {cls.__name__} v{version}, paced")


@_once_each
def paced_encoder(cls: type[Message], version: int) -> PacedEncoder:
    """As `encoder`, for answers that may be long: see `PacedEncoder`."""
    return compile_paced_encoder(_layout(cls, version), f"encode {cls.__name__} v{version}, paced")


def read_reference(
    cls: type[M],
    version: int,
    data: bytes,
    position: int = 0,
    end: int | None = None,
    count: Callable[[int], None] | None = None,
    tick: Callable[[], None] | None = None,
) -> tuple[M, int]:
    """Read `data[position:end]` with the reference reader: (message, position behind it).

    For `count` and `tick` see `PacedDecoder`. Raises MalformedMessage, and what `count` raises.
    """
    reader = Reader(f"{cls.__name__} v{version}", data, position, end)
    reader.count, reader.tick = count, tick
    message = reader.struct(_layout(cls, version))
    return cast(M, message), reader.position


def encode(message: Message, version: int) -> bytes:
    """The bytes of `message` at `version`; fields that the version lacks are left out.

    Raises ValueError for a version that the message does not have, or a value that its field cannot hold.
    """
    try:
        return b"".join(encoder(type(message), version)(message))
    except (struct.error, AttributeError, TypeError) as error:
        raise ValueError(f"{type(message).__name__} v{version} cannot be encoded: {error}") from error


def decode(cls: type[M], version: int, data: bytes) -> M:
    """The message in `data`; trailing bytes are ignored, as Kafka does. Raises MalformedMessage."""
    return decode_from(cls, version, data, 0)[0]


def decode_from(cls: type[M], version: int, data: bytes, position: int) -> tuple[M, int]:
    """The message that starts at `position`, and the position behind it. Raises MalformedMessage."""
    return cast("tuple[M, int]", decoder(cls, version)(data, position, len(data)))
