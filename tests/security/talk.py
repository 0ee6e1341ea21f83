"""A client of SASL that speaks frames, one step at a time."""

from __future__ import annotations

import base64
import hashlib
import hmac
import importlib
import json
import struct
from typing import Any, Self

from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.messages import RESPONSES
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.sasl_authenticate_request import SaslAuthenticateRequest
from kafkawire.messages.sasl_handshake_request import SaslHandshakeRequest
from kafkawire.schema import Message
from tests.rawclient import RawClient


class Talk:
    """One connection."""

    def __init__(self, address: str) -> None:
        self.client = RawClient(address)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def ask(self, key: ApiKey, version: int, request: Message) -> Any:
        """The answer. ConnectionError where the broker closes instead."""
        module, name, _ = RESPONSES[key]
        body = self.client.exchange(key, version, encode(request, version))
        return decode(getattr(importlib.import_module(module), name), version, body)

    def shake(self, mechanism: str, version: int = 1) -> Any:
        return self.ask(ApiKey.SASL_HANDSHAKE, version, SaslHandshakeRequest(mechanism))

    def send(self, token: bytes, version: int = 2) -> Any:
        return self.ask(ApiKey.SASL_AUTHENTICATE, version, SaslAuthenticateRequest(token))

    def send_raw(self, token: bytes) -> bytes | None:
        self.client.socket.sendall(struct.pack(">i", len(token)) + token)
        return self.client.receive()

    def plain(self, user: str, password: str) -> Any:
        """A whole authentication; the last answer."""
        assert self.shake("PLAIN").error_code == 0
        return self.send(f"\0{user}\0{password}".encode())

    def scram(
        self,
        user: str,
        password: str,
        name: str = "sha256",
        shaken: bool = False,
        extensions: str = "",
        gs2: str = "n,,",
    ) -> Any:
        """A whole authentication; the last answer, with the server's proof checked."""
        if not shaken:
            assert self.shake(f"SCRAM-{name[:3].upper()}-{name[3:]}").error_code == 0
        bare = f"n={user},r=abcdef{extensions}"
        answer = self.send(f"{gs2}{bare}".encode())
        if answer.error_code:
            return answer
        return self.finish_scram(user, password, bytes(answer.auth_bytes).decode(), name, extensions, gs2)

    def finish_scram(
        self, user: str, password: str, first: str, name: str = "sha256", extensions: str = "", gs2: str = "n,,"
    ) -> Any:
        """What follows the server's first message."""
        bare = f"n={user},r=abcdef{extensions}"
        fields = dict(part.split("=", 1) for part in first.split(","))
        assert fields["r"].startswith("abcdef")
        salted = hashlib.pbkdf2_hmac(name, password.encode(), base64.b64decode(fields["s"]), int(fields["i"]))
        client_key = hmac.digest(salted, b"Client Key", name)
        without_proof = f"c={base64.b64encode(gs2.encode()).decode()},r={fields['r']}"
        message = f"{bare},{first},{without_proof}".encode()
        signature = hmac.digest(hashlib.new(name, client_key).digest(), message, name)
        proof = base64.b64encode(bytes(a ^ b for a, b in zip(client_key, signature, strict=True))).decode()
        answer = self.send(f"{without_proof},p={proof}".encode())
        if not answer.error_code:
            server = hmac.digest(hmac.digest(salted, b"Server Key", name), message, name)
            assert bytes(answer.auth_bytes) == b"v=" + base64.b64encode(server)
        return answer

    def metadata(self) -> Any:
        return self.ask(ApiKey.METADATA, 9, MetadataRequest([]))

    def is_closed(self) -> bool:
        """Whether the broker closes the connection now."""
        return self.client.receive() is None


def bearer(token: str, user: str = "") -> bytes:
    """What a client sends first."""
    return f"n,{f'a={user}' if user else ''},\x01auth=Bearer {token}\x01\x01".encode()


def unsecured_token(**claims: object) -> str:
    parts = [{"alg": "none"}, claims]
    return ".".join(base64.urlsafe_b64encode(json.dumps(one).encode()).decode().rstrip("=") for one in parts) + "."
