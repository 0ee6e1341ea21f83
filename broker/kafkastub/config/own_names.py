"""Whether a name that begins like ours is one of ours."""

from __future__ import annotations

from .errors import ConfigError
from .own import OWN, PREFIX, PROFILE


def check_name(name: str) -> None:
    """Raises ConfigError for a name with our prefix that is none of ours: it can only be a slip of the pen."""
    if name.startswith(PREFIX) and name not in OWN and name not in PROFILE:
        from .mistyped import question

        known = f"known are {', '.join(sorted([*OWN, *PROFILE]))}"
        raise ConfigError(f"{name} is refused: {' '.join(filter(None, (question(name), known)))}")
