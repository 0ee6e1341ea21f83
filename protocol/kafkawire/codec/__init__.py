"""Messages to bytes and back, at any version.

`encode` and `decode` are the plain way; `encoder` and `decoder` give the compiled functions for a hot path. All are
compiled when first asked for. Whatever is wrong with the bytes ends as `MalformedMessage`.
"""

from __future__ import annotations

import struct
from functools import cache
from typing import TypeVar, cast

from kafkawire.codec.decoder import Decoder, compile_decoder
from kafkawire.codec.encoder import Encoder, Parts, compile_encoder
from kafkawire.codec.layout import StructLayout, layout_of
from kafkawire.codec.reader import Reader
from kafkawire.schema import Message

__all__ = ["Decoder", "Encoder", "Parts", "decode", "decode_from", "decoder", "encode", "encoder", "read_reference"]

M = TypeVar("M", bound=Message)


@cache
def _layout(cls: type[Message], version: int) -> StructLayout:
    return layout_of(cls, version)


@cache
def encoder(cls: type[Message], version: int) -> Encoder:
    """The compiled `message -> list of buffers`. Raises ValueError for a version that the message does not have."""
    return compile_encoder(_layout(cls, version), f"encode {cls.__name__} v{version}")


@cache
def decoder(cls: type[Message], version: int) -> Decoder:
    """The compiled `(data, position, size) -> (message, position behind it)`; raises MalformedMessage only.

    Raises ValueError here for a version that the message does not have.
    """
    straight = compile_decoder(_layout(cls, version), f"decode {cls.__name__} v{version}")

    def decode_or_explain(data: bytes, position: int, size: int) -> tuple[Message, int]:
        try:
            message, end = straight(data, position, size)
            if end <= size:  # `data` may go on with the next frame: what lies there is not ours
                return message, end
        except Exception:
            pass
        return read_reference(cls, version, data[:size], position)

    return decode_or_explain


def read_reference(cls: type[M], version: int, data: bytes, position: int = 0) -> tuple[M, int]:
    """Read with the reference reader: (message, position behind it). Raises MalformedMessage."""
    reader = Reader(f"{cls.__name__} v{version}", data, position)
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
