"""The text of a subject, and the rules that make a principal of it (``SslPrincipalMapper``)."""

from __future__ import annotations

import ssl

import pytest

from kafkastub.security.tls_made import Authority
from kafkastub.security.tls_names import NoRuleApplies, PrincipalRules, RuleError, subject_of

CA = Authority.made()


def subject(text: str) -> str:
    return subject_of(ssl.PEM_cert_to_DER_cert(CA.client(text)[0].decode()))


@pytest.mark.parametrize(
    "text",
    ["CN=alice", "CN=alice,OU=dev,O=Kafka,L=Berlin,ST=BE,C=DE", "UID=a,DC=example,DC=org", "CN=é ü", r"CN=a\,b\+c\\"],
)
def test_a_subject_is_printed_as_rfc_2253_has_it(text: str):
    assert subject(text) == text


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("EMAILADDRESS=a@b.c", "1.2.840.113549.1.9.1=#16056140622e63"),
        (r"CN=\ x\ ", r"CN=\ x\ "),
        (r"CN=a\=b", r"CN=a\=b"),
        ("OU=b+CN=a,O=c", "CN=a+OU=b,O=c"),  # a set is ordered by its encoding
    ],
)
def test_what_java_prints_in_its_own_way(text: str, printed: str):
    assert subject(text) == printed


@pytest.mark.parametrize(
    ("rules", "name", "principal"),
    [
        ("DEFAULT", "CN=a,O=b", "User:CN=a,O=b"),
        (r"RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/,DEFAULT", "CN=kafka1,OU=ServiceUsers,O=x", "User:kafka1"),
        (r"RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/,DEFAULT", "CN=kafka1,OU=Others", "User:CN=kafka1,OU=Others"),
        (r"RULE:^CN=(.*?),OU=(.*?),O=(.*?),L=(.*?),ST=(.*?),C=(.*?)$/$1@$2/L",
         "CN=Adam,OU=Admins,O=A,L=B,ST=C,C=D", "User:adam@admins"),
        (r"RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/L , RULE:^OU=(.*)$/$1/U", "OU=abc", "User:ABC"),
        (r"RULE:CN=(.*)/$1$2/", "CN=a", "User:a$2"),
        (r"RULE:CN=(.*)/$12/", "CN=a", "User:a2"),
        (r"RULE:CN=(?<who>.*)/$1\/x/", "CN=a", "User:a/x"),
        (r"RULE:.*/x/", "CN=a", "User:xx"),  # .* matches once more at the end: so does Java
    ],
)  # fmt: skip
def test_a_rule_makes_a_principal(rules: str, name: str, principal: str):
    assert PrincipalRules(rules).principal(name) == principal


def test_a_name_without_a_rule_has_no_principal():
    with pytest.raises(NoRuleApplies, match="CN=b"):
        PrincipalRules("RULE:^CN=a$/x/").principal("CN=b")


@pytest.mark.parametrize("rules", ["default", "RULE:", "RULE:a/b", "RULE:a/b/X", "RULE:^(a/b/", "DEFAULT/L"])
def test_a_rule_that_kafka_would_not_start_with_is_refused(rules: str):
    with pytest.raises(RuleError):
        PrincipalRules(rules)
