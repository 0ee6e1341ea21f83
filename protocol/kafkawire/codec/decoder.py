"""Decoders, compiled once per message and version.

A decoder is a function `(data, position, size) -> (message, position behind it)`. It takes the shortest way through
well-formed bytes and raises *some* exception on anything else; the caller then asks the reference reader, which
tells what is wrong (or reads what only looked wrong: unknown tags, text that is not UTF-8).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from kafkawire.codec import native
from kafkawire.codec.columns import row_reader
from kafkawire.codec.layout import FIXED, LONGEST_STRING, MOST_ELEMENTS, MOST_TAGS, FieldLayout, StructLayout
from kafkawire.codec.source import Source
from kafkawire.codec.varint import read_uvarint

Decoder = Callable[[bytes, int, int], tuple[Any, int]]
PacedDecoder = Callable[[bytes, int, int, Callable[[int], None], Callable[[], None]], tuple[Any, int]]
"""(data, position, size, count, tick) -> (message, position behind it).

`count` is given the length of each array before its elements are read, and may raise what ends the reading; `tick` is
called with each element, and may let others run meanwhile.
"""


class NotStraight(Exception):
    """The bytes leave the fast path; the reference reader decides what they are."""


def compile_decoder(layout: StructLayout, name: str, use_native: bool = True) -> Decoder:
    """The function for one layout; `use_native` lets kio's reader take long arrays of flat structs."""
    function: Decoder = _compile(layout, _Writer(name, use_native), "data, p, size")
    return function


def compile_paced_decoder(layout: StructLayout, name: str) -> PacedDecoder:
    """The same for requests that may be large: it counts what it reads, and can be held up between two elements."""
    function: PacedDecoder = _compile(layout, _Writer(name, use_native=False, paced=True), "data, p, size, count, tick")
    return function


def _compile(layout: StructLayout, writer: _Writer, arguments: str) -> Any:
    writer.source.line(f"def decode({arguments}):")
    writer.source.indent += 1
    made = writer.struct(layout)
    writer.flush()
    writer.source.line(f"return {made}, p")
    return writer.source.function("decode")


class _Writer:
    def __init__(self, name: str, use_native: bool, paced: bool = False) -> None:
        self.source = Source(name)
        self.paced = paced
        self.source.names.update(NotStraight=NotStraight, ruv=read_uvarint, unpack=struct.unpack_from)
        self.use_native = use_native
        self.run: list[tuple[str, str]] = []

    def flush(self) -> None:
        """Read the fixed-size fields that were gathered."""
        if not self.run:
            return
        forms = struct.Struct(">" + "".join(form for form, _ in self.run))
        unpack = self.source.constant("U", forms.unpack_from, key=("U", forms.format))
        names = ", ".join(name for _, name in self.run)
        comma = "," if len(self.run) == 1 else ""
        self.source.line(f"{names}{comma} = {unpack}(data, p); p += {forms.size}")
        self.run = []

    def struct(self, layout: StructLayout) -> str:
        """Reads a struct, gives the expression that makes it (valid once the run is flushed)."""
        values: dict[str, str] = {}
        for index, field in enumerate(layout.fields):
            last = index == len(layout.fields) - 1
            values[field.name] = self.field(field, layout if last else None)
        if layout.flexible:
            self.tags(layout, values)
        arguments = []
        defaults = layout.cls.__init__.__defaults__ or ()
        for row, default in zip(layout.cls.FIELDS, defaults, strict=True):
            arguments.append(values.get(row[0]) or self.source.constant("D", default, key=("D", repr(default))))
        constructor = self.source.constant("C", layout.cls, key=("C", layout.cls.__name__))
        return f"{constructor}({', '.join(arguments)})"

    def field(self, field: FieldLayout, last_of: StructLayout | None = None) -> str:
        if field.array:
            return self.array(field, last_of)
        if field.kind in FIXED:
            name = self.source.fresh("x")
            self.run.append((FIXED[field.kind][0], name))
            return name
        if field.kind == "struct":
            return self.nested(field)
        return self.buffer(field)

    def nested(self, field: FieldLayout) -> str:
        assert field.struct is not None
        if not field.nullable:
            made = self.struct(field.struct)
            self.flush()
            name = self.source.fresh("s")
            self.source.line(f"{name} = {made}")
            return name
        name = self.source.fresh("s")
        self.flush()
        if field.tag is not None:
            self.source.line("mark, p = ruv(data, p)")
        else:
            self.source.line("mark = 1 if data[p] < 128 else 0; p += 1")
        with self.source.block("if mark <= 0:"):
            self.source.line(f"{name} = None")
        with self.source.block("else:"):
            made = self.struct(field.struct)
            self.flush()
            self.source.line(f"{name} = {made}")
        return name

    def length(self, field: FieldLayout, form: str) -> str:
        """Reads a length: -1 for null."""
        size = self.source.fresh("n")
        if field.compact:
            self.flush()
            most = LONGEST_STRING + 1 if field.kind == "string" and not field.array else 0x7FFFFFFF
            self.source.line(f"{size} = data[p]; p += 1")
            with self.source.block(f"if {size} > 127:"):
                self.source.line(f"{size}, p = ruv(data, p - 1)")
                with self.source.block(f"if not -0x80000000 < {size} <= {most}:"):
                    self.source.line("raise NotStraight")
            self.source.line(f"{size} -= 1")
        else:
            self.run.append((form, size))
            self.flush()
        return size

    def buffer(self, field: FieldLayout) -> str:
        size = self.length(field, "h" if field.kind == "string" else "i")
        name = self.source.fresh("b")
        # `.decode()` takes 76 ns where `str(..., 'utf-8')` takes 125, and is as strict; many strings are empty.
        read, empty = ("data[p:e].decode()", "''") if field.kind == "string" else ("data[p:e]", "b''")
        with self.source.block(f"if {size} > 0:"):
            self.source.line(f"e = p + {size}")
            with self.source.block("if e > size:"):
                self.source.line("raise NotStraight")
            self.source.line(f"{name} = {read}; p = e")
        with self.source.block(f"elif {size} == 0:"):
            self.source.line(f"{name} = {empty}")
        if field.nullable:
            with self.source.block("else:"):
                self.source.line(f"{name} = None")
        else:
            with self.source.block("else:"):
                self.source.line("raise NotStraight")
        return name

    def array(self, field: FieldLayout, last_of: StructLayout | None) -> str:
        before = self.source.fresh("q")
        self.flush()  # the native reader starts at the count
        self.source.line(f"{before} = p")
        size, name = self.length(field, "i"), self.source.fresh("v")
        with self.source.block(f"if {size} * {field.min_item_size} > size - p or {size} > {MOST_ELEMENTS}:"):
            self.source.line("raise NotStraight")
        if self.paced:
            with self.source.block(f"if {size} > 0:"):
                self.source.line(f"count({size})")
        if not field.nullable:
            with self.source.block(f"if {size} < 0:"):
                self.source.line("raise NotStraight")
        else:
            with self.source.block(f"if {size} < 0:"):
                self.source.line(f"{name} = None")
            self.source.line("else:")
            self.source.indent += 1
        by_columns = row_reader(field.struct) if field.struct is not None else None
        if by_columns is None:
            self.items(field, name, size, before, last_of)
        else:
            read = self.source.constant("R", by_columns[0])
            self.source.line(f"{name} = {read}(data, p, {size}) if {size} else None")
            with self.source.block(f"if {name} is not None:"):
                self.source.line(f"p += {size} * {by_columns[1]}")
            with self.source.block("else:"):
                self.items(field, name, size, before, last_of)
        if field.nullable:
            self.source.indent -= 1
        return name

    def items(self, field: FieldLayout, name: str, size: str, before: str, last_of: StructLayout | None) -> None:
        if field.kind in FIXED:
            form, width = FIXED[field.kind]
            many = f"'>%d{form}' % {size}" if form != "16s" else f"'>' + '16s' * {size}"
            self.source.line(f"{name} = unpack({many}, data, p); p += {size} * {width}")
            return
        reader = native.array_reader(field, last_of) if self.use_native and last_of is not None else None
        if reader is not None:
            # The count has been checked against the bytes that are left: kio trusts it and would abort the process.
            load = self.source.constant("N", reader)
            with self.source.block(f"if {size} >= {native.WORTH_IT}:"):
                self.source.line(f"{name}, p = {load}(data, {before})")
                # kio has read the empty tag section behind the array, which the struct reads again.
                self.source.line(f"p -= {int(field.compact)}")
            self.source.line("else:")
            self.source.indent += 1
        gathered, add = self.source.fresh("g"), self.source.fresh("a")
        self.source.line(f"{gathered} = []; {add} = {gathered}.append")
        with self.source.block(f"for _ in range({size}):"):
            if self.paced:
                self.source.line("tick()")
            if field.struct is not None:
                made = self.struct(field.struct)
                self.flush()
            else:
                made = self.buffer(FieldLayout(field.name, field.kind, False, False, field.compact, None, None, None))
            self.source.line(f"{add}({made})")
        self.source.line(f"{name} = tuple({gathered})")
        if reader is not None:
            self.source.indent -= 1

    def tags(self, layout: StructLayout, values: dict[str, str]) -> None:
        self.flush()
        if not layout.tagged:
            with self.source.block("if data[p]:"):
                self.source.line("raise NotStraight")
            self.source.line("p += 1")
            return
        for field in layout.tagged:
            values[field.name] = self.source.fresh("t")
            # A struct that is absent is made anew each time: it is not shared between messages.
            default = None if field.kind == "struct" and not field.array and not field.nullable else field.default
            self.source.line(f"{values[field.name]} = {self.source.constant('D', default)}")
        count, tag = self.source.fresh("n"), self.source.fresh("k")
        self.source.line(f"{count}, p = ruv(data, p)")
        with self.source.block(f"if not 0 <= {count} <= {MOST_TAGS}:"):
            self.source.line("raise NotStraight")
        if self.paced:
            with self.source.block(f"if {count}:"):
                self.source.line(f"count({count})")
        with self.source.block(f"for _ in range({count}):"):
            if self.paced:
                self.source.line("tick()")
            self.source.line(f"{tag}, p = ruv(data, p)")
            self.source.line("_, p = ruv(data, p)")  # the size is of no use: Kafka does not look at it either
            for position, field in enumerate(layout.tagged):
                with self.source.block(f"{'elif' if position else 'if'} {tag} == {field.tag}:"):
                    value = self.field(field)
                    self.flush()
                    self.source.line(f"{values[field.name]} = {value}")
            with self.source.block("else:"):
                self.source.line("raise NotStraight")
