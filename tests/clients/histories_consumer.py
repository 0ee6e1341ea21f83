"""Groups of the consumer protocol (KIP-848) as Kafka's command-line tools show them."""

from __future__ import annotations

from typing import Final

from kafkastub.client import Client, groups
from tests.clients.client import until
from tests.clients.tools import Members, Terminal, filled

SETTINGS: Final = {
    "group.consumer.min.heartbeat.interval.ms": 100,
    "group.consumer.heartbeat.interval.ms": 100,
    "group.consumer.assignment.interval.ms": 0,
}
"""Of the broker: members of this protocol are told by it how often they speak."""

PARTS: Final = ("--offsets", "--members", "--state")


def until_stable(terminal: Terminal, group: str, members: int) -> None:
    """Until the broker has heard of all members that they own what they are to own."""

    def stable() -> bool:
        found = groups.describe(client, group)
        return found.state == "Stable" and len(found.members) == members

    with Client(terminal.servers) as client:
        until(stable, f"{group} stable with {members} members")


def look(terminal: Terminal, group: str) -> None:
    """At all that is shown of a group."""
    for part in PARTS:
        terminal.run(f"kafka-consumer-groups --describe --group {group} {part}")
        terminal.run(f"kafka-consumer-groups --describe --group {group} {part} --verbose")


def consumer(terminal: Terminal) -> None:
    """A group through its life: one member, two, a static one that goes and comes back, none, gone."""
    members = Members(terminal, "consumer")
    filled(terminal, "orders", 4, 10)
    members.join("workers", "one", ["orders"])
    members.read_all("one", 40)
    until_stable(terminal, "workers", 1)
    for asked in ("", " --state", " --type", " --state stable --type consumer", " --type classic"):
        terminal.run(f"kafka-consumer-groups --list{asked}")
    for asked in ("", " --consumer", " --group-type consumer", " --group-type classic", " --share"):
        terminal.run(f"kafka-groups --list{asked}")
    look(terminal, "workers")
    members.join("workers", "two", ["orders"])
    members.poll_until({"one": 2, "two": 2})
    until_stable(terminal, "workers", 2)
    look(terminal, "workers")
    terminal.run("kafka-consumer-groups --describe --all-groups --state")

    terminal.run("kafka-consumer-groups --delete --group workers")
    terminal.run("kafka-consumer-groups --delete-offsets --group workers --topic orders")
    terminal.run("kafka-consumer-groups --reset-offsets --group workers --topic orders --to-earliest --execute")
    members.leave("one")
    members.poll_until({"two": 4})
    until_stable(terminal, "workers", 1)
    look(terminal, "workers")
    members.leave("two")
    look(terminal, "workers")
    terminal.run("kafka-consumer-groups --list --state --type")
    terminal.run("kafka-consumer-groups --delete-offsets --group workers --topic orders:1")
    terminal.run("kafka-consumer-groups --reset-offsets --group workers --topic orders --to-earliest --execute")
    terminal.run("kafka-consumer-groups --delete --group workers --group nobody")
    terminal.run("kafka-consumer-groups --list")


def static(terminal: Terminal) -> None:
    """A static member that goes and comes back, and one that subscribes by a regular expression."""
    members = Members(terminal, "consumer")
    filled(terminal, "orders", 4, 10)
    members.join("crew", "one", ["orders"], instance="first")
    members.poll_until({"one": 4})
    members.join("crew", "two", ["orders"])
    members.poll_until({"one": 2, "two": 2})
    until_stable(terminal, "crew", 2)
    look(terminal, "crew")
    members.leave("one")
    look(terminal, "crew")
    members.join("crew", "one", ["orders"], instance="first")
    members.poll_until({"one": 2, "two": 2})
    until_stable(terminal, "crew", 2)
    look(terminal, "crew")

    members.join("seekers", "one", [], pattern="or.*s", known_as="seeker")
    members.poll_until({"seeker": 4})
    until_stable(terminal, "seekers", 1)
    for part in PARTS:
        terminal.run(f"kafka-consumer-groups --describe --group seekers {part}")
    members.leave("seeker")
    terminal.run("kafka-consumer-groups --describe --group seekers --members --verbose")


def mixed(terminal: Terminal) -> None:
    """A classic group whose members change over to the consumer protocol, one by one, and one back."""
    classic, modern = Members(terminal), Members(terminal, "consumer")
    filled(terminal, "orders", 4, 10)
    classic.join("workers", "one", ["orders"])
    classic.read_all("one", 40)
    terminal.run("kafka-consumer-groups --describe --group workers --members --verbose")
    modern.join("workers", "two", ["orders"])
    modern.poll_until({"one": 2, "two": 2})
    until_stable(terminal, "workers", 2)
    look(terminal, "workers")
    terminal.run("kafka-consumer-groups --list --state --type")
    classic.leave("one")
    modern.poll_until({"two": 4})
    until_stable(terminal, "workers", 1)
    terminal.run("kafka-consumer-groups --describe --group workers --members --verbose")
    classic.join("workers", "one", ["orders"])
    classic.poll_until({"one": 2, "two": 2})
    until_stable(terminal, "workers", 2)
    terminal.run("kafka-consumer-groups --describe --group workers --members --verbose")
    modern.leave("two")
    classic.poll_until({"one": 4})
    until_stable(terminal, "workers", 1)
    terminal.run("kafka-consumer-groups --describe --group workers --members --verbose")
    terminal.run("kafka-consumer-groups --list --state --type")
    classic.leave("one")
    terminal.run("kafka-consumer-groups --describe --group workers --state")
