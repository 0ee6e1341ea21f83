"""TLS of the listeners that speak it (SSL, SASL_SSL): what each of them shows, trusts and makes of a client.

A listener without a key store gets a certificate made for it, by an authority of the stub's own. Only a broker with
such a listener imports this module, and only one that makes certificates needs the extra `security`.
"""

from __future__ import annotations

import ssl
import tempfile
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkastub.config import TLS_PROTOCOLS, Address, BrokerConfig, ConfigError, Listener, Listeners
from kafkastub.security.private_files import write_private
from kafkastub.security.tls_names import NoRuleApplies, PrincipalRules, RuleError, subject_of
from kafkastub.security.tls_stores import SECURITY_EXTRA, ListenerSettings, key_store, trust_store

if TYPE_CHECKING:
    from kafkastub.security.tls_made import Authority

FOLDER: Final = "kafkastub.tls.dir"
ANONYMOUS: Final = "User:ANONYMOUS"
_ALWAYS: Final = ("localhost", "127.0.0.1", "::1")
_VERSIONS: Final = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_AUTH: Final = {"none": ssl.CERT_NONE, "requested": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}


class TlsError(RuntimeError):
    """A certificate is asked for that cannot be had; the text says why."""


class ClientCertificate(NamedTuple):
    """A client's certificate and key, for its configuration. Paths of PEM files, gone with the broker.

    Attributes:
        certificate, key: of their own, as most clients want them.
        both: key and certificate in one file, as Java clients want it (ssl.keystore.type=PEM, ssl.keystore.location).
    """

    certificate: str
    key: str
    both: str


class ListenerTls:
    """TLS of one listener.

    Attributes:
        context: what its connections are made with.
        protocol: its security protocol: on SSL the certificate is who the client is, on SASL_SSL it is not.
        made: whether its certificate is one that the stub made.
    """

    def __init__(self, config: BrokerConfig, listener: Listener, material: Material) -> None:
        """Raises ConfigError."""
        settings = ListenerSettings(config, listener)
        self.protocol = listener.protocol
        self.enabled = _enabled(settings)
        self.context = context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version, context.maximum_version = _VERSIONS[self.enabled[0]], _VERSIONS[self.enabled[-1]]
        # A resumed session would show neither side the other's certificate, and tests change certificates.
        context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_RENEGOTIATION
        context.num_tickets = 0
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # as in Java, whatever is trusted need not be a root
        context.verify_mode = _AUTH[settings.client_auth]
        self._rules = _rules(settings)
        shown = key_store(settings)
        self.made = shown is None
        if shown is None:
            material.show(context)
        else:
            try:
                material.load(context, shown.pem, shown.password or "")
            except (ssl.SSLError, ValueError):
                name = settings.name_of("ssl.keystore.location")
                raise ConfigError(
                    f"the key store of listener {listener.name} ({name} or its like) is refused: the key does not "
                    "belong to the first certificate, or ssl.key.password is wrong"
                ) from None
        trusted = trust_store(settings)
        self.trusts_own = trusted is None and context.verify_mode != ssl.CERT_NONE
        if self.trusts_own:
            trusted = material.authority.certificate.decode()
        if trusted is not None:
            try:
                context.load_verify_locations(cadata=trusted)
            except ssl.SSLError:
                settings.refuse("ssl.truststore.location", "there is a certificate in it that cannot be read")

    def principal(self, connection: ssl.SSLObject) -> str:
        """Who the client is, by its certificate: `User:CN=alice`. Raises NoRuleApplies."""
        certificate = connection.getpeercert(binary_form=True)
        if certificate is None:
            return ANONYMOUS
        try:
            name = subject_of(certificate)
        except (IndexError, ValueError):
            raise NoRuleApplies("the subject of the client's certificate cannot be read") from None
        return self._rules.principal(name)


class Material:
    """The authority, and the files that the ssl module and the clients read."""

    def __init__(self, folder: str | None, hosts: Iterable[str]) -> None:
        """`folder`: where the authority is kept for the next run and for clients; without it nothing is."""
        self._named = None if folder is None else Path(folder)
        self.hosts = list(dict.fromkeys(hosts))
        self._shown: tuple[bytes, bytes] | None = None
        self._clients = 0

    @cached_property
    def _own(self) -> tempfile.TemporaryDirectory[str]:
        return tempfile.TemporaryDirectory(prefix="kafkastub-tls-", ignore_cleanup_errors=True)

    @property
    def folder(self) -> Path:
        """A folder of its own, gone with the broker."""
        return Path(self._own.name)

    @cached_property
    def authority(self) -> Authority:
        """Made at the first need. Raises ConfigError."""
        try:
            from kafkastub.security.tls_made import Authority
        except ImportError:
            raise ConfigError(
                "a listener with TLS has no key store of yours (ssl.keystore.…), and making certificates needs the "
                f"extra security: {SECURITY_EXTRA}"
            ) from None
        if self._named is None:
            return Authority.made()
        try:
            self._named.mkdir(parents=True, exist_ok=True)
            return Authority.kept(self._named)
        except OSError as error:
            raise ConfigError(f"{FOLDER}={self._named} is refused: {error.strerror or error}") from None
        except ValueError as error:
            raise ConfigError(f"{FOLDER}={self._named} is refused: {error}") from None

    @cached_property
    def ca_file(self) -> Path:
        """Path of the authority's own certificate, PEM."""
        certificate = self.authority.certificate
        if self._named is not None:
            return self._named.resolve() / "ca.pem"
        path = self.folder / "ca.pem"
        path.write_bytes(certificate)
        return path

    def client(self, subject: str, *, expired: bool, other_ca: bool) -> ClientCertificate:
        """Raises ValueError for a subject that is none."""
        self._clients += 1
        return self.written(self._signer(other_ca).client(subject, expired=expired), f"client-{self._clients}")

    def written(self, made: tuple[bytes, bytes], name: str, folder: Path | None = None) -> ClientCertificate:
        """Put a certificate and its key into files."""
        place = (folder or self.folder) / name
        certificate, key, both = (place.with_name(name + end) for end in (".pem", ".key", ".both.pem"))
        certificate.write_bytes(made[0])
        write_private(key, made[1])
        write_private(both, made[1] + made[0])
        return ClientCertificate(str(certificate), str(key), str(both))

    def make(self, hosts: Iterable[str], *, expired: bool = False, other_ca: bool = False) -> None:
        """Make the certificate that `show` shows from now on."""
        self._shown = self._signer(other_ca).server(hosts, expired=expired)

    def show(self, context: ssl.SSLContext) -> None:
        """Let connections to come see the certificate that was made."""
        if self._shown is None:
            self.make(self.hosts)
        assert self._shown is not None
        self.load(context, b"".join(self._shown), "")

    def load(self, context: ssl.SSLContext, pem: bytes, password: str) -> None:
        """Give a context its certificate and key: the ssl module reads them from a file only. Raises SSLError."""
        path = self.folder / "shown.pem"
        write_private(path, pem)
        try:
            context.load_cert_chain(path, password=password)  # with a password given, nobody is asked for one
        finally:
            path.unlink()

    def _signer(self, other: bool) -> Authority:
        return type(self.authority).made("another CA") if other else self.authority

    def close(self) -> None:
        if "_own" in self.__dict__:
            self._own.cleanup()


class Tls:
    """All listeners with TLS of one broker."""

    def __init__(self, config: BrokerConfig, listeners: Listeners, machine: str) -> None:
        """`machine`: its name, by which clients may know it. Raises ConfigError."""
        told = (one.host for one in listeners.advertised.values())
        bound = (one.host for one in listeners.served)
        hosts = [*_ALWAYS, *filter(_is_name, (*told, *bound, machine))]
        self._material = Material(config[FOLDER], hosts)
        self._listeners: dict[str, ListenerTls] = {}
        try:
            for one in listeners.served:
                if one.protocol in TLS_PROTOCOLS:
                    self._listeners[one.name] = ListenerTls(config, one, self._material)
            if config[FOLDER] is not None and self.makes_certificates:
                self._leave_client_certificate(Path(config[FOLDER]))
        except BaseException:
            self.close()
            raise

    def of(self, listener: str) -> ListenerTls | None:
        """None for a listener without TLS."""
        return self._listeners.get(listener)

    @property
    def makes_certificates(self) -> bool:
        """Whether the authority signs, or is trusted with, anything that is in use."""
        return any(one.made or one.trusts_own for one in self._listeners.values())

    @property
    def ca_file(self) -> str:
        """Path of the certificate that clients trust, PEM. Raises TlsError."""
        if not any(one.made for one in self._listeners.values()):
            raise TlsError("the listeners with TLS show the certificates of your key stores: trust who signed those")
        return str(self._material.ca_file)

    def client_certificate(self, subject: str, *, expired: bool = False, other_ca: bool = False) -> ClientCertificate:
        """A client's certificate, new each time. Raises ValueError, TlsError."""
        if not any(one.trusts_own for one in self._listeners.values()):
            raise TlsError(
                "no listener asks for a client certificate of the stub's: set ssl.client.auth to requested or "
                "required, and no ssl.truststore of your own"
            )
        return self._material.client(subject, expired=expired, other_ca=other_ca)

    def show(self, *, expired: bool = False, other_ca: bool = False, hosts: Iterable[str] | None = None) -> None:
        """Show another certificate to clients to come. Raises TlsError."""
        mine = [one for one in self._listeners.values() if one.made]
        if not mine:
            raise TlsError("the listeners with TLS show the certificates of your key stores")
        self._material.make(self._material.hosts if hosts is None else hosts, expired=expired, other_ca=other_ca)
        for one in mine:
            self._material.show(one.context)

    def advertised(self, addresses: Iterable[Address]) -> None:
        """Clients are told other addresses from now on: the certificate that was made must be good for them."""
        new = [one.host for one in addresses if _is_name(one.host) and one.host not in self._material.hosts]
        if new and any(one.made for one in self._listeners.values()):
            self._material.hosts += new
            self.show()

    def close(self) -> None:
        """Remove the files that were made."""
        self._material.close()

    def _leave_client_certificate(self, folder: Path) -> None:
        """For clients of a process, who cannot ask for one."""
        if any(one.trusts_own for one in self._listeners.values()):
            made = self._material.authority.client("CN=client")
            self._material.written(made, "client", folder)


def _is_name(host: str) -> bool:
    """Whether clients can connect to it, and a certificate can say it."""
    return host not in ("", "0.0.0.0", "::") and host.isascii()


def _enabled(settings: ListenerSettings) -> list[str]:
    """The enabled versions that Java still speaks, in their order."""
    given = settings["ssl.enabled.protocols"]
    enabled = [name for name in _VERSIONS if name in given]
    if not enabled:
        settings.refuse("ssl.enabled.protocols", f"{','.join(given)} is too old; TLSv1.2 and TLSv1.3 are supported")
    return enabled


def _rules(settings: ListenerSettings) -> PrincipalRules:
    try:
        return PrincipalRules(settings["ssl.principal.mapping.rules"])
    except RuleError as error:
        settings.refuse("ssl.principal.mapping.rules", str(error))


__all__ = ["ClientCertificate", "ListenerTls", "NoRuleApplies", "Tls", "TlsError"]
