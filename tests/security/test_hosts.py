"""Ranges of addresses as hosts of entries (KIP-1276): what is one, what is in it, and what Kafka says of the rest."""

from __future__ import annotations

import pytest

from kafkastub import KafkaStub
from kafkastub.client import Client
from kafkastub.security import Acl, Authorizer, Operation, PatternType, Permission, ResourceType
from kafkastub.security.hosts import in_range, refusal
from kafkawire.messages.create_acls_request import AclCreation, CreateAclsRequest

SECURED = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}


@pytest.mark.parametrize(
    ("host", "text"),
    [
        ("", "Host pattern cannot be null or empty"),
        ("10.0.0.0/33", "Value [33] not in range [0,32]"),
        ("10.0.0/8", "Could not parse [10.0.0/8]"),
        ("300.0.0.0/8", "Value [300] not in range [0,255]"),
        ("1.2.3.4/8/9", "Could not parse [1.2.3.4/8/9]"),
        ("*/8", "Could not parse [*/8]"),
        ("2001:db8::/129", "Could not parse [2001:db8::/129] - prefix length must be between 0 and 128"),
        ("2001:db8::/x", "Could not parse [2001:db8::/x] - invalid prefix length"),
        ("::ffff:10.0.0.0/104", "Could not parse [::ffff:10.0.0.0] - not an IPv6 address"),
        ("g::/8", "Could not parse [g::]"),
    ],
)
def test_what_is_no_host_is_refused_in_kafkas_words(host: str, text: str):
    assert refusal(host) == (f"Invalid CIDR notation '{host}': {text}" if host else text)


@pytest.mark.parametrize("host", ["*", "10.0.0.1", "nobody at all", "10.0.0.0/08", "::/0", "[::1]/8", "fe80::1%1/64"])
def test_what_is_one(host: str):
    assert refusal(host) is None


@pytest.mark.parametrize(
    ("host", "pattern", "inside"),
    [
        ("10.1.2.3", "10.0.0.0/8", True),
        ("10.255.255.255", "10.9.8.7/8", True),
        ("11.0.0.0", "10.0.0.0/8", False),
        ("10.0.0.1", "10.0.0.1/32", True),
        ("10.0.0.2", "10.0.0.1/32", False),
        ("255.255.255.255", "0.0.0.0/0", True),
        ("0.0.0.0", "0.0.0.0/0", False),  # nobody's address
        ("2001:db8:0:0:0:0:0:1", "2001:db8::/32", True),
        ("2001:db9:0:0:0:0:0:1", "2001:db8::/32", False),
        ("0:0:0:0:0:0:0:1", "::1/128", True),
        ("10.0.0.1", "::/0", False),
        ("0:0:0:0:0:0:0:1", "0.0.0.0/0", False),
        ("10.0.0.1", "10.0.0.1", False),  # an address is compared as it is, elsewhere
        ("10.0.0.1", "10.0.0.0/33", False),
    ],
)
def test_what_is_in_a_range(host: str, pattern: str, inside: bool):
    assert in_range(host, pattern) is inside


@pytest.mark.parametrize("ranges", [True, False])
def test_an_entry_decides_for_every_host_in_its_range(ranges: bool):
    authorizer = Authorizer(host_ranges=ranges)
    everywhere = Acl(ResourceType.TOPIC, "t", PatternType.LITERAL, "User:a", "*", Operation.READ, Permission.ALLOW)
    authorizer.add(everywhere)
    authorizer.add(everywhere._replace(host="10.0.0.0/8", permission=Permission.DENY))
    authorizer.add(everywhere._replace(host="192.0.2.0/24", operation=Operation.WRITE))

    def may(host: str, operation: Operation) -> bool:
        return authorizer.allows("User:a", host, operation, ResourceType.TOPIC, "t")

    assert [may(host, Operation.READ) for host in ("10.1.1.1", "11.1.1.1")] == [not ranges, True]
    assert [may(host, Operation.WRITE) for host in ("192.0.2.9", "192.0.3.9")] == [ranges, False]
    somewhere = authorizer.allows_somewhere("User:a", "192.0.2.9", Operation.WRITE, ResourceType.TOPIC)
    assert somewhere is ranges


@pytest.mark.behaviour("CA-7")
@pytest.mark.parametrize(("release", "codes"), [(None, [42, 42, 0, 0]), ("4.3", [0, 0, 0, 0])])
def test_an_entry_with_a_host_that_cannot_be_spares_its_neighbours(release: str | None, codes: list[int]):
    with KafkaStub(config=SECURED, as_version=release) as stub, Client(stub.bootstrap_servers) as client:
        entries = [
            AclCreation(2, "t", 3, "User:a", host, 3, 3) for host in ("", "10.0.0.0/33", "10.0.0.0/8", "10.0.0.1")
        ]
        answer = client.ask(CreateAclsRequest(creations=entries))
    assert [row.error_code for row in answer.results] == codes
