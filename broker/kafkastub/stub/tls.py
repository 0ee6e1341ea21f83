"""`stub.tls`: the CA file, certificates for clients, and the one that it shows them."""

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
        """Path of the certificate, PEM, that clients of a listener with TLS trust. Raises RuntimeError: there is none.

        It goes with the stub, unless `kafkastub.tls.dir` names a place for it.
        """
        return self._runner.call(lambda: self._tls.ca_file)

    def client_certificate(
        self, subject: str = "CN=client", *, expired: bool = False, other_ca: bool = False
    ) -> ClientCertificate:
        """A certificate for a client, for mutual TLS: paths of PEM files (`certificate`, `key`, and `both` in one).

        Args:
            subject: whom it names, as in `CN=alice,OU=dev`.
            expired: whether it has expired, an hour ago.
            other_ca: whether an authority signed it that the stub does not trust.

        Raises ValueError for a subject that is none, RuntimeError where no listener asks for one of the stub's.
        """
        return self._runner.call(lambda: self._tls.client_certificate(subject, expired=expired, other_ca=other_ca))

    def show_certificate(
        self, *, expired: bool = False, other_ca: bool = False, hosts: Sequence[str] | None = None
    ) -> None:
        """Show clients to come another server certificate, to see what they make of it; without arguments a good one.

        Args:
            expired: whether it has expired, an hour ago.
            other_ca: whether an authority signed it that is not in `ca_file`.
            hosts: the names and addresses that it is good for.

        Raises RuntimeError where the certificate is not one of the stub's.
        """
        self._runner.call(lambda: self._tls.show(expired=expired, other_ca=other_ca, hosts=hosts))

    @property
    def _tls(self) -> Tls:
        tls = self._runner.running().tls
        if tls is None:
            raise RuntimeError("no listener of this stub speaks TLS: give one the protocol SSL (docs/security.md)")
        return tls
