"""What kafka-delegation-tokens prints, and what Kafka's own client does with a token.

`python -m tests.clients.token_tool` records golden/tokens.txt from Apache Kafka.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from tests.clients.jvm import Jvm
from tests.clients.tools import GOLDEN, Terminal
from tests.security import brokers
from tests.security.brokers import PASSWORD, Addresses
from tests.security.delegation_steps import CONFIG, Play
from tests.waiting import until

TRANSCRIPT = GOLDEN / "tokens.txt"
TOOL = "org.apache.kafka.tools.DelegationTokenCommand"
TOPICS = "org.apache.kafka.tools.TopicCommand"
_MADE = re.compile(r"tokenId : (\S{22})")
_KEY = re.compile(r"[A-Za-z0-9+/]{86}==")
_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")
_MODULES = "org.apache.kafka.common.security"


def password(user: str, word: str) -> str:
    """Settings of a client that signs in with a password."""
    module = f'{_MODULES}.plain.PlainLoginModule required username="{user}" password="{word}";'
    return f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config={module}\n"


def token(token_id: str, key: str) -> str:
    """Settings of a client that signs in with a token."""
    module = f'{_MODULES}.scram.ScramLoginModule required username="{token_id}" password="{key}" tokenauth="true";'
    return f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-512\nsasl.jaas.config={module}\n"


class TokenTerminal(Terminal):
    """A terminal in which the secret of the first token is called KEY0, of the second KEY1."""

    def __init__(self, jvm: Jvm, servers: str, folder: Path) -> None:
        super().__init__(jvm, servers, folder)
        self.ids: list[str] = []
        self.keys: list[str] = []

    def tokens(self, who: str, options: str, main_class: str = TOOL) -> None:
        """One of the tools, by somebody whose settings are a file."""
        known = {f"KEY{number}": key for number, key in enumerate(self.keys)}
        args = [known.get(word, word) for word in options.split()]
        where = "--bootstrap-server", self.servers, "--command-config", str(self.folder / who)
        done = self.jvm.tool(main_class, *where, *args)
        self.ids += _MADE.findall(done.out)
        self.keys += [key for key in _KEY.findall(done.out) if key not in self.keys]
        tool = "kafka-delegation-tokens" if main_class == TOOL else "kafka-topics"
        self._transcript += ["", f"$ {tool} --command-config {who} {options}", *self._lines(done.out)]
        self._transcript += [f"! {line}".rstrip() for line in self._lines(done.err)]
        if done.status:
            self._transcript.append(f"= {done.status}")

    def _lines(self, output: str) -> list[str]:
        """The rows of a table in one order: Kafka's follows the hashes of ids."""
        for number, one in enumerate(self.ids):
            output = output.replace(one, f"{f'token {number}':.^22}")
        for number, one in enumerate(self.keys):
            output = output.replace(one, f"{f'KEY{number}':.^88}")
        lines = super()._lines(_DATE.sub(f"{'date':.^16}", output))
        head = next((number for number, line in enumerate(lines) if line.startswith("TOKENID")), len(lines))
        return lines[: head + 1] + sorted(line for line in lines[head + 1 :] if line)


def play(jvm: Jvm, addresses: Addresses, folder: Path) -> str:
    """The transcript."""
    at = TokenTerminal(jvm, addresses.sasl, folder)

    def settled(count: int) -> None:
        """Kafka's broker learns of what its controller did a moment later; the tool may be as fast."""
        until(lambda: len(Play(addresses).tokens()) == count, f"{count} tokens")

    for name, word in (("alice", PASSWORD), ("bob", "b"), ("root", "r")):
        (folder / name).write_text(password(name, word))
    at.tokens("alice", "--create --max-life-time-period -1 --renewer-principal User:bob --renewer-principal User:dora")
    at.tokens("root", "--create --max-life-time-period 3600000 --owner-principal User:gus")
    settled(2)
    at.tokens("bob", "--create --max-life-time-period -1 --owner-principal User:gus")
    at.tokens("bob", "--create --max-life-time-period -1 --renewer-principal Group:x")
    at.tokens("alice", "--describe")
    at.tokens("root", "--describe")
    at.tokens("root", "--describe --owner-principal User:gus")
    at.tokens("bob", "--describe --owner-principal User:alice")
    at.tokens("bob", "--describe --owner-principal User:gus")
    at.tokens("bob", "--renew --renew-time-period -1 --hmac KEY0")
    at.tokens("bob", "--renew --renew-time-period -1 --hmac KEY1")
    at.tokens("bob", "--renew --renew-time-period -1 --hmac AAAA")
    (folder / "by-token").write_text(token(at.ids[0], at.keys[0]))
    at.tokens("by-token", "--list", TOPICS)
    at.tokens("by-token", "--describe")
    at.tokens("alice", "--expire --expiry-time-period 1000 --hmac KEY0")
    at.tokens("alice", "--expire --expiry-time-period -1 --hmac KEY0")
    settled(1)
    at.tokens("alice", "--expire --expiry-time-period -1 --hmac KEY0")
    at.tokens("alice", "--describe")
    at.tokens("by-token", "--list", TOPICS)
    at.servers = addresses.plain
    (folder / "nobody").write_text("")
    at.tokens("nobody", "--create --max-life-time-period -1")
    at.tokens("nobody", "--describe")
    return at.transcript


def main() -> None:
    with Jvm() as jvm, brokers.kafka(**CONFIG) as addresses, tempfile.TemporaryDirectory() as folder:
        TRANSCRIPT.write_text(play(jvm, addresses, Path(folder)))


if __name__ == "__main__":
    main()
