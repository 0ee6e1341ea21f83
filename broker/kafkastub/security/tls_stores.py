"""Key stores and trust stores as Kafka's configuration spells them, read into PEM.

Sources: ``DefaultSslEngineFactory`` (what may be combined with what), KIP-651 (PEM), KIP-684 (ssl.client.auth of a
SASL_SSL listener). Nothing of a key or a password is ever in an error's text.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from kafkastub.config import BrokerConfig, ConfigError, InvalidValue, Listener, definition
from kafkastub.config.kafka_table import BROKER

PEM: Final = "PEM"
PKCS12: Final = "PKCS12"
JKS: Final = "JKS"
SECURITY_EXTRA: Final = "pip install 'kafkastub[security]'"
_JKS_MAGIC: Final = b"\xfe\xed\xfe\xed"
_DER_SEQUENCE: Final = b"\x30"
_BLOCK: Final = re.compile(
    r"-+BEGIN ([A-Z0-9 ]+)-+\s+(?:[^\r\n]*:[^\r\n]*[\r\n]+)*([a-zA-Z0-9/+=\s]*)-+END \1-+", re.ASCII
)
_KEYS: Final = ("PRIVATE KEY", "ENCRYPTED PRIVATE KEY")


class KeyStore(NamedTuple):
    """What a server shows: certificate chain and key in one PEM text, and the key's password."""

    pem: bytes
    password: str | None


class ListenerSettings:
    """``ssl.…`` of one listener: what ``listener.name.<name>.`` says wins."""

    def __init__(self, config: BrokerConfig, listener: Listener) -> None:
        self._config = config
        self._prefix = f"listener.name.{listener.name.lower()}."
        self.listener = listener

    def name_of(self, key: str) -> str:
        """The name by which the value was given."""
        return self._prefix + key if self._prefix + key in self._config.static else key

    def __getitem__(self, key: str) -> Any:
        """The typed value. Raises ConfigError for one of the listener that Kafka would refuse."""
        text = self._config.static.get(self._prefix + key)
        if text is None:
            return self._config[key]
        try:
            value = definition.parse(key, BROKER[key], text)
            definition.check(key, BROKER[key], value)
        except InvalidValue:
            rule = definition.allowed(BROKER[key])
            raise ConfigError(f"{self._prefix}{key} is refused: allowed is {rule}") from None
        return value

    @property
    def client_auth(self) -> str:
        """``ssl.client.auth``; of a SASL_SSL listener only where it is said of this listener."""
        key = "ssl.client.auth"
        if self.listener.protocol == "SASL_SSL" and self._prefix + key not in self._config.static:
            return "none"
        return str(self[key])

    def refuse(self, key: str, why: str) -> NoReturn:
        """Raises ConfigError; the value is not shown."""
        raise ConfigError(f"{self.name_of(key)} of listener {self.listener.name} is refused: {why}")


def key_store(settings: ListenerSettings) -> KeyStore | None:
    """What the configuration gives the server to show, None where it gives nothing. Raises ConfigError."""
    kind = str(settings["ssl.keystore.type"]).upper()
    location, password = settings["ssl.keystore.location"], settings["ssl.keystore.password"]
    key, chain = settings["ssl.keystore.key"], settings["ssl.keystore.certificate.chain"]
    key_password = settings["ssl.key.password"]
    if key is not None or chain is not None:
        given, missing = "ssl.keystore.key", "ssl.keystore.certificate.chain"
        if key is None:
            given, missing = missing, given
        if kind != PEM:
            settings.refuse(given, f"it is for {settings.name_of('ssl.keystore.type')}=PEM only, and that is {kind}")
        if location is not None:
            settings.refuse(given, "ssl.keystore.location is set too, and only one of them may be")
        if key is None or chain is None:
            settings.refuse(given, f"{missing} must be set too")
        return _pem_keys(settings, "ssl.keystore.key", f"{chain}\n{key}", key_password)
    data = _file(settings, "keystore", location, password)
    if data is None:
        return None
    if _kind(settings, "keystore", kind, data) == PEM:
        if password is not None:
            settings.refuse("ssl.keystore.password", "a PEM file has none; its key's is ssl.key.password")
        return _pem_keys(settings, "ssl.keystore.location", _text(settings, "keystore", data), key_password)
    certificates, private = _from_pkcs12(settings, "keystore", data, password)
    if private is None or not certificates:
        settings.refuse("ssl.keystore.location", f"{location} holds no private key with a certificate")
    return KeyStore(b"".join(certificates) + private, None)


def trust_store(settings: ListenerSettings) -> str | None:
    """The certificates (PEM) that clients' certificates are checked with, None where none are given.

    Raises ConfigError.
    """
    kind = str(settings["ssl.truststore.type"]).upper()
    location, password = settings["ssl.truststore.location"], settings["ssl.truststore.password"]
    inline = settings["ssl.truststore.certificates"]
    if inline is not None:
        name = "ssl.truststore.certificates"
        if kind != PEM:
            settings.refuse(name, f"it is for {settings.name_of('ssl.truststore.type')}=PEM only, and that is {kind}")
        if location is not None:
            settings.refuse(name, "ssl.truststore.location is set too, and only one of them may be")
        return _pem_certificates(settings, name, inline)
    data = _file(settings, "truststore", location, password)
    if data is None:
        return None
    if _kind(settings, "truststore", kind, data) == PEM:
        if password is not None:
            settings.refuse("ssl.truststore.password", "a PEM file has none")
        return _pem_certificates(settings, "ssl.truststore.location", _text(settings, "truststore", data))
    certificates, _ = _from_pkcs12(settings, "truststore", data, password)
    if not certificates:
        settings.refuse("ssl.truststore.location", f"{location} holds no certificates")
    return b"".join(certificates).decode()


def _file(settings: ListenerSettings, store: str, location: str | None, password: str | None) -> bytes | None:
    """What is in a store's file; None where there is none. Raises ConfigError."""
    name = f"ssl.{store}.location"
    if location is None:
        if password is not None:
            settings.refuse(f"ssl.{store}.password", f"there is no {name} that it is for")
        return None
    try:
        return Path(location).read_bytes()
    except OSError as error:
        settings.refuse(name, f"{location} cannot be read ({error.strerror})")


def _kind(settings: ListenerSettings, store: str, kind: str, data: bytes) -> str:
    """PEM or PKCS12. Java reads a PKCS12 file as JKS, too, so that many never set the type. Raises ConfigError."""
    name, location = f"ssl.{store}.type", f"ssl.{store}.location"
    if kind not in (PEM, PKCS12, JKS):
        settings.refuse(name, f"{kind} is not a type that is known; PEM and PKCS12 are")
    if kind != PEM and data.startswith(_JKS_MAGIC):
        settings.refuse(
            location,
            "it is a JKS file, which only Java reads; make a PKCS12 file of it with keytool -importkeystore "
            "-srckeystore FILE -destkeystore FILE.p12 -deststoretype PKCS12",
        )
    if kind != PEM and not data.startswith(_DER_SEQUENCE):
        pem = b"-----BEGIN" in data
        settings.refuse(location, f"it is a PEM file, so set {name}=PEM" if pem else "it is not a PKCS12 file")
    return PEM if kind == PEM else PKCS12


def _text(settings: ListenerSettings, store: str, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        settings.refuse(f"ssl.{store}.location", "it is not a PEM file")


def _pem_keys(settings: ListenerSettings, name: str, text: str, password: str | None) -> KeyStore:
    certificates = _blocks(text, lambda kind: kind.endswith("CERTIFICATE"))
    keys = _blocks(text, lambda kind: kind in _KEYS)
    if not certificates:
        settings.refuse(name, "there is no certificate in it")
    if len(keys) != 1:
        other = not keys and _blocks(text, lambda kind: kind.endswith("PRIVATE KEY"))
        why = "its private key is not in the form PKCS#8, which openssl pkcs8 -topk8 makes"
        settings.refuse(name, why if other else f"expected one private key, found {len(keys)}")
    if "ENCRYPTED" in keys[0] and password is None:
        settings.refuse(name, "its private key is encrypted, so ssl.key.password is needed")
    return KeyStore("".join((*certificates, *keys)).encode(), password)


def _pem_certificates(settings: ListenerSettings, name: str, text: str) -> str:
    certificates = _blocks(text, lambda kind: kind.endswith("CERTIFICATE"))
    if not certificates:
        settings.refuse(name, "there is no certificate in it")
    return "".join(certificates)


def _blocks(text: str, wanted: Callable[[str], bool]) -> list[str]:
    """The PEM blocks of a kind, with lines as OpenSSL wants them: a properties file has everything on one line."""
    found = []
    for match in _BLOCK.finditer(text):
        if wanted(match[1]):
            lines = "\n".join(textwrap.wrap("".join(match[2].split()), 64))
            found.append(f"-----BEGIN {match[1]}-----\n{lines}\n-----END {match[1]}-----\n")
    return found


def _from_pkcs12(
    settings: ListenerSettings, store: str, data: bytes, password: str | None
) -> tuple[list[bytes], bytes | None]:
    name = f"ssl.{store}.location"
    try:
        from kafkastub.security.tls_made import from_pkcs12
    except ImportError:
        settings.refuse(name, f"reading PKCS12 needs the extra security: {SECURITY_EXTRA}")
    try:
        return from_pkcs12(data, password)
    except ValueError:
        settings.refuse(name, f"it cannot be opened: ssl.{store}.password is wrong, or it is not a PKCS12 file")


__all__ = ["SECURITY_EXTRA", "KeyStore", "ListenerSettings", "key_store", "trust_store"]
