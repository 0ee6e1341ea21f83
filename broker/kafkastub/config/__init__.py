"""Kafka's configuration names, typed and validated; the behaviour profile; properties files."""

from .broker import STUB_DEFAULTS, BrokerConfig, synonyms
from .errors import ConfigError, InvalidValue, UnknownTopicConfig
from .profile import PROFILES, Profile
from .properties import load_properties, parse_properties
from .topic import topic_settings, validate_topic_configs

__all__ = [
    "PROFILES",
    "STUB_DEFAULTS",
    "BrokerConfig",
    "ConfigError",
    "InvalidValue",
    "Profile",
    "UnknownTopicConfig",
    "load_properties",
    "parse_properties",
    "synonyms",
    "topic_settings",
    "validate_topic_configs",
]
