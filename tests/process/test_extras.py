"""Without an extra, what needs it says so in one sentence, and which one to install."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WITHOUT = """
import sys
sys.modules.update(dict.fromkeys({missing!r}))  # None: as if they were not installed
{code}
"""
KAFKASTUB = "from kafkastub.cli import main; sys.exit(main(sys.argv[1:]))"
PIPELINE = "from kafkastub_pipeline.cli import main; sys.exit(main(sys.argv[1:]))"
PARQUET = """
from kafkastub import KafkaStub
with KafkaStub() as stub:
    try:
        stub.journal.to_parquet(sys.argv[1])
    except ImportError as error:
        sys.exit(f"kafkastub: {error}")
"""
CONTROLLED = """
from kafkastub import KafkaStub
try:
    KafkaStub(control_port=0).start()
except RuntimeError as error:
    sys.exit(f"kafkastub: {error}")
"""

OF_PIPELINE = ["confluent_kafka", "jinja2", "matplotlib", "numpy", "pandas", "pyarrow", "pyspark"]
RUN = ("run", "--retention-minutes", "60", "--out", "{tmp}/out")
OAUTH = ("serve", "--config", "listeners=SASL_PLAINTEXT://127.0.0.1:0")
JWKS = (
    *OAUTH,
    "inter.broker.listener.name=SASL_PLAINTEXT",
    "sasl.enabled.mechanisms=OAUTHBEARER",
    "sasl.oauthbearer.jwks.endpoint.url=file://{tmp}/keys.json",
    "sasl.oauthbearer.expected.audience=a",
    "sasl.oauthbearer.expected.issuer=i",
)
TLS = ("serve", "--config", "listeners=SSL://127.0.0.1:0", "inter.broker.listener.name=SSL")
PKCS12 = (*TLS, "ssl.keystore.location={tmp}/store.p12", "ssl.keystore.type=PKCS12", "ssl.keystore.password=secret")


@pytest.mark.parametrize(
    ("missing", "code", "words", "extra"),
    [
        (["fastapi"], KAFKASTUB, ("serve", "--port", "0", "--control-port", "0"), "control"),
        (["uvicorn"], CONTROLLED, (), "control"),
        (["yaml"], KAFKASTUB, ("serve", "--port", "0", "--faults", "{tmp}/faults.yaml"), "cli"),
        (["yaml"], KAFKASTUB, ("faults", "add", "--file", "{tmp}/faults.yaml"), "cli"),
        (["shtab"], KAFKASTUB, ("completion", "bash"), "cli"),
        (["pyarrow"], PARQUET, ("{tmp}/journal.parquet",), "journal"),
        (["uvicorn"], KAFKASTUB, ("serve", "--port", "0", "--registry-port", "0"), "registry"),
        (["cryptography"], KAFKASTUB, TLS, "security"),
        (["cryptography"], KAFKASTUB, PKCS12, "security"),
        (["jwt"], KAFKASTUB, JWKS, "security"),
        (["cryptography"], KAFKASTUB, JWKS, "security"),
        (OF_PIPELINE, PIPELINE, (*RUN, "--bootstrap-servers", "127.0.0.1:1"), "pipeline"),
        (["numpy"], PIPELINE, (*RUN, "--raw", "{tmp}/raw"), "pipeline"),
        (["confluent_kafka"], PIPELINE, (*RUN, "--bootstrap-servers", "127.0.0.1:1"), "pipeline"),
        (OF_PIPELINE, PIPELINE, ("stream", "--out", "{tmp}/o", "--checkpoint", "{tmp}/c"), "pipeline"),
        (OF_PIPELINE, PIPELINE, ("report", "--out", "{tmp}/tables"), "pipeline"),
    ],
)
def test_what_needs_an_extra_says_which(
    tmp_path: Path, missing: list[str], code: str, words: tuple[str, ...], extra: str
):
    (tmp_path / "faults.yaml").write_text("[]")
    (tmp_path / "keys.json").write_text('{"keys": [{"kty": "RSA", "n": "AQAB", "e": "AQAB"}]}')
    (tmp_path / "store.p12").write_bytes(b"0")
    command = [sys.executable, "-c", WITHOUT.format(missing=missing, code=code)]
    command += [word.format(tmp=tmp_path) for word in words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    told = done.stderr.strip()
    assert done.returncode in (1, 2), told
    assert done.stdout == ""
    assert len(told.splitlines()) == 1, told
    assert f"pip install 'kafkastub[{extra}]'" in told


def test_what_is_there_is_not_said_to_be_missing(tmp_path: Path):
    """Each command needs what it uses: a driver that makes tables has no use for what draws the page."""
    drawing = ["jinja2", "matplotlib"]
    command = [sys.executable, "-c", WITHOUT.format(missing=[*drawing, "confluent_kafka"], code=PIPELINE)]
    done = subprocess.run(
        [*command, "run", "--retention-minutes", "60", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert not any(name in done.stderr for name in (*drawing, "confluent_kafka"))
