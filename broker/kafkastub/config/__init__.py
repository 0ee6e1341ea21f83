"""Kafka's configuration names, typed and validated; the behaviour profile; properties files."""

from .broker import STUB_DEFAULTS, BrokerConfig, synonyms
from .errors import ConfigError, InvalidValue, UnknownTopicConfig
from .ignored import RACK_AWARE, misleading
from .listeners import (
    TLS_PROTOCOLS,
    Address,
    Listener,
    Listeners,
    check_room,
    parse_address,
    parse_advertised,
    plan_listeners,
)
from .profile import PROFILES, Profile
from .properties import load_properties, parse_properties
from .topic import topic_settings, validate_topic_configs

__all__ = [
    "PROFILES",
    "RACK_AWARE",
    "STUB_DEFAULTS",
    "TLS_PROTOCOLS",
    "Address",
    "BrokerConfig",
    "ConfigError",
    "InvalidValue",
    "Listener",
    "Listeners",
    "Profile",
    "UnknownTopicConfig",
    "check_room",
    "load_properties",
    "misleading",
    "parse_address",
    "parse_advertised",
    "parse_properties",
    "plan_listeners",
    "synonyms",
    "topic_settings",
    "validate_topic_configs",
]
