"""Hosts of access control entries: an address, "*", or (KIP-1276) a range of addresses in CIDR notation.

Kafka: ``AclControlManager.validateHostPattern``, ``CidrUtils``, ``SubnetUtils`` of Commons Net.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_IPV4_RANGE: Final = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})/([0-9]{1,2})")
_IPV4: Final = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})")
_NUMBER: Final = re.compile(r"[+-]?\d{1,9}")
_MOST_BITS: Final = {4: 32, 6: 128}

Range = tuple[int, int, int]
"""The version of IP, and the first and last address."""


def refusal(host: str) -> str | None:
    """Why an entry may not have this host, in Kafka's words; None where it may."""
    if not host:
        return "Host pattern cannot be null or empty"
    if "/" in host:
        try:
            _parsed(host)
        except ValueError as error:
            return f"Invalid CIDR notation '{host}': {error}"
    return None


def in_range(host: str, pattern: str) -> bool:
    """Whether the address `host` is in the range `pattern`; False where that is none, or one of the other IP."""
    wanted = _range(pattern)
    if wanted is None:
        return False
    version, first, last = wanted
    try:
        address = _ipv6(host) if version == 6 else _ipv4(host)
    except ValueError:
        return False
    return first <= address <= last and (version == 6 or address != 0)


@lru_cache(maxsize=1024)
def _range(pattern: str) -> Range | None:
    try:
        return _parsed(pattern) if "/" in pattern else None
    except ValueError:
        return None


def _parsed(text: str) -> Range:
    """Raises ValueError with the text of Kafka's library."""
    if ":" in text:
        version, (address, bits) = 6, _ipv6_parts(text)
    else:
        version, (address, bits) = 4, _ipv4_parts(text)
    rest = (1 << (_MOST_BITS[version] - bits)) - 1
    return version, address & ~rest, address | rest


def _ipv4_parts(text: str) -> tuple[int, int]:
    found = _IPV4_RANGE.fullmatch(text)
    if found is None:
        raise ValueError(f"Could not parse [{text}]")
    return _joined(found), _checked(int(found[5]), 32)


def _ipv4(text: str) -> int:
    found = _IPV4.fullmatch(text)
    if found is None:
        raise ValueError(f"Could not parse [{text}]")
    return _joined(found)


def _joined(found: re.Match[str]) -> int:
    address = 0
    for part in range(1, 5):
        address = address << 8 | _checked(int(found[part]), 255)
    return address


def _checked(value: int, most: int) -> int:
    if value > most:
        raise ValueError(f"Value [{value}] not in range [0,{most}]")
    return value


def _ipv6_parts(text: str) -> tuple[int, int]:
    address, _, bits = text.partition("/")
    if not _NUMBER.fullmatch(bits):
        raise ValueError(f"Could not parse [{text}] - invalid prefix length")
    if not 0 <= int(bits) <= 128:
        raise ValueError(f"Could not parse [{text}] - prefix length must be between 0 and 128")
    return _ipv6(address), int(bits)


def _ipv6(text: str) -> int:
    """The address as a number. One in brackets, or with a zone, is one; an IPv4 address in it is none (Java's rule)."""
    from ipaddress import IPv4Address, ip_address  # only where somebody has such an entry

    bare = text[1:-1] if text[:1] == "[" and text[-1:] == "]" else text
    try:
        address = ip_address(bare)
    except ValueError:
        raise ValueError(f"Could not parse [{text}]") from None
    if isinstance(address, IPv4Address) or address.ipv4_mapped is not None:
        raise ValueError(f"Could not parse [{text}] - not an IPv6 address")
    return int(address)
