"""`make clients-code`: the types of each language's client, made from docs/openapi.json by a generator of its own.

    python -m clients.generate [go] [rust] [typescript] [--check]

With --check nothing is written: the status is 1 where a file is not what the generator makes of the description now.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from clients import rust_types

HERE: Final = Path(__file__).resolve().parent
DESCRIPTION: Final = HERE.parent / "docs" / "openapi.json"
OAPI_CODEGEN: Final = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"
_LEFT_OUT: Final = ("examples", "example", "title", "propertyNames", "exclusiveMaximum", "exclusiveMinimum")
"""What a generator for OpenAPI 3.0 cannot read, or makes nothing of."""


def as_3_0(given: Any) -> Any:
    """A part of a description, as OpenAPI 3.0 says the same, with the types that Go has for it.

    Whatever may be of several types is of any, and what is one of some words a string. Of optional fields only numbers,
    and what may be true, false or neither, are pointers: an empty text is none.
    """
    if isinstance(given, list):
        return [as_3_0(one) for one in given]
    if not isinstance(given, dict):
        return given
    if "anyOf" in given:
        kinds = [one for one in given["anyOf"] if one.get("type") != "null"]
        nullable = len(kinds) < len(given["anyOf"])
        found = (
            as_3_0({**kinds[0], **{key: value for key, value in given.items() if key != "anyOf"}})
            if len(kinds) == 1
            else {}
        )
        if "$ref" in found:
            return {"$ref": found["$ref"]}
        about = {"description": given["description"]} if "description" in given else {}
        return {**found, **about, **({"nullable": True} if nullable and found else {})}
    made = {key: as_3_0(value) for key, value in given.items() if key not in _LEFT_OUT or _is_names(given)}
    if "enum" in made:
        said = " or ".join(filter(None, (", ".join(made["enum"][:-1]), made["enum"][-1])))
        made["description"] = "; ".join(filter(None, (made.get("description"), f"one of {said}")))
        del made["enum"]
    if "prefixItems" in made:
        made = {"type": "array", "items": {}}
    if made.get("type") == "number":
        made["format"] = "double"
    if made.get("additionalProperties") is True:
        made["additionalProperties"] = {}
    for name, field in (made.get("properties") or {}).items():
        if (
            name not in made.get("required", ())
            and isinstance(field, dict)
            and field.get("type") not in ("integer", "number")
        ):
            field.setdefault("x-go-type-skip-optional-pointer", "$ref" not in field)
    return made


def _is_pointer(schema: dict[str, Any]) -> bool:
    """Whether its zero says something."""
    return schema.get("type") in ("integer", "number") or (schema.get("type") == "boolean" and "nullable" in schema)


def _is_names(given: dict[str, Any]) -> bool:
    """Whether the keys are names that somebody chose, not words of OpenAPI."""
    return all(isinstance(value, dict) for value in given.values()) and "type" not in given


def for_go(description: dict[str, Any]) -> dict[str, Any]:
    """The whole of it."""
    made: dict[str, Any] = as_3_0(description)
    made["openapi"] = "3.0.3"
    for path in made["paths"].values():
        for operation in path.values():
            for parameter in operation.get("parameters", []):
                schema = parameter["schema"]
                if not parameter.get("required") and not _is_pointer(schema):
                    parameter["x-go-type-skip-optional-pointer"] = schema["x-go-type-skip-optional-pointer"] = True
    return made


def go() -> str:
    """clients/go/types.gen.go."""
    config = {
        "package": "kafkastub",
        "generate": {"models": True},
        "output-options": {"skip-prune": True, "name-normalizer": "ToCamelCaseWithInitialisms"},
    }
    with tempfile.TemporaryDirectory() as folder:
        described, configured = Path(folder, "openapi.json"), Path(folder, "config.json")
        described.write_text(json.dumps(for_go(json.loads(DESCRIPTION.read_text()))))
        configured.write_text(json.dumps(config))
        command = ["go", "run", OAPI_CODEGEN, "-config", str(configured), str(described)]
        text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=folder).stdout
    return text[text.index("// Code generated") :]  # the package has a comment of its own


def typescript() -> str:
    """clients/typescript/src/openapi.ts."""
    command = [
        "npx",
        "--no-install",
        "openapi-typescript",
        str(DESCRIPTION),
        "--root-types",
        "--root-types-no-schema-prefix",
    ]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=HERE / "typescript").stdout


FILES: Final[dict[str, tuple[Path, Callable[[], str]]]] = {
    "go": (HERE / "go" / "types.gen.go", go),
    "rust": (HERE / "rust" / "src" / "types.rs", rust_types.formatted),
    "typescript": (HERE / "typescript" / "src" / "openapi.ts", typescript),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("languages", nargs="*", choices=[[], *FILES])
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    stale = []
    for language in arguments.languages or FILES:
        file, make = FILES[language]
        text = make()
        if not arguments.check:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            stale.append(file)
    for file in stale:
        print(f"{file} is not what docs/openapi.json says: run `make clients-code`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
