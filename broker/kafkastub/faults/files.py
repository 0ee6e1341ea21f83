"""Fault rules from a YAML file: a list of rules, each with the names of `FaultRule`'s fields."""

from __future__ import annotations

from pathlib import Path

from kafkastub.faults.rules import FaultError, FaultRule


def load_rules(path: Path) -> list[FaultRule]:
    """The rules of a file: a list, or a mapping with the one key `faults`. Raises FaultError, which names the rule."""
    try:
        import yaml
    except ImportError:
        raise FaultError("a file of fault rules needs PyYAML: pip install 'kafkastub[cli]'") from None
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FaultError(f"cannot read {path}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise FaultError(f"{path} is no YAML: {' '.join(str(error).split())}") from None
    if isinstance(found, dict) and list(found) == ["faults"]:
        found = found["faults"]
    if found is None:
        return []
    if not isinstance(found, list):
        raise FaultError(f"{path}: a list of rules is wanted, each beginning with a dash")
    rules = []
    for number, each in enumerate(found, 1):
        try:
            rules.append(FaultRule.from_dict(each))
        except FaultError as error:
            raise FaultError(f"{path}, rule {number}: {error}") from None
    return rules
