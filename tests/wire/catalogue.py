"""Every message there is, and the three ways to read one."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache

from kafkawire import codec
from kafkawire.codec.decoder import Decoder, compile_decoder, compile_paced_decoder
from kafkawire.codec.layout import StructLayout, layout_of
from kafkawire.messages import OTHERS, REQUESTS, RESPONSES
from kafkawire.schema import Message

MessageClass = type[Message]


@cache
def messages() -> tuple[MessageClass, ...]:
    """All message classes, by name."""
    where = [(module, name) for module, name, *_ in (*REQUESTS.values(), *RESPONSES.values(), *OTHERS)]
    return tuple(getattr(importlib.import_module(module), name) for module, name in sorted(where))


@cache
def by_name() -> dict[str, MessageClass]:
    return {cls.__name__: cls for cls in messages()}


def named(name: str) -> MessageClass:
    """The class for a Java class's simple name, where requests and responses end in Data."""
    return by_name().get(name) or by_name()[name.removesuffix("Data")]


def versions(cls: MessageClass) -> range:
    return range(cls.VERSIONS[0], cls.VERSIONS[1] + 1)


layout = cache(layout_of)


def walk(of: StructLayout) -> list[StructLayout]:
    """`of` and every structure inside it."""
    found = [of]
    for field in (*of.fields, *of.tagged):
        if field.struct is not None:
            found.extend(walk(field.struct))
    return found


@cache
def straight(cls: MessageClass, version: int, use_native: bool) -> Decoder:
    """The compiled function alone: on anything unusual it raises some exception."""
    return compile_decoder(layout(cls, version), f"{cls.__name__} v{version}, {use_native=}", use_native)


@cache
def paced(cls: MessageClass, version: int) -> Decoder:
    """The one for large requests, which are not counted here."""
    decode = compile_paced_decoder(layout(cls, version), f"{cls.__name__} v{version}, paced")
    return lambda data, position, size: decode(data, position, size, lambda number: None, lambda: None)


def _reference(cls: MessageClass, version: int) -> Decoder:
    return lambda data, position, size: codec.read_reference(cls, version, data, position, size)


READERS: dict[str, Callable[[MessageClass, int], Decoder]] = {
    "compiled": codec.decoder,
    "compiled, no native": lambda cls, version: straight(cls, version, False),
    "compiled, native": lambda cls, version: straight(cls, version, True),
    "compiled, paced": lambda cls, version: paced(cls, version),
    "reference": _reference,
}
"""All read well-formed bytes to the same message."""
