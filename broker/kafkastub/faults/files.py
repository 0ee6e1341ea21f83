"""Fault rules from a YAML file: a list of rules, each with the names of `FaultRule`'s fields."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kafkastub.faults.rules import FaultError, FaultRule

if TYPE_CHECKING:
    import yaml

_MOST_BYTES: Final = 1 << 20
_MOST_VALUES: Final = 100_000
"""Of a file, with what its aliases stand for: ten of them, each of ten of the one before, are ten thousand millions."""

_LONGEST: Final = 500
"""Characters of what the reader of YAML has to say."""


def load_rules(path: Path) -> list[FaultRule]:
    """The rules of a file: a list, or a mapping with the one key `faults`. Raises FaultError, which names the rule."""
    try:
        import yaml
    except ImportError:
        raise FaultError("a file of fault rules needs PyYAML: pip install 'kafkastub[cli]'") from None
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise FaultError(f"{path} has more than {_MOST_BYTES} bytes")
        text = content.decode("utf-8")
        if (node := yaml.compose(text, yaml.SafeLoader)) is not None and _written_out(node, {}) > _MOST_VALUES:
            raise FaultError(f"{path} has more than {_MOST_VALUES} values, with its aliases written out")
        found = yaml.safe_load(text)
    except OSError as error:
        raise FaultError(f"cannot read {path}: {error.strerror}") from None
    except RecursionError:
        raise FaultError(f"{path} is nested too deeply, or contains itself") from None
    except FaultError:
        raise
    except (yaml.YAMLError, ValueError) as error:  # a ValueError for a date or a number that cannot be
        raise FaultError(f"{path} is not valid YAML: {' '.join(str(error).split())[:_LONGEST]}") from None
    if isinstance(found, dict) and list(found) == ["faults"]:
        found = found["faults"]
    if found is None:
        return []
    if not isinstance(found, list):
        raise FaultError(f"{path}: expected a list of rules, each beginning with a dash")
    rules = []
    for number, each in enumerate(found, 1):
        try:
            rules.append(FaultRule.from_dict(each))
        except FaultError as error:
            raise FaultError(f"{path}, rule {number}: {error}") from None
    return rules


def _written_out(node: yaml.Node, known: dict[int, int]) -> int:
    """How many values it would be without aliases. RecursionError for one that is in itself, by an alias."""
    size = known.get(id(node))
    if size is None:
        value: Any = node.value
        parts = (
            ()
            if isinstance(value, str)
            else (each for one in value for each in (one if type(one) is tuple else (one,)))
        )
        size = known[id(node)] = 1 + sum(_written_out(each, known) for each in parts)
    return size
