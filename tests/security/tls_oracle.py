"""The real Apache Kafka with listeners that speak TLS, and the same listeners for the stub."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kafkastub.security.tls_made import Authority
from tests.oracle.apache_kafka import ApacheKafka, _free_ports

LISTENERS = ("TLS", "MAPPED", "ASKED", "OLDER")
RULES = (
    r"RULE:^CN=([^,]*),OU=lower.*$/$1@lower/L, RULE:^CN=([^,]*),OU=upper.*$/$1-$2\/x/U ,"
    r"RULE:^.*CN=(.*?),OU=(.*?)$/$2:$1/,RULE:^CN=Bob$/$0!/"
)


def listener_settings(server: tuple[bytes, bytes], trusted: bytes) -> dict[str, object]:
    """TLS: certificate required; MAPPED: with rules; ASKED: requested; OLDER: TLS 1.2, required."""
    return {
        "listener.security.protocol.map": ",".join(
            ("PLAINTEXT:PLAINTEXT", "CONTROLLER:PLAINTEXT", *(f"{name}:SSL" for name in LISTENERS))
        ),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": _one_line(server[0]),
        "ssl.keystore.key": _one_line(server[1]),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": _one_line(trusted),
        "ssl.client.auth": "required",
        "listener.name.asked.ssl.client.auth": "requested",
        "listener.name.mapped.ssl.principal.mapping.rules": RULES,
        "listener.name.older.ssl.enabled.protocols": "TLSv1.2",
        "delegation.token.secret.key": "secret",
    }


def _one_line(pem: bytes) -> str:
    """As it stands in a properties file: blanks for line ends."""
    return pem.decode().strip().replace("\n", " ")


class TlsKafka(ApacheKafka):
    """`ports`: listener name to port."""

    ports: Mapping[str, int]

    def _properties(self, controller_port: int, logs: Path) -> str:
        self.ports = dict(zip(LISTENERS, _free_ports(len(LISTENERS)), strict=True))
        more = "".join(f",{name}://127.0.0.1:{port}" for name, port in self.ports.items())
        lines = super()._properties(controller_port, logs).splitlines()
        with_listeners = (line + more if "listeners=" in line else line for line in lines)
        return "".join(line.replace("\\", "\\\\") + "\n" for line in with_listeners)


__all__ = ["LISTENERS", "RULES", "Authority", "TlsKafka", "listener_settings"]
