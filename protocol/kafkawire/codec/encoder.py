"""Encoders, compiled once per message and version: straight-line calls of `struct`.

An encoder takes a message and gives the list of buffers that make it up; adjacent fields of fixed size are one
`Struct.pack`, and records go out as the chunks that they came in.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from kafkawire.codec.columns import row_packer
from kafkawire.codec.layout import FIXED, LONGEST_STRING, FieldLayout, StructLayout
from kafkawire.codec.source import Source
from kafkawire.codec.varint import SMALL, uvarint
from kafkawire.rows import Rows, Shared

Parts = list[bytes | memoryview]
Encoder = Callable[[Any], Parts]
PacedEncoder = Callable[[Any, Callable[[], None]], Parts]
"""(message, tick) -> parts; `tick` is called with each element of an array, and may let others run meanwhile."""


def compile_encoder(layout: StructLayout, name: str) -> Encoder:
    """The function for one layout; `name` goes into tracebacks."""
    function: Encoder = _compile(layout, _Writer(name), "m")
    return function


def compile_paced_encoder(layout: StructLayout, name: str) -> PacedEncoder:
    """The same for answers that may be long: it can be held up between two elements."""
    function: PacedEncoder = _compile(layout, _Writer(name, paced=True), "m, tick")
    return function


def _compile(layout: StructLayout, writer: _Writer, arguments: str) -> Any:
    writer.source.line(f"def encode({arguments}):")
    writer.source.indent += 1
    writer.source.line("parts = []")
    writer.source.line("a = parts.append")
    writer.struct(layout, "m")
    writer.flush()
    writer.source.line("return parts")
    return writer.source.function("encode")


def put_records(append: Callable[[Any], None], value: Any, compact: bool) -> None:
    """Length and chunks of record batches (bytes, one memoryview, or a sequence of them)."""
    if value is None:
        append(SMALL[0] if compact else b"\xff\xff\xff\xff")
        return
    chunks: Sequence[bytes | memoryview] = value if isinstance(value, list | tuple) else (value,)
    size = sum(map(len, chunks))
    append(uvarint(size + 1) if compact else struct.pack(">i", size))
    for chunk in chunks:
        append(chunk)


class _Sharing:
    """Encodes a struct that may have been encoded already; compiled when the first array of that kind comes."""

    __slots__ = ("_encode", "_layout")

    def __init__(self, layout: StructLayout) -> None:
        self._layout = layout
        self._encode: Encoder | None = None

    def __call__(
        self, append: Callable[[Any], None], shared: Shared[Any], tick: Callable[[], None] | None = None
    ) -> None:
        if shared.whole:
            for piece in shared.whole:
                append(piece)
            return
        encode = self._encode
        if encode is None:
            encode = self._encode = compile_encoder(self._layout, f"shared_{self._layout.cls.__name__}")
        encoded = shared.encoded
        for item in shared:
            if tick is not None:
                tick()
            data = encoded.get(id(item))
            if data is None:
                data = encoded[id(item)] = b"".join(encode(item))
            append(data)


def _string_length(size: int) -> bytes:
    """The length in front of a compact string; `size` is one more than its bytes."""
    if size - 1 > LONGEST_STRING:
        raise ValueError(f"a string of {size - 1} bytes, {LONGEST_STRING} is the most")
    return uvarint(size)


class _Writer:
    """Emits the body; `run` holds the fixed-size values that wait for the next pack."""

    def __init__(self, name: str, paced: bool = False) -> None:
        self.source = Source(name)
        self.paced = paced
        self.source.names.update(uv=uvarint, SMALL=SMALL, put_records=put_records, struct_pack=struct.pack, Rows=Rows)
        self.source.names["Shared"] = Shared
        self.source.names["uvs"] = _string_length
        self.run: list[tuple[str, str]] = []
        self.target = "a"

    def flush(self) -> None:
        if self.run:
            forms = "".join(form for form, _ in self.run)
            values = ", ".join(value for _, value in self.run)
            self.source.line(f"{self.target}({self.packer(forms)}({values}))")
            self.run = []

    def packer(self, forms: str) -> str:
        return self.source.constant("P", struct.Struct(">" + forms).pack, key=("P", forms))

    def struct(self, layout: StructLayout, var: str) -> None:
        for field in layout.fields:
            self.field(field, f"{var}.{field.name}")
        if layout.tagged:
            self.tags(layout, var)
        elif layout.flexible:
            self.run.append(("B", "0"))

    def field(self, field: FieldLayout, expression: str) -> None:
        if field.array:
            self.array(field, expression)
        elif field.kind in FIXED:
            self.run.append((FIXED[field.kind][0], expression))
        elif field.kind == "struct":
            self.nested(field, expression)
        elif field.kind == "records":
            self.flush()
            self.source.line(f"put_records({self.target}, {expression}, {field.compact})")
        else:
            self.buffer(field, expression)

    def nested(self, field: FieldLayout, expression: str) -> None:
        assert field.struct is not None
        var = self.source.fresh("s")
        self.source.line(f"{var} = {expression}")
        if not field.nullable:
            self.struct(field.struct, var)
            return
        self.flush()
        null = "b'\\x00'" if field.tag is not None else "b'\\xff'"  # a tagged one has a varint in front, others a byte
        with self.source.block(f"if {var} is None:"):
            self.source.line(f"{self.target}({null})")
        with self.source.block("else:"):
            self.run.append(("b", "1"))
            self.struct(field.struct, var)
            self.flush()

    def buffer(self, field: FieldLayout, expression: str) -> None:
        """A string or bytes: the length joins the run, the contents follow."""
        data, size = self.source.fresh("d"), self.source.fresh("n")
        text = ".encode()" if field.kind == "string" else ""
        if field.nullable:
            self.source.line(f"{data} = {expression}")
            with self.source.block(f"if {data} is None:"):
                self.source.line(f"{data} = b''; {size} = -1")
            with self.source.block("else:"):
                self.source.line(f"{data} = {data}{text}; {size} = len({data})")
        else:
            self.source.line(f"{data} = {expression}{text}; {size} = len({data})")
        if field.compact:
            self.count(f"{size} + 1", f"{size} < 127", "uvs" if field.kind == "string" else "uv")
        else:
            self.run.append(("h" if field.kind == "string" else "i", size))
            self.flush()
        self.source.line(f"{self.target}({data})")

    def count(self, expression: str, is_small: str, varint: str = "uv") -> None:
        """An unsigned varint behind the run: one more byte of the same pack where it is small."""
        if not self.run:
            self.source.line(f"{self.target}(SMALL[{expression}] if {is_small} else {varint}({expression}))")
            return
        run = self.run
        with self.source.block(f"if {is_small}:"):
            self.run = [*run, ("B", expression)]
            self.flush()
        with self.source.block("else:"):
            self.run = run
            self.flush()
            self.source.line(f"{self.target}({varint}({expression}))")

    def array(self, field: FieldLayout, expression: str) -> None:
        var, size = self.source.fresh("v"), self.source.fresh("n")
        self.source.line(f"{var} = {expression}")
        if field.nullable:
            self.source.line(f"{size} = -1 if {var} is None else len({var})")
        else:
            self.source.line(f"{size} = len({var})")
        if field.compact:
            self.count(f"{size} + 1", f"{size} < 127")
        else:
            self.run.append(("i", size))
            self.flush()
        with self.source.block(f"if {size} > 0:"):
            pack = row_packer(field.struct) if field.struct is not None else None
            if pack is None:
                self.items_or_shared(field, var, size)
                return
            rows = self.source.fresh("r")
            packer = self.source.constant("R", pack)
            self.source.line(f"{rows} = {packer}({var}) if type({var}) is Rows else None")
            with self.source.block(f"if {rows} is not None:"):
                self.source.line(f"{self.target}({rows})")
            with self.source.block("else:"):
                self.items_or_shared(field, var, size)

    def items_or_shared(self, field: FieldLayout, var: str, size: str) -> None:
        if field.struct is None or field.struct.fixed:
            self.items(field, var, size)
            return
        share = self.source.constant("S", _Sharing(field.struct))
        with self.source.block(f"if type({var}) is Shared:"):
            self.source.line(f"{share}({self.target}, {var}{', tick' if self.paced else ''})")
        with self.source.block("else:"):
            self.items(field, var, size)

    def items(self, field: FieldLayout, var: str, size: str) -> None:
        if field.kind in FIXED:
            form = FIXED[field.kind][0]
            many = f"'>%d{form}' % {size}" if form != "16s" else f"'>' + '16s' * {size}"
            self.source.line(f"{self.target}(struct_pack({many}, *{var}))")
        elif field.struct is not None and field.struct.fixed and field.struct.fields and not self.paced:
            item = self.source.fresh("i")
            forms = "".join(FIXED[f.kind][0] for f in field.struct.fields) + "B" * field.struct.flexible
            values = ", ".join([f"{item}.{f.name}" for f in field.struct.fields] + ["0"] * field.struct.flexible)
            self.source.line(f"{self.target}(b''.join([{self.packer(forms)}({values}) for {item} in {var}]))")
        else:
            item = self.source.fresh("i")
            with self.source.block(f"for {item} in {var}:"):
                if self.paced:
                    self.source.line("tick()")
                if field.struct is not None:
                    self.struct(field.struct, item)
                else:
                    single = FieldLayout(field.name, field.kind, False, False, field.compact, None, None, None)
                    self.field(single, item)
                self.flush()
                self.source.line("pass")

    def tags(self, layout: StructLayout, var: str) -> None:
        """Tagged fields that differ from their default, by ascending tag."""
        self.flush()
        outer, found = self.target, self.source.fresh("t")
        self.source.line(f"{found} = []")
        for field in layout.tagged:
            value = self.source.fresh("v")
            self.source.line(f"{value} = {var}.{field.name}")
            with self.source.block(f"if {self.differs(field, value)}:"):
                inner = self.source.fresh("b")
                self.source.line(f"{inner} = []")
                self.target = f"{inner}.append"
                self.field(field, value)
                self.flush()
                self.target = outer
                self.source.line(f"{inner} = b''.join({inner})")
                self.source.line(f"{found}.append(uv({field.tag}) + uv(len({inner})) + {inner})")
        self.source.line(f"{outer}(uv(len({found})) + b''.join({found}) if {found} else SMALL[0])")

    def differs(self, field: FieldLayout, value: str) -> str:
        if field.default is None:
            return f"{value} is not None"
        if field.array:
            return f"{value} is None or len({value}) > 0"
        if field.struct is not None and not field.nullable and field.struct.fixed:
            # Field by field in line: comparing structs costs more than encoding all the rest of a Produce answer.
            parts = [(f"{value}.{part.name}", getattr(field.default, part.name)) for part in field.struct.fields]
            return " or ".join(f"{part} != {self.source.constant('D', default)}" for part, default in parts)
        return f"{value} != {self.source.constant('D', field.default)}"
