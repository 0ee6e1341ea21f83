"""Record golden/: what Apache Kafka holds in `__consumer_offsets` after the history, and what its formatters print.

`python -m tests.offsets_topic.record`
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.clients.jvm import Jvm
from tests.offsets_topic import consumer_history, share_history, streams_history
from tests.offsets_topic.formatters import printed
from tests.offsets_topic.history import CONFIG, normalised, play, shown
from tests.oracle.apache_kafka import ApacheKafka

GOLDEN = Path(__file__).resolve().parent / "golden"
CODECS = {"none": 0, "gzip": 1}


def consumer_groups() -> None:
    """What the history of consumer groups leaves, as it is on the wire."""
    with ApacheKafka(config=consumer_history.CONFIG) as kafka:
        player = consumer_history.play(kafka.bootstrap_servers)
        told = {
            "topic_ids": {topic_id.hex(): name for topic_id, name in player.topic_ids.items()},
            "partitions": consumer_history.raw(player),
            "described": consumer_history.described(player),
        }
        player.close()
    (GOLDEN / "consumer-groups.json").write_text(json.dumps(told, indent=1) + "\n")


def share_groups() -> None:
    """What the history of share groups leaves, as it is on the wire."""
    with ApacheKafka(config=share_history.CONFIG) as kafka:
        player = share_history.play(kafka.bootstrap_servers)
        told = {
            "topic_ids": {topic_id.hex(): name for topic_id, name in player.topic_ids.items()},
            "partitions": consumer_history.raw(player),
            "described": share_history.described(player),
        }
        player.close()
    (GOLDEN / "share-groups.json").write_text(json.dumps(told, indent=1) + "\n")


def streams_groups() -> None:
    """What the history of streams groups leaves, as it is on the wire, and what members were answered."""
    with ApacheKafka(config=streams_history.CONFIG) as kafka:
        player, answers = streams_history.play(kafka.bootstrap_servers)
        told = {
            "answers": answers,
            "partitions": consumer_history.raw(player),
            "described": streams_history.described(player),
        }
        player.close()
    (GOLDEN / "streams-groups.json").write_text(json.dumps(told, indent=1) + "\n")


def main() -> None:
    GOLDEN.mkdir(exist_ok=True)
    consumer_groups()
    share_groups()
    streams_groups()
    for name, codec in CODECS.items():
        with ApacheKafka(config={**CONFIG, "offsets.topic.compression.codec": codec}) as kafka:
            player = play(kafka.bootstrap_servers)
            batches = shown(normalised(player))
            if codec == 0:
                with Jvm() as jvm:
                    (GOLDEN / "formatters.txt").write_text("\n".join([*printed(jvm, player), ""]))
            player.close()
        (GOLDEN / f"batches-{name}.json").write_text(json.dumps(batches, indent=1, ensure_ascii=False) + "\n")
        print(f"{name}: {[len(batches_) for batches_ in batches]} batches")


if __name__ == "__main__":
    main()
