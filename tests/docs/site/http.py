"""docs/openapi.json as a page: plain Markdown, no script that would have to be loaded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]

_METHODS = ("get", "put", "post", "patch", "delete")


def page(document: Mapping[str, Any]) -> str:
    """Each call with what it takes and gives; then the shapes that they are made of."""
    lines = [
        "# The control port over HTTP", "",
        document["info"]["description"].replace("docs/control.md is the guide.", ""), "",
        "[control.md](../control.md) is the guide, and [openapi.json](../openapi.json) the same for generators of "
        "clients.", "",
    ]  # fmt: skip
    by_tag: dict[str, list[tuple[str, str, Schema]]] = {}
    for path, methods in document["paths"].items():
        for method in _METHODS:
            if method in methods:
                tag = (methods[method].get("tags") or ["other"])[0]
                by_tag.setdefault(tag, []).append((method, path, methods[method]))
    for tag, calls in sorted(by_tag.items()):
        lines += [f"## {tag[:1].upper()}{tag[1:]}", ""]
        for call in calls:
            lines += _call(*call)
    lines += ["## Shapes", ""]
    for name, schema in sorted(document["components"]["schemas"].items()):
        lines += _shape(name, schema)
    return "\n".join(lines)


def _call(method: str, path: str, said: Schema) -> Iterator[str]:
    yield from (f"### `{method.upper()} {path}`", "", _text(said.get("summary")) + ".", "")
    if said.get("description"):
        yield from (_text(said["description"]), "")
    parameters = said.get("parameters", [])
    if parameters:
        yield from ("| parameter | in | type | |", "|---|---|---|---|")
        for one in parameters:
            must = "" if one.get("required") else _default(one["schema"])
            about = _text(one.get("description") or one["schema"].get("description"))
            yield f"| `{one['name']}` | {one['in']} | {_type(one['schema'])} | {_cell(about, must)} |"
        yield ""
    body = _content(said.get("requestBody", {}))
    if body:
        yield from (f"Takes {body}.", "")
    for code, answer in said["responses"].items():
        if code.startswith("2"):
            given = _content(answer)
            yield from (f"Answers {code}" + (f" with {given}." if given else "."), "")


def _content(of: Schema) -> str:
    said = [
        _type(shape["schema"]) if shape.get("schema") and kind == "application/json" else f"`{kind}`"
        for kind, shape in of.get("content", {}).items()
    ]
    return " or ".join(dict.fromkeys(said))


def _shape(name: str, schema: Schema) -> Iterator[str]:
    yield from (f"### {name}", "", _text(schema.get("description")), "")
    if schema.get("properties"):
        required = set(schema.get("required", ()))
        yield from ("| field | type | |", "|---|---|---|")
        for field, kind in schema["properties"].items():
            rest = "" if field in required else _default(kind)
            yield f"| `{field}` | {_type(kind)} | {_cell(_text(kind.get('description')), rest)} |"
        yield ""
    for example in schema.get("examples", [])[:1]:
        yield from ("```json", json.dumps(example, indent=1, ensure_ascii=False), "```", "")


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(map(_type, schema[several])))
    if "enum" in schema or "const" in schema:
        return " or ".join(f"`{json.dumps(one)}`" for one in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"object of {_type(schema['additionalProperties'])}"
    return str(kind)


def _default(schema: Schema) -> str:
    return f"default `{json.dumps(schema['default'])}`" if schema.get("default") is not None else "may be left out"


def _cell(*said: str) -> str:
    return "; ".join(filter(None, said)).replace("|", "\\|").replace("\n", " ")


def _text(said: object) -> str:
    """Nothing of it is markup but code."""
    return "" if said is None else str(said).strip().replace("<", "&lt;")
