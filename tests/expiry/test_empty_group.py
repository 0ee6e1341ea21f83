"""The empty group id in every API and version, in both profiles (KIP-289)."""

from __future__ import annotations

import pytest

from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.list_groups_request import ListGroupsRequest
from tests.coordinator.context import CoordinatorTestContext, Member

PROFILES = ("kips", "kafka")
COMMITTED = {("a", 0): (7, -1, "")}
INVALID = ErrorCode.INVALID_GROUP_ID


def in_both(versions: range) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("profile", "version"), [(p, v) for p in PROFILES for v in versions])


def with_offsets(profile: str) -> CoordinatorTestContext:
    """A broker in which the empty group has an offset: versions 2 and 3 commit it in both profiles."""
    context = CoordinatorTestContext(profile)
    assert context.commit("", {"a": {0: 7}}, version=3) == {("a", 0): 0}
    return context


@in_both(range(2, 11))
def test_commits(profile: str, version: int):
    context = CoordinatorTestContext(profile)
    refused = profile == "kips" and version >= 4
    assert context.commit("", {"a": {0: 7}}, version=version) == {("a", 0): 73 if refused else 0}
    assert context.fetch("") == ({} if refused else COMMITTED)
    assert context.group_state("") == ("Dead" if refused else "Empty")


@pytest.mark.parametrize("version", range(4, 11))
def test_a_refused_commit_leaves_what_an_older_one_committed(version: int):
    context = with_offsets("kips")
    context.commit("", {"a": {0: 8, 1: 9}}, version=version)
    assert context.fetch("") == COMMITTED
    assert context.coordinator.meters.offset_commits == 1


@in_both(range(1, 11))
def test_fetches(profile: str, version: int):
    assert with_offsets(profile).fetch("", {"a": [0]}, version=version) == COMMITTED


@in_both(range(7))
def test_finds_its_coordinator(profile: str, version: int):
    keys = {"key": ""} if version < 4 else {"coordinator_keys": [""]}
    answer = CoordinatorTestContext(profile).call(ApiKey.FIND_COORDINATOR, version, FindCoordinatorRequest(**keys))
    (code,) = [answer.error_code] if version < 4 else [c.error_code for c in answer.coordinators]
    assert code == 0


@in_both(range(10))
def test_cannot_be_joined(profile: str, version: int):
    context = with_offsets(profile)
    assert context.join("", version=version).answer.error_code == INVALID
    assert context.join("", "somebody", version=version).answer.error_code == INVALID
    assert context.group_state("") == "Empty"


@in_both(range(6))
def test_has_no_members_to_sync(profile: str, version: int):
    answer = with_offsets(profile).sync(Member("", "somebody", 1), version=version)
    assert answer.error_code == INVALID


@in_both(range(5))
def test_has_no_members_to_keep_alive(profile: str, version: int):
    assert with_offsets(profile).heartbeat(Member("", "somebody", 1), version=version) == INVALID


@in_both(range(6))
def test_has_no_members_to_leave(profile: str, version: int):
    assert with_offsets(profile).leave("", ("somebody", None), version=version).error_code == INVALID


@in_both(range(7))
def test_is_described(profile: str, version: int):
    group = with_offsets(profile).describe("", version=version)
    assert (group.error_code, group.group_state, group.protocol_type) == (0, "Empty", "")
    nobody = CoordinatorTestContext(profile).describe("", version=version)
    assert (nobody.error_code, nobody.group_state) == (69 if version >= 6 else 0, "Dead")


@in_both(range(6))
def test_is_listed(profile: str, version: int):
    answer = with_offsets(profile).call(ApiKey.LIST_GROUPS, version, ListGroupsRequest())
    assert [g.group_id for g in answer.groups] == [""]


@in_both(range(3))
def test_is_deleted_as_any_group(profile: str, version: int):
    context = with_offsets(profile)
    assert context.delete_groups("", version=version) == [("", ErrorCode.NONE)]
    assert context.fetch("") == {}
    assert context.delete_groups("", version=version) == [("", ErrorCode.GROUP_ID_NOT_FOUND)]


@in_both(range(1))
def test_single_offsets_of_it_cannot_be_deleted(profile: str, version: int):
    context = with_offsets(profile)
    assert context.delete_offsets("", {"a": [0]}).error_code == INVALID
    assert context.fetch("") == COMMITTED


# -- the warning -----------------------------------------------------------------------------------------------------


@pytest.fixture
def context() -> CoordinatorTestContext:
    return CoordinatorTestContext("kips")


@pytest.mark.behaviour("OC-12")
def test_the_deprecation_is_told_once_per_client_and_minute(context: CoordinatorTestContext):
    def commit(client: str, version: int) -> int:
        context.client_id = client
        context.commit("", version=version)
        return len(context.log.warnings)

    assert commit("one", 3) == 1
    assert [commit("one", 2) for _ in range(10)] == [1] * 10
    assert commit("two", 3) == 2
    context.timer_ms += 59_999
    assert (commit("one", 3), commit("two", 2)) == (2, 2)
    context.timer_ms += 1
    assert (commit("one", 3), commit("two", 3), commit("one", 3)) == (3, 4, 4)


@pytest.mark.behaviour("OC-12")
def test_the_same_client_id_on_two_hosts_is_two_clients(context: CoordinatorTestContext):
    context.commit("", version=3)
    context.connection.client_host = "/10.0.0.1"
    context.commit("", version=3)
    assert len(context.log.warnings) == 2


@pytest.mark.behaviour("OC-12")
def test_the_deprecation_is_told_while_broker_time_stands_still_or_leaps(context: CoordinatorTestContext):
    context.commit("", version=3)
    context.broker_ms += 10**9
    context.commit("", version=3)
    assert len(context.log.warnings) == 1


@pytest.mark.behaviour("OC-12")
def test_many_clients_do_not_fill_the_memory(context: CoordinatorTestContext):
    most = context.state.empty_group_warnings.most
    for number in range(most + 10):
        context.client_id = f"client-{number}"
        context.commit("", version=3)
    assert len(context.state.empty_group_warnings) == most
    assert len(context.log.warnings) == most + 10


@pytest.mark.parametrize("version", range(2, 11))
def test_the_kafka_profile_tells_of_no_deprecation(version: int):
    context = CoordinatorTestContext("kafka")
    context.commit("", version=version)
    assert context.log.warnings == []
