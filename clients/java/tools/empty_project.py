"""`make test-clients-java-binary`: an empty project with one dependency of ours, without Python and containers.

The packages and what `make binary` has made are put into a folder that serves as a Maven repository. A new project
takes `kafkastub-all` from there, and runs the five tests of comparison/. Its PATH has what Maven needs and no more.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parents[1]
TESTS: Final = HERE / "comparison" / "src" / "test" / "java" / "comparison"
CACHE: Final = HERE.parents[1] / ".cache" / "clients-java"
MODULES: Final = ".,kafkastub-client,kafkastub-junit,kafkastub-binary,kafkastub-all"
TOOLS: Final = ("bash", "basename", "cat", "dirname", "expr", "git", "java", "ls", "mvn", "rm", "sed", "sh", "uname")
"""What Maven's own script calls, and git."""
MAVEN: Final = ("-q", "-B", "-Dstyle.color=never")

PROJECT: Final = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>shop</groupId>
  <artifactId>empty</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.release>17</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <repositories>
    <repository><id>folder</id><url>{repository}</url></repository>
  </repositories>
  <dependencies>
    <dependency>
      <groupId>io.kafkastub</groupId><artifactId>kafkastub-all</artifactId><version>1.0.0</version><scope>test</scope>
    </dependency>
    <dependency>
      <groupId>org.apache.kafka</groupId><artifactId>kafka-clients</artifactId><version>4.4.0</version>
    </dependency>
    <dependency>
      <groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>6.1.3</version><scope>test</scope>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>1.7.36</version><scope>test</scope>
    </dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin><artifactId>maven-surefire-plugin</artifactId><version>3.5.2</version></plugin>
      <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
    </plugins>
  </build>
</project>
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="keep the project, and say where it is")
    parser.add_argument("--dist", type=Path, default=HERE.parents[1] / "dist", help="the folder of `make binary`")
    arguments = parser.parse_args()
    if not list(arguments.dist.glob("kafkastub-*.tar.gz.sha256")):
        print(f"{arguments.dist} has no packed command: run `make binary`", file=sys.stderr)
        return 2
    repository = CACHE / "repository"
    shutil.rmtree(repository, ignore_errors=True)
    deployed = f"-DaltDeploymentRepository=folder::{repository.as_uri()}"
    deploy = ["mvn", *MAVEN, "-f", str(HERE), "-Pbinary", "-pl", MODULES, "deploy", "-Dmaven.test.skip", deployed]
    subprocess.run([*deploy, "-Dcheckstyle.skip", f"-Dkafkastub.dist={arguments.dist.resolve()}"], check=True)
    folder = Path(tempfile.mkdtemp(prefix="kafkastub-empty-"))
    try:
        return tried(folder, repository)
    finally:
        if not arguments.keep:
            shutil.rmtree(folder)


def tried(folder: Path, repository: Path) -> int:
    """Make the project and run its tests; gives Maven's exit status."""
    tools = folder / "tools"
    tools.mkdir()
    for tool in TOOLS:
        if (found := shutil.which(tool)) is not None:
            (tools / tool).symlink_to(found)
    project, local = folder / "project", CACHE / "m2"
    shutil.rmtree(local / "io" / "kafkastub", ignore_errors=True)
    environment = {
        "PATH": str(tools), "HOME": str(folder), "KAFKASTUB_CACHE": str(folder / "cache"), "LANG": "C.UTF-8",
        **{name: value for name, value in os.environ.items() if name in ("JAVA_HOME", "MAVEN_OPTS")},
    }  # fmt: skip
    missing = [tool for tool in ("python3", "kafkastub", "docker") if shutil.which(tool, path=str(tools))]
    assert not missing, missing
    started = time.monotonic()
    subprocess.run(["git", "init", "-q", str(project)], env=environment, check=True)
    (project / "pom.xml").write_text(PROJECT.format(repository=repository.as_uri()))
    sources = project / "src" / "test" / "java" / "comparison"
    sources.mkdir(parents=True)
    for name in ("Clients.java", "KafkaStubFiveTest.java"):
        shutil.copy(TESTS / name, sources)
    # the machine's own settings say where Maven Central is reached
    settings = Path.home() / ".m2" / "settings.xml"
    more = ["-s", str(settings)] if settings.exists() else []
    command = [str(tools / "mvn"), "-B", "-Dstyle.color=never", *more, f"-Dmaven.repo.local={local}", "test"]
    done = subprocess.run(command, cwd=project, env=environment, check=False)
    seconds = time.monotonic() - started
    print(
        f"empty project: {'green' if done.returncode == 0 else 'failed'} {seconds:.1f} s after git init, in {project}"
    )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
