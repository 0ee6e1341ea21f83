"""A client's properties in two dialects: Java's, for Spark, and librdkafka's, for what is asked before and beside it.

Either may be given. What only one of the two clients has a use for goes to that one; what both need is translated, or
refused by its name. Names: Kafka's `ConsumerConfig`, `SslConfigs` and `SaslConfigs`; librdkafka's CONFIGURATION.md.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Final

from kafkastub_pipeline.errors import PipelineError

Options = Sequence[tuple[str, str]]

MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ALIKE: Final = _names(
    "security.protocol client.id client.rack client.dns.lookup group.id metadata.max.age.ms connections.max.idle.ms"
    " reconnect.backoff.ms reconnect.backoff.max.ms retry.backoff.ms retry.backoff.max.ms fetch.min.bytes"
    " fetch.max.bytes max.partition.fetch.bytes socket.connection.setup.timeout.ms"
)
"""Both have these, and mean the same."""
_JAVA: Final = _names(
    "request.timeout.ms default.api.timeout.ms send.buffer.bytes receive.buffer.bytes fetch.max.wait.ms"
    " socket.connection.setup.timeout.max.ms metadata.recovery.strategy ssl.protocol ssl.enabled.protocols ssl.provider"
    " ssl.cipher.suites ssl.keymanager.algorithm ssl.trustmanager.algorithm ssl.secure.random.implementation"
    " metric.reporters metrics.num.samples metrics.sample.window.ms metrics.recording.level"
)
"""Nothing that librdkafka would connect otherwise with."""
_LIBRDKAFKA: Final = _names(
    "socket.timeout.ms socket.keepalive.enable socket.nagle.disable broker.address.family broker.address.ttl debug"
    " topic.metadata.refresh.interval.ms ssl.curves.list ssl.sigalgs.list"
)
_OURS: Final = _names(
    "bootstrap.servers isolation.level auto.offset.reset enable.auto.commit auto.commit.interval.ms key.deserializer"
    " value.deserializer key.serializer value.serializer partition.assignment.strategy group.instance.id"
    " max.poll.records max.poll.interval.ms session.timeout.ms heartbeat.interval.ms interceptor.classes acks retries"
    " linger.ms batch.size buffer.memory compression.type enable.idempotence delivery.timeout.ms"
    " max.in.flight.requests.per.connection"
)
"""A file of an application has them; here they are the pipeline's own affair, or a producer's."""
_SASL: Final = ("sasl.mechanism", "sasl.mechanisms", "sasl.jaas.config", "sasl.username", "sasl.password")
_TRUST: Final = ("ssl.truststore.location", "ssl.truststore.certificates", "ssl.ca.location", "ssl.ca.pem")
_TRUST_MORE: Final = ("ssl.truststore.type", "ssl.truststore.password")
_KEY_JAVA: Final = (
    "ssl.keystore.location",
    "ssl.keystore.type",
    "ssl.keystore.password",
    "ssl.keystore.key",
    "ssl.keystore.certificate.chain",
)
_KEY_PEM: Final = ("ssl.certificate.location", "ssl.certificate.pem", "ssl.key.location", "ssl.key.pem")
_OTHERS: Final = ("ssl.key.password", "ssl.endpoint.identification.algorithm", "enable.ssl.certificate.verification")
_KNOWN: Final = {*_ALIKE, *_JAVA, *_LIBRDKAFKA, *_OURS, *_SASL, *_TRUST, *_TRUST_MORE, *_KEY_JAVA, *_KEY_PEM, *_OTHERS}

_JKS: Final = bytes.fromhex("feedfeed")


def for_java(options: Options) -> dict[str, str]:
    """What Kafka's Java client is told. Raises PipelineError. Certificates go as text: workers need no file of them."""
    given = _checked(options)
    found = {name: value for name, value in given.items() if name in _ALIKE or name in _JAVA}
    user = _user(given)
    if user is not None:
        found["sasl.mechanism"], module = user.mechanism, "plain.Plain" if user.mechanism == "PLAIN" else "scram.Scram"
        found["sasl.jaas.config"] = (
            f"org.apache.kafka.common.security.{module}LoginModule required"
            f" username={_quoted(user.name)} password={_quoted(user.password)};"
        )
    trusted = _trusted(given)
    if trusted is not None:
        found |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": trusted}
    found |= {name: value for name, value in given.items() if name in _KEY_JAVA}
    key, chain = _pem(given, "ssl.key"), _pem(given, "ssl.certificate")
    if (key is None) is not (chain is None):
        raise PipelineError("ssl.key.location and ssl.certificate.location belong together: give both")
    if key is not None and chain is not None:
        found |= {"ssl.keystore.type": "PEM", "ssl.keystore.key": key, "ssl.keystore.certificate.chain": chain}
    if "ssl.key.password" in given:
        found["ssl.key.password"] = given["ssl.key.password"]
    algorithm = given.get("ssl.endpoint.identification.algorithm")
    if algorithm is not None:
        found["ssl.endpoint.identification.algorithm"] = "" if algorithm == "none" else algorithm
    return found


def for_librdkafka(options: Options) -> dict[str, str]:
    """What confluent-kafka is told. Raises PipelineError."""
    given = _checked(options)
    found = {name: value for name, value in given.items() if name in _ALIKE or name in _LIBRDKAFKA or name in _KEY_PEM}
    user = _user(given)
    if user is not None:
        found |= {"sasl.mechanism": user.mechanism, "sasl.username": user.name, "sasl.password": user.password}
    trusted = _trusted(given)
    if trusted is not None:
        found["ssl.ca.pem"] = trusted
    if "ssl.keystore.location" in given:
        found |= _keystore(given)
    for java, name in (("ssl.keystore.key", "ssl.key.pem"), ("ssl.keystore.certificate.chain", "ssl.certificate.pem")):
        if java in given:
            found[name] = given[java]
    if "ssl.key.password" in given:
        found["ssl.key.password"] = given["ssl.key.password"]
    algorithm = given.get("ssl.endpoint.identification.algorithm")
    if algorithm is not None:
        found["ssl.endpoint.identification.algorithm"] = algorithm or "none"
    return found


def read_properties(path: str) -> list[tuple[str, str]]:
    """A file of Java's `java.util.Properties`. Raises PipelineError."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PipelineError(f"--command-config {path} cannot be read: {_why(error)}") from error
    return [_property(line) for line in _logical_lines(text)]


def _logical_lines(text: str) -> Iterator[str]:
    """Without remarks and empty lines; a backslash at its end leads a line on in the next one."""
    whole = ""
    for line in text.splitlines():
        line = line.lstrip()
        if not whole and line[:1] in ("", "#", "!"):
            continue
        whole += line
        if (len(whole) - len(whole.rstrip("\\"))) % 2:
            whole = whole[:-1]
        else:
            yield whole
            whole = ""
    if whole:
        yield whole


def _property(line: str) -> tuple[str, str]:
    matched = _PROPERTY.fullmatch(line)
    assert matched is not None
    return _ESCAPE.sub(_unescaped, matched[1]), _ESCAPE.sub(_unescaped, matched[2])


def check_servers(bootstrap_servers: str) -> None:
    """Raises PipelineError where it is no list of HOST:PORT."""
    for one in bootstrap_servers.split(","):
        matched = re.fullmatch(r"\s*(?:\w+://)?(\[[^\]]+\]|[^\s:/\[\]]+):(\d{1,5})\s*", one)
        if matched is None or not 1 <= int(matched[2]) <= 65535:
            raise PipelineError(f"--bootstrap-servers {one!r} is not HOST:PORT, such as localhost:9092")


_PROPERTY: Final = re.compile(r"((?:\\.|[^\\\s=:])*)\s*[=:]?\s*(.*)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_LETTERS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def _unescaped(matched: re.Match[str]) -> str:
    what = matched[1]
    return chr(int(what[1:], 16)) if len(what) > 1 else _LETTERS.get(what, what)


class _User:
    def __init__(self, mechanism: str, name: str, password: str) -> None:
        self.mechanism, self.name, self.password = mechanism, name, password


def _checked(options: Options) -> dict[str, str]:
    given = dict(options)
    for name in given:
        if name in _KNOWN or name.startswith("sasl.login.refresh."):
            continue
        if name.startswith(("sasl.oauthbearer.", "sasl.kerberos.", "sasl.login.", "sasl.client.")):
            raise PipelineError(f"{name} cannot be used: of SASL's mechanisms the pipeline has {', '.join(MECHANISMS)}")
        close = get_close_matches(name, _KNOWN, 1)
        raise PipelineError(
            f"{name} is not a property that a client of the pipeline can be given"
            + (f": is {close[0]} meant?" if close else "; docs/pipeline.md has those that can")
        )
    if given.get("enable.ssl.certificate.verification", "true").lower() != "true":
        raise PipelineError(
            "enable.ssl.certificate.verification=false cannot be used: Spark's client always verifies; give"
            " ssl.truststore.location a PEM file of the broker's CA"
        )
    return given


def _user(given: dict[str, str]) -> _User | None:
    protocol = given.get("security.protocol", "PLAINTEXT").upper()
    if not protocol.startswith("SASL"):
        return None
    mechanism = given.get("sasl.mechanism", given.get("sasl.mechanisms"))
    if mechanism not in MECHANISMS:
        said = "is missing" if mechanism is None else f"is {mechanism}"
        raise PipelineError(f"sasl.mechanism {said}: the pipeline has {', '.join(MECHANISMS)}")
    if "sasl.jaas.config" in given:
        return _of_jaas(given["sasl.jaas.config"], mechanism)
    if "sasl.username" not in given or "sasl.password" not in given:
        raise PipelineError(
            f"{protocol} needs a user: give sasl.jaas.config with username and password, or sasl.username and"
            " sasl.password"
        )
    return _User(mechanism, given["sasl.username"], given["sasl.password"])


_JAAS: Final = re.compile(r"\s*([\w.$]+)\s+(?:required|requisite|sufficient|optional)\b(.*);\s*", re.DOTALL | re.I)
_JAAS_OPTION: Final = re.compile(r"""\s*([\w.\-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s;"'=]+))""")


def _of_jaas(text: str, mechanism: str) -> _User:
    """Of `sasl.jaas.config`: one login module, and its user. The text is shown to nobody."""
    whole = _JAAS.fullmatch(text)
    if whole is None:
        raise PipelineError('sasl.jaas.config is not as Java has it: MODULE required username="…" password="…";')
    wanted = "PlainLoginModule" if mechanism == "PLAIN" else "ScramLoginModule"
    if whole[1].rpartition(".")[2] != wanted:
        raise PipelineError(f"sasl.jaas.config has the module {whole[1]}: sasl.mechanism={mechanism} needs {wanted}")
    options: dict[str, str] = {}
    at = 0
    rest = whole[2].rstrip()
    while at < len(rest):
        one = _JAAS_OPTION.match(rest, at)
        if one is None:
            raise PipelineError('sasl.jaas.config is not as Java has it: MODULE required username="…" password="…";')
        quoted = one[2] if one[2] is not None else one[3]
        options[one[1]] = one[4] if quoted is None else _ESCAPE.sub(_unescaped, quoted)
        at = one.end()
    if options.get("tokenauth", "false").lower() == "true":
        raise PipelineError("sasl.jaas.config has tokenauth=true: a delegation token cannot be used, a user can")
    if "username" not in options or "password" not in options:
        raise PipelineError("sasl.jaas.config names no username and password")
    return _User(mechanism, options["username"], options["password"])


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _trusted(given: dict[str, str]) -> str | None:
    """The certificates that are trusted, as PEM; None for those of the system."""
    named = [name for name in _TRUST if name in given]
    if not named:
        return None
    if len(named) > 1:
        raise PipelineError(f"{' and '.join(named)} say the same thing twice: give one of them")
    (name,) = named
    if name.endswith((".pem", ".certificates")):
        return given[name]
    content = _content(name, given[name])
    if b"-----BEGIN" in content:
        return content.decode("utf-8", "replace")
    if name == "ssl.ca.location" or given.get("ssl.truststore.type", "JKS").upper() == "PEM":
        raise PipelineError(f"{name}: there is no certificate in PEM in {given[name]}")
    return _by_keytool(given[name], given.get("ssl.truststore.password", ""))


def _keystore(given: dict[str, str]) -> dict[str, str]:
    """A Java key store for librdkafka, which reads PEM and PKCS#12."""
    path = given["ssl.keystore.location"]
    content = _content("ssl.keystore.location", path)
    if b"-----BEGIN" in content:
        return {"ssl.certificate.location": path, "ssl.key.location": path}
    if content.startswith(_JKS):
        raise PipelineError(
            f"ssl.keystore.location: {path} is in Java's old format JKS; convert it to PKCS#12 with `keytool"
            f" -importkeystore -srckeystore {path} -destkeystore {Path(path).stem}.p12 -deststoretype PKCS12`"
        )
    return {"ssl.keystore.location": path, "ssl.keystore.password": given.get("ssl.keystore.password", "")}


def _pem(given: dict[str, str], name: str) -> str | None:
    if f"{name}.pem" in given:
        return given[f"{name}.pem"]
    if f"{name}.location" in given:
        return _content(f"{name}.location", given[f"{name}.location"]).decode("utf-8", "replace")
    return None


def _content(name: str, path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise PipelineError(f"{name}: {path} cannot be read: {_why(error)}") from error


@lru_cache(maxsize=8)
def _by_keytool(path: str, password: str) -> str:
    """The certificates of a trust store in JKS or PKCS#12: no library here reads it, and Java has the tool."""
    home = os.environ.get("JAVA_HOME")
    keytool = shutil.which("keytool", path=f"{home}/bin") if home else None
    keytool = keytool or shutil.which("keytool")
    if keytool is None:
        raise PipelineError(
            f"ssl.truststore.location: {path} is not a PEM file, and there is no keytool to read it: install Java 17,"
            " or give ssl.truststore.type=PEM and a PEM file"
        )
    command = [keytool, "-list", "-rfc", "-keystore", path, "-storepass:env", "KAFKASTUB_STORE_PASSWORD"]
    done = subprocess.run(
        command,
        env={**os.environ, "KAFKASTUB_STORE_PASSWORD": password},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.findall(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", done.stdout, re.DOTALL)
    if not found:
        lines = [line.strip() for line in done.stdout.splitlines() if "rror" in line]
        said = lines[0].rpartition("Exception: ")[2] if lines else "there is no certificate in it"
        raise PipelineError(f"ssl.truststore.location: {path} cannot be read with ssl.truststore.password: {said}")
    return "\n".join(found) + "\n"


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
