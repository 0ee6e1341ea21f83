"""`make bench-clients-java`: the tests of comparison/ with kafkastub and with EmbeddedKafka: lines and seconds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

HERE: Final = Path(__file__).resolve().parents[1]
PROJECT: Final = HERE / "comparison"
MAVEN: Final = ["mvn", "-q", "-B", "-Dstyle.color=never"]


def main() -> int:
    install = [*MAVEN, "-f", str(HERE), "-pl", ".,kafkastub-client,kafkastub-junit", "install", "-Dmaven.test.skip"]
    subprocess.run([*install, "-Dcheckstyle.skip"], check=True)
    done = subprocess.run([*MAVEN, "-f", str(PROJECT), "clean", "test", *sys.argv[1:]], env=os.environ, check=False)
    print(f"{'tests':28}{'of':>5}{'lines':>7}{'seconds':>9}{'ms each':>9}")
    for report in sorted((PROJECT / "target" / "surefire-reports").glob("TEST-*.xml")):
        suite = ElementTree.parse(report).getroot()
        name = suite.attrib["name"].rpartition(".")[2]
        count, seconds = int(suite.attrib["tests"]), float(suite.attrib["time"])
        print(f"{name:28}{count:5}{lines(name):7}{seconds:9.1f}{seconds / count * 1000:9.0f}")
    return done.returncode


def lines(name: str) -> int:
    """Lines that somebody has written: without imports, comments and blank ones."""
    text = (PROJECT / "src" / "test" / "java" / "comparison" / f"{name}.java").read_text()
    return sum(not line.lstrip().startswith(("import ", "package ", "/*", "*")) for line in text.splitlines() if line)


if __name__ == "__main__":
    sys.exit(main())
