"""Bearer tokens, good and bad, and what Kafka's validators make of them.

`python -m tests.security.token_matrix` asks Kafka's own classes (`Tokens.java`) and writes their answers into
`token_matrix.json`. Times are offsets from now, and keys are made anew each time: a recording holds neither.
"""

from __future__ import annotations

import base64
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils
from cryptography.hazmat.primitives.hmac import HMAC

from tests.oracle.apache_kafka import run_java
from tests.security.token_cases import STANDARD, Case, Now, cases

RECORDED = Path(__file__).with_name("token_matrix.json")
Answers = dict[str, list[Any]]
"""Case -> ["refused", status], ["broken"], or ["accepted", principal, its end in ms from now]."""


class Keys:
    """Keys of several kinds, and the JWKS that has them."""

    def __init__(self) -> None:
        self.rsa = {name: rsa.generate_private_key(65537, size) for name, size in _RSA.items()}
        self.ec = ec.generate_private_key(ec.SECP256R1())
        self.ed = ed25519.Ed25519PrivateKey.generate()
        self.secret = b"s" * 64

    def jwks(self) -> dict[str, Any]:
        found: list[dict[str, Any]] = []
        for name, key in self.rsa.items():
            if name == "stranger":
                continue
            public = key.public_key().public_numbers()
            found.append({"kty": "RSA", "kid": name, "n": _number(public.n), "e": _number(public.e), **_SAID[name]})
        numbers = self.ec.public_key().public_numbers()
        xy = {"x": _b64(numbers.x.to_bytes(32)), "y": _b64(numbers.y.to_bytes(32))}
        found.append({"kty": "EC", "crv": "P-256", "kid": "ec", **xy})
        found.append({"kty": "oct", "kid": "oct", "k": _b64(self.secret)})
        found.append({"kty": "OKP", "crv": "Ed25519", "kid": "ed", "x": _b64(self.ed.public_key().public_bytes_raw())})
        return {"keys": found}

    def sign(self, alg: Any, name: str, data: bytes) -> bytes:
        if name == "none":
            return b""
        if name == "ec":
            r, s = utils.decode_dss_signature(self.ec.sign(data, ec.ECDSA(hashes.SHA256())))
            return r.to_bytes(32) + s.to_bytes(32)
        if name == "ed":
            return self.ed.sign(data)
        if name == "oct":
            mac = HMAC(self.secret, hashes.SHA256())
            mac.update(data)
            return mac.finalize()
        if isinstance(alg, str) and alg.startswith("PS"):
            pss = padding.PSS(padding.MGF1(hashes.SHA256()), hashes.SHA256.digest_size)
            return self.rsa[name].sign(data, pss, hashes.SHA256())
        kinds = {"RS384": hashes.SHA384(), "RS512": hashes.SHA512()}
        return self.rsa[name].sign(data, padding.PKCS1v15(), kinds.get(alg, hashes.SHA256()))

    def token(self, case: Case, now: int) -> str:
        """The token of a case, `now` in seconds since 1970."""
        parts = [_b64(_bytes(one, now)) for one in (case.header, case.claims)]
        if case.text == STANDARD:
            parts = [part.replace("-", "+").replace("_", "/") for part in parts]
        signed = ".".join(parts)
        alg = case.header.get("alg") if isinstance(case.header, dict) else None
        signature = _b64(self.sign(alg, case.key, signed.encode()))
        return case.text.strip().format(f"{signed}.{signature}", *parts, signature)


_RSA = {"rsa": 2048, "marked": 2048, "for encryption": 2048, "for PS256": 2048, "short": 1024, "stranger": 2048}
_SAID = {
    "rsa": {},
    "marked": {"use": "sig", "alg": "RS256"},
    "for encryption": {"use": "enc"},
    "for PS256": {"alg": "PS256"},
    "short": {},
}


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _number(value: int) -> str:
    return _b64(value.to_bytes((value.bit_length() + 7) // 8))


def _bytes(part: Any, now: int) -> bytes:
    return part if isinstance(part, bytes) else json.dumps(_timed(part, now)).encode()


def _timed(value: Any, now: int) -> Any:
    if isinstance(value, Now):
        return now + int(value)
    if isinstance(value, dict):
        return {key: _timed(one, now) for key, one in value.items()}
    return [_timed(one, now) for one in value] if isinstance(value, list) else value


def answers_of_kafka() -> Answers:
    """What Kafka's own classes say."""
    keys = Keys()
    with tempfile.TemporaryDirectory() as folder:
        jwks = Path(folder) / "jwks.json"
        jwks.write_text(json.dumps(keys.jwks()))
        while True:
            now = int(time.time())
            asked = [
                f"{case.kind}\t{';'.join('='.join(one) for one in case.settings)}\t{keys.token(case, now)}"
                for case in cases().values()
            ]
            said = run_java(Path(__file__).with_name("Tokens.java"), jwks.as_uri(), stdin="\n".join(asked))
            assert not said.returncode, said.stderr[-3000:]
            if time.time() < now + 8:  # or what was ahead a moment ago is not any more
                break
    found = {}
    for name, line in zip(cases(), said.stdout.splitlines(), strict=True):
        answer, *rest = line.split("\t")
        found[name] = [answer, rest[0], _end(int(rest[1]), now)] if answer == "accepted" else [answer, *rest]
    return found


def _end(ms: int, now: int) -> int:
    """From now, where it is near; else as it is."""
    return ms - 1000 * now if abs(ms - 1000 * now) < 10_000_000 else ms


def recorded() -> Answers:
    """What Apache Kafka 4.3.1 has answered."""
    return json.loads(RECORDED.read_text())  # type: ignore[no-any-return]


if __name__ == "__main__":
    lines = (f"{json.dumps(name)}: {json.dumps(answer)}" for name, answer in answers_of_kafka().items())
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
