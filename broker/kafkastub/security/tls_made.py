"""Certificates made for a test: an authority of the stub's own, and what it signs. Needs the extra `security`.

Keys are on the curve P-256: one is made in a fraction of a millisecond, and every client knows it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kafkastub.security.private_files import write_private

_DAY: Final = timedelta(days=1)
_YEARS: Final = timedelta(days=3650)
_LEAF: Final = timedelta(days=397)
"""The longest that strict clients take from a server."""
_NAMES: Final = {
    "E": NameOID.EMAIL_ADDRESS, "EMAILADDRESS": NameOID.EMAIL_ADDRESS, "SERIALNUMBER": NameOID.SERIAL_NUMBER,
    "GIVENNAME": NameOID.GIVEN_NAME, "SURNAME": NameOID.SURNAME, "T": NameOID.TITLE,
}  # fmt: skip
"""Attributes that RFC 4514 has no word for, as keytool spells them."""


class Authority:
    """Signs certificates.

    Attributes:
        certificate: its own, PEM.
    """

    def __init__(self, key: EllipticCurvePrivateKey, own: x509.Certificate) -> None:
        self._key = key
        self._own = own
        self.certificate = own.public_bytes(Encoding.PEM)

    @classmethod
    def made(cls, name: str = "kafkastub test CA") -> Authority:
        """A new one, good for ten years."""
        key = generate_private_key(SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        now = datetime.now(UTC)
        own = (
            _builder(subject, subject, key, now - _DAY, now + _YEARS)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .sign(key, SHA256())
        )
        return cls(key, own)

    @classmethod
    def kept(cls, folder: Path) -> Authority:
        """The one in `ca.pem` and `ca.key` of a folder, made where there is none. Raises OSError, ValueError."""
        certificate, private = folder / "ca.pem", folder / "ca.key"
        if certificate.exists() and private.exists():
            own = x509.load_pem_x509_certificate(certificate.read_bytes())
            key = load_pem_private_key(private.read_bytes(), None)
            if not isinstance(key, EllipticCurvePrivateKey) or own.public_key() != key.public_key():
                raise ValueError("ca.key does not belong to ca.pem")
            if own.not_valid_after_utc < datetime.now(UTC) + _DAY:
                raise ValueError("ca.pem has expired, or will today: remove it and ca.key")
            return cls(key, own)
        made = cls.made()
        write_private(private, _pem(made._key))
        certificate.write_bytes(made.certificate)
        return made

    def server(self, hosts: Iterable[str], *, expired: bool = False) -> tuple[bytes, bytes]:
        """(certificate, key), PEM, of a server that is reached by these names and addresses."""
        hosts = list(dict.fromkeys(hosts))
        names = [_general(host) for host in hosts]
        common = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hosts[0][:64])])
        return self._leaf(common, x509.SubjectAlternativeName(names), expired=expired)

    def client(self, subject: str, *, expired: bool = False) -> tuple[bytes, bytes]:
        """(certificate, key), PEM, of a client; `subject` as RFC 4514 has it. Raises ValueError."""
        try:
            name = x509.Name.from_rfc4514_string(subject, _NAMES)
        except (ValueError, TypeError):
            raise ValueError(f"{subject!r} is not a subject: expected something like CN=alice,OU=dev") from None
        return self._leaf(name, None, expired=expired)

    def _leaf(
        self, subject: x509.Name, names: x509.SubjectAlternativeName | None, *, expired: bool
    ) -> tuple[bytes, bytes]:
        key = generate_private_key(SECP256R1())
        now = datetime.now(UTC)
        until = now - timedelta(hours=1) if expired else min(now + _LEAF, self._own.not_valid_after_utc)
        usages = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
        builder = (
            _builder(subject, self._own.subject, key, now - _DAY, until)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(usages, critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )
        if names is not None:
            builder = builder.add_extension(names, critical=False)
        return builder.sign(self._key, SHA256()).public_bytes(Encoding.PEM), _pem(key)


def from_pkcs12(data: bytes, password: str | None) -> tuple[list[bytes], bytes | None]:
    """(certificates, key) of a PKCS12 store, PEM; the key's own certificate and its issuers come first.

    Raises ValueError where it is none or the password is wrong.
    """
    from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12

    store = load_pkcs12(data, None if password is None else password.encode())
    others = [one.certificate for one in store.additional_certs]
    chain = [] if store.cert is None else [store.cert.certificate]
    while chain and (issuer := next((one for one in others if _issued(one, chain[-1])), None)) is not None:
        others.remove(issuer)
        chain.append(issuer)
    if store.key is None:
        return [one.public_bytes(Encoding.PEM) for one in (*chain, *others)], None
    key = store.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return [one.public_bytes(Encoding.PEM) for one in (*chain, *others)], key


def _issued(issuer: x509.Certificate, certificate: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(issuer)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _builder(
    subject: x509.Name, issuer: x509.Name, key: EllipticCurvePrivateKey, since: datetime, until: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(since)
        .not_valid_after(until)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(key: EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _general(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host.partition("%")[0]))
    except ValueError:
        return x509.DNSName(host)
