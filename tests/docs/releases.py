"""docs/releases.md: what the stub has of each Apache Kafka release, from the table and the registrations."""

from __future__ import annotations

from kafkastub.config.releases import APIS, FEATURES
from kafkastub.handlers.release import gaps, served_apis

_INTRODUCTION = """\
# APIs of each release

Written by `make docs` from `kafkastub.config.releases` (made from the jars of these releases) and the handlers'
registrations. With `--as-version` (see [as-version.md](as-version.md)) the stub advertises and accepts the APIs and
versions of the release, except the missing ones in this table. As in Apache Kafka 4, Produce is advertised from version
0, but a request of versions 0 to 2 closes the connection.

For every release, the APIs between brokers and the versions that Apache Kafka 4 has dropped are not served.

| release | served APIs | metadata.version | missing versions | missing APIs |
|---|---|---|---|---|"""


def releases() -> str:
    """The document's text."""
    lines = [_INTRODUCTION]
    for release in APIS:
        found = gaps(release)
        partly = ", ".join(
            f"{gap.key.camel} {_missing(gap.wanted, gap.served)}" for gap in found if gap.served is not None
        )
        wholly = ", ".join(gap.key.camel for gap in found if gap.served is None)
        levels = "{}-{}".format(*FEATURES[release]["metadata.version"]) if release in FEATURES else "-"
        lines.append(f"| {release} | {len(served_apis(release))} | {levels} | {partly or '-'} | {wholly or '-'} |")
    return "\n".join(lines) + "\n"


def _missing(wanted: tuple[int, int], served: tuple[int, int]) -> str:
    ranges = [(wanted[0], served[0] - 1), (served[1] + 1, wanted[1])]
    return " and ".join(str(low) if low == high else f"{low}-{high}" for low, high in ranges if low <= high)
