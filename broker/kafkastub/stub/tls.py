"""`stub.tls`: the CA file, certificates for clients, and the server certificate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkastub.security.tls import ClientCertificate, Tls
    from kafkastub.stub.runner import Runner


class StubTls:
    """The certificates of a stub whose listeners speak TLS (docs/security.md)."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    @property
    def ca_file(self) -> str:
        """The path of the CA certificate (PEM) that clients of a TLS listener trust. Raises RuntimeError without one.

        The file is deleted with the stub, unless `kafkastub.tls.dir` names a folder for it.
        """
        return self._runner.call(lambda: self._tls.ca_file)

    def client_certificate(
        self, subject: str = "CN=client", *, expired: bool = False, other_ca: bool = False
    ) -> ClientCertificate:
        """Return a client certificate for mutual TLS: paths of PEM files (`certificate`, `key`, and `both` in one).

        Args:
            subject: the name in the certificate, as in `CN=alice,OU=dev`.
            expired: whether it expired an hour ago.
            other_ca: whether it is signed by an authority that the stub does not trust.

        Raises ValueError for an invalid subject, RuntimeError if no listener requests certificates of the stub's
        authority.
        """
        return self._runner.call(lambda: self._tls.client_certificate(subject, expired=expired, other_ca=other_ca))

    def show_certificate(
        self, *, expired: bool = False, other_ca: bool = False, hosts: Sequence[str] | None = None
    ) -> None:
        """Use another server certificate for new connections, to test how clients react; without arguments, a valid
        one.

        Args:
            expired: whether it expired an hour ago.
            other_ca: whether it is signed by an authority that is not in `ca_file`.
            hosts: the names and addresses that it is valid for.

        Raises RuntimeError if the stub did not generate the certificate.
        """
        self._runner.call(lambda: self._tls.show(expired=expired, other_ca=other_ca, hosts=hosts))

    @property
    def _tls(self) -> Tls:
        tls = self._runner.running().tls
        if tls is None:
            raise RuntimeError("no listener of this stub speaks TLS: give one the protocol SSL (docs/security.md)")
        return tls
