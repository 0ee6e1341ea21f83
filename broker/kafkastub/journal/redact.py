"""What must not be read in a journal: tokens and passwords of SASL, salted passwords of SCRAM users, delegation tokens'
keys, and configuration values that Kafka marks sensitive.

Of a raw frame the whole body goes, not fields of it: what is not there cannot leak.
"""

from __future__ import annotations

import re
from typing import Any, Final

from kafkawire.api import ApiKey
from kafkawire.schema import Struct

SECRET_APIS: Final = frozenset(
    {
        ApiKey.SASL_AUTHENTICATE,
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        ApiKey.CREATE_DELEGATION_TOKEN,
        ApiKey.RENEW_DELEGATION_TOKEN,
        ApiKey.EXPIRE_DELEGATION_TOKEN,
        ApiKey.DESCRIBE_DELEGATION_TOKEN,
    }
)
"""APIs whose requests or answers carry secrets whatever they are about."""

HIDDEN: Final = "[hidden]"
"""Stands for a configuration value, as Kafka's own logs write it."""

_SECRET_FIELDS: Final = frozenset({"auth_bytes", "salt", "salted_password", "hmac"})
_CONFIG_APIS: Final = frozenset({ApiKey.ALTER_CONFIGS, ApiKey.INCREMENTAL_ALTER_CONFIGS, ApiKey.CREATE_TOPICS})
_KEYS: Final = frozenset(int(key).to_bytes(2) for key in ApiKey)
_TEXT: Final = 0x20
"""The first character that is not for control; Kafka's versions are below it."""
_sensitive = re.compile(
    r"password|passphrase|secret|jaas|credential|token|keystore\.key|certificate|kafkastub\.users", re.IGNORECASE
).search
_KEPT: Final = 8
"""Bytes in front of a frame that stay: API key, version and correlation id, or size and correlation id."""


def redacted_frame(api_key: int, frame: bytes) -> bytes:
    """The frame of a request or an answer; where it may carry a secret, all behind its head is zeros."""
    if api_key in SECRET_APIS or (api_key in _CONFIG_APIS and _sensitive(frame.decode("latin-1"))):
        return frame[:_KEPT] + bytes(max(0, len(frame) - _KEPT))
    return frame


def is_redacted(api_key: int, frame: bytes) -> bool:
    """Whether a frame of a written journal is without what was behind its head: it cannot be sent again."""
    return api_key in SECRET_APIS or (api_key in _CONFIG_APIS and not any(frame[_KEPT:]))


def may_be_token(frame: bytes, has_sasl: bool) -> bool:
    """Whether it does not begin as a request does: with a key that Kafka has, and a version (two bytes, and no text).

    Where nobody logs in (`has_sasl` is false) one of the two is enough: an API, or a version, of a newer release.
    """
    known = len(frame) >= _KEPT and frame[:2] in _KEYS
    versioned = len(frame) >= _KEPT and frame[2] == 0 and frame[3] < _TEXT
    return not (known and versioned if has_sasl else known or versioned)


def hide_secrets(struct: Any) -> None:
    """Take secrets out of a decoded message, in place."""
    for name, kind, *_ in struct.FIELDS:
        value = getattr(struct, name)
        if name in _SECRET_FIELDS and kind == "bytes":
            setattr(struct, name, b"")
        elif name == "value" and value is not None and _sensitive(str(getattr(struct, "name", ""))):
            struct.value = HIDDEN
        elif isinstance(value, Struct):
            hide_secrets(value)
        elif isinstance(value, list | tuple):
            for each in value:
                if isinstance(each, Struct):
                    hide_secrets(each)
