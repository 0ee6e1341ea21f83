"""How the cluster is reached: what a properties file of a Kafka client says of security.

TLS of the clients ends at the proxy and begins anew here. SASL passes through as it is: each client is who it says,
and nobody gets in by the proxy's own name. That one is for what the proxy itself asks the cluster.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kafkastub.config import BrokerConfig, ConfigError, Listener, Profile, load_properties
from kafkastub.proxy.naming import Address

_PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_OUR_OWN: Final = ("ssl.ca.location", "ssl.certificate.location", "ssl.key.location")
"""Names of librdkafka, which clients of other languages than Java use."""


class Upstream:
    """The settings.

    Attributes:
        protocol: `security.protocol`: what the cluster's listener speaks.
        context: for TLS; None without.
        shows_certificate: whether the proxy shows the cluster a certificate: then all who come by it are that one.
        properties: all that was given.
    """

    def __init__(
        self, properties: Mapping[str, str] | None = None, reach: Mapping[Address, Address] | None = None
    ) -> None:
        """`reach`: where nodes are reached, by the addresses at which they say they are. Raises ConfigError."""
        self._reach = dict(reach or {})
        self.properties = dict(properties or {})
        self.protocol = self.properties.get("security.protocol", "PLAINTEXT").upper()
        if self.protocol not in _PROTOCOLS:
            raise ConfigError(f"security.protocol={self.protocol} is refused: expected one of {', '.join(_PROTOCOLS)}")
        self.context: ssl.SSLContext | None = None
        self.shows_certificate = False
        if self.protocol.endswith("SSL"):
            self.context = self._context()

    @classmethod
    def of(
        cls,
        given: str | os.PathLike[str] | Mapping[str, str] | None,
        reach: Mapping[Address, Address] | None = None,
    ) -> Upstream:
        """From a file, or from what is in one. Raises ConfigError."""
        if given is None or isinstance(given, Mapping):
            return cls(given, reach)
        return cls(load_properties(Path(given)), reach)

    def reached(self, host: str, port: int) -> Address:
        """Where to connect to for what is said to be there."""
        return self._reach.get((host, port), (host, port))

    @property
    def has_sasl(self) -> bool:
        return self.protocol.startswith("SASL_")

    @property
    def credentials(self) -> tuple[str, str, str] | None:
        """Mechanism, user and password of the proxy itself; None where none are given."""
        mechanism = self.properties.get("sasl.mechanism", "")
        jaas = self.properties.get("sasl.jaas.config", "")
        user = _option(jaas, "username") or self.properties.get("sasl.username")
        password = _option(jaas, "password") or self.properties.get("sasl.password")
        if not self.has_sasl or not user or password is None:
            return None
        return mechanism or "PLAIN", user, password

    def _context(self) -> ssl.SSLContext:
        from kafkastub.security.tls_stores import ListenerSettings, key_store, trust_store

        own = {key: value for key, value in self.properties.items() if key.startswith("ssl.") and key not in _OUR_OWN}
        own.pop("ssl.endpoint.identification.algorithm", None)
        settings = ListenerSettings(BrokerConfig(own, Profile.named("kips")), Listener("SSL", "", 0, "SSL"))
        context = ssl.create_default_context()
        ca = self.properties.get("ssl.ca.location")
        trusted = trust_store(settings)
        try:
            if trusted is not None or ca is not None:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                context.load_verify_locations(cafile=ca, cadata=trusted)
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
            if self.properties.get("ssl.endpoint.identification.algorithm", "https") == "":
                context.check_hostname = False
            if location := self.properties.get("ssl.certificate.location"):
                context.load_cert_chain(location, self.properties.get("ssl.key.location"))
                self.shows_certificate = True
        except (OSError, ssl.SSLError) as error:
            raise ConfigError(f"the certificates for the cluster are refused: {error.strerror or error}") from None
        shown = key_store(settings)
        if shown is not None:
            _load(context, shown.pem, shown.password or "")
            self.shows_certificate = True
        return context


def _option(jaas: str, name: str) -> str | None:
    """`username="alice"` in a JAAS configuration."""
    _, found, rest = jaas.partition(f"{name}=")
    if not found:
        return None
    quote = rest[:1]
    return rest[1:].partition(quote)[0] if quote in ("'", '"') else rest.split()[0].rstrip(";")


def _load(context: ssl.SSLContext, pem: bytes, password: str) -> None:
    """The ssl module reads a key from a file only. Raises ConfigError."""
    import tempfile

    from kafkastub.security.private_files import write_private

    with tempfile.TemporaryDirectory(prefix="kafkastub-tls-") as folder:
        path = Path(folder) / "shown.pem"
        write_private(path, pem)
        try:
            context.load_cert_chain(path, password=password)
        except (ssl.SSLError, ValueError):
            raise ConfigError("the key store for the cluster is refused: the key does not belong to it") from None
