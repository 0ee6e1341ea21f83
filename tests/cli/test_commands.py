"""The commands beyond what Kafka's tools have: JSON, statuses, refusals, colours, completion."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafkastub import KafkaStub
from kafkastub.client import Client
from kafkastub.client.groups import commit
from tests.cli.kafkas_tools import run
from tests.process.serving import COMMAND

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 2, "audit": 1}) as stub:
        with Client(stub.bootstrap_servers) as client:
            commit(client, "readers", {("orders", 0): 0, ("orders", 1): 0, ("audit", 0): 0})
            commit(client, "others", {("orders", 0): 0})
        yield stub


@pytest.fixture
def ask(stub: KafkaStub) -> Run:
    """Run a command line on the stub."""

    def asked(line: str, *more: str) -> tuple[int, str, str]:
        return run(*line.split(), *more, "--bootstrap-server", stub.bootstrap_servers)

    return asked


def test_groups_as_json(ask: Run):
    status, out, _ = ask("groups list -o json")
    assert status == 0
    assert sorted(json.loads(out), key=lambda row: row["group"]) == [
        {"group": name, "type": "Classic", "state": "Empty"} for name in ("others", "readers")
    ]


def test_offsets_as_json(ask: Run):
    _, out, _ = ask("groups describe --group others -o json")
    (group,) = json.loads(out)
    assert (group["group"], group["state"]) == ("others", "Empty")
    assert group["offsets"] == [
        {
            "group": "others", "topic": "orders", "partition": 0, "leader_epoch": None, "current_offset": 0,
            "log_end_offset": 0, "lag": 0, "consumer_id": None, "host": None, "client_id": None,
        }
    ]  # fmt: skip


def test_state_and_members_as_json(ask: Run, stub: KafkaStub):
    (state,) = json.loads(ask("groups describe --group others --state -o json")[1])
    assert state["coordinator"] == {"id": 1, "host": "127.0.0.1", "port": stub.port}
    assert state["members"] == 0
    assert json.loads(ask("groups describe --group others --members -o json")[1])[0]["members"] == []


def test_deletions_as_json(ask: Run):
    status, out, _ = ask("groups delete --group others --group nobody -o json")
    assert status == 1
    assert json.loads(out) == [
        {"group": "others", "error": None},
        {"group": "nobody", "error": {"code": "GROUP_ID_NOT_FOUND", "message": "The group id does not exist."}},
    ]


def test_topics_as_json(ask: Run):
    assert json.loads(ask("topics list -o json")[1]) == ["__consumer_offsets", "audit", "orders"]
    (topic,) = json.loads(ask("topics describe --topic orders -o json")[1])
    assert [row["leader"] for row in topic["partitions"]] == [1, 1]
    assert topic["configs"]["retention.ms"] == "-1"
    assert json.loads(ask("topics create --topic new --partitions 4 -o json")[1]) == {"topic": "new", "created": True}
    assert json.loads(ask("topics delete --topic new -o json")[1]) == [{"topic": "new", "deleted": True}]


def test_resets_as_json(ask: Run):
    _, out, _ = ask("groups reset-offsets --group others --topic orders:1 --to-latest --dry-run -o json")
    assert json.loads(out) == [{"group": "others", "topic": "orders", "partition": 1, "new_offset": 0}]


def test_the_table_of_kip_496(ask: Run):
    status, out, err = ask("groups delete-offsets --group readers --topic orders --topic foo")
    assert (status, err) == (1, "")
    assert [line.rstrip() for line in out.splitlines()] == [
        "Request succeeded for deleting offsets from group readers.",
        "",
        "TOPIC           PARTITION  STATUS",
        "foo             Not Provided Error: org.apache.kafka.common.errors.UnknownTopicOrPartitionException: "
        "This server does not host this topic-partition.",
        "orders          0          Successful",
        "orders          1          Successful",
    ]


def test_a_failure_has_a_status(ask: Run):
    assert ask("groups describe --group nobody")[0] == 1
    assert ask("groups delete --group nobody")[0] == 1
    assert ask("groups delete-offsets --group nobody --topic orders")[0] == 1
    assert ask("groups reset-offsets --group readers --topic missing --to-latest --dry-run")[0] == 1
    assert ask("topics describe --topic missing")[0] == 1
    assert ask("groups delete --all-groups")[0] == 0
    assert ask("groups list")[:2] == (0, "")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("groups list --state sleepy", "Invalid states list 'sleepy'. Valid states are: PreparingRebalance"),
        ("groups list --type modern", "Invalid types list 'modern'. Valid types are: Classic, Consumer"),
        ("groups delete-offsets --group g --topic a:b:c", "Invalid topic arg 'a:b:c', expected topic name"),
        ("groups delete-offsets --group g --topic a:x", "Invalid partition 'x' specified in topic arg 'a:x'"),
        ("groups reset-offsets --group g --to-latest", "One of the reset scopes should be defined"),
        ("groups reset-offsets --group g --topic audit --shift-by 1", "there is no current committed offset"),
        ("groups reset-offsets --group g --from-file no/such", "cannot read no/such: No such file or directory"),
        ("groups reset-offsets --group g --topic a --to-datetime tomorrow", "'tomorrow' is not a time such as 2026-"),
        ("groups reset-offsets --group g --topic a --by-duration 7d", "'7d' is not a duration such as P7D"),
        ("groups reset-offsets --group g --topic a --shift-by many", "'many' is not a whole number"),
        ("groups reset-offsets --group g --topic a --to-latest --to-earliest", "not allowed with argument"),
        ("groups describe --group g --members --state", "not allowed with argument"),
        ("groups describe", "one of the arguments --group --all-groups is required"),
        ("groups list --timeout 0", "'0' is not a whole number of at least 1"),
        ("groups list --command-config no/such", "can't be read: No such file or directory"),
        ("topics create --topic a --replica-assignment 1:1", "names a broker twice"),
        ("topics create --topic a --replica-assignment 1 --partitions 2", "remove the other options"),
        ("topics list --topic [", "'[' is not a regular expression"),
    ],
)  # fmt: skip
def test_nonsense_is_refused_in_one_sentence(ask: Run, line: str, said: str):
    status, out, err = ask(line)
    assert (status, out.strip()) == (2, "")
    assert said in err.splitlines()[-1]


def test_a_file_for_the_client_is_read(ask: Run, tmp_path: Path):
    config = tmp_path / "client.properties"
    config.write_text("client.id=me\n")
    assert ask("groups list", "--command-config", str(config))[0] == 0
    config.write_text("security.protocol=SSL\n")
    status, _, err = ask("groups list", "--command-config", str(config))
    assert (status, "security.protocol=SSL" in err) == (2, True)


def test_a_csv_file_with_a_bad_line_is_refused(ask: Run, tmp_path: Path):
    plan = tmp_path / "plan.csv"
    plan.write_text("orders,0,1\norders,zero,1\n")
    status, _, err = ask("groups reset-offsets --group readers --dry-run", "--from-file", str(plan))
    assert status == 2
    assert err.endswith("plan.csv, line 2: 'orders,zero,1' is not topic,partition,offset\n")


def test_an_export_is_a_file_that_can_be_read_back(ask: Run, tmp_path: Path):
    plan = tmp_path / "plan.csv"
    reset = "groups reset-offsets --group readers --group others"
    plan.write_text(ask(f"{reset} --topic orders --to-latest --export --dry-run")[1])
    status, out, _ = ask(f"{reset} --execute -o json", "--from-file", str(plan))
    assert status == 0
    assert {(row["group"], row["topic"], row["partition"]) for row in json.loads(out)} == {
        (group, "orders", partition) for group in ("readers", "others") for partition in (0, 1)
    }


def test_an_older_broker_is_asked_what_it_has():
    with KafkaStub(topics={"orders": 1}, as_version="2.1") as stub:
        server = ("--bootstrap-server", stub.bootstrap_servers)
        reset = "groups reset-offsets --group g --topic orders --to-latest --execute"
        assert run(*reset.split(), *server).status == 0
        assert run("groups", "list", "--state", "--type", *server).out.split()[3:] == ["g", "Classic", "Unknown"]
        nobody = run("groups", "describe", "--group", "nobody", *server)
        assert nobody[:2] == (1, "\nError: Consumer group 'nobody' does not exist.\n")
        assert "N/A" in run("topics", "describe", "--topic", "orders", *server).out
        refused = run("groups", "delete-offsets", "--group", "g", "--topic", "orders", *server)
    assert refused == (
        1, "", f"kafkastub: the broker at {stub_address(server)} does not support OffsetDelete\n",
    )  # fmt: skip


def stub_address(server: tuple[str, str]) -> str:
    return server[1]


def on_a_terminal(*args: str, **variables: str) -> str:
    """What a person sees."""
    leader, follower = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | {"TERM": "xterm"} | variables
    process = subprocess.Popen([COMMAND, *args], stdout=follower, stderr=follower, env=environment)
    os.close(follower)
    seen = b""
    while True:
        try:
            more = os.read(leader, 4096)
        except OSError:  # the other end is closed
            break
        if not more:
            break
        seen += more
    os.close(leader)
    process.wait()
    return seen.decode()


def test_colours_are_for_terminals_that_want_them(stub: KafkaStub):
    args = ("groups", "describe", "--group", "readers", "--bootstrap-server", stub.bootstrap_servers)
    assert "\033[1mGROUP" in on_a_terminal(*args)
    assert "\033" not in on_a_terminal(*args, NO_COLOR="1")
    assert "\033" not in run(*args).out


def test_progress_is_shown_where_there_is_much_to_do(stub: KafkaStub):
    with Client(stub.bootstrap_servers) as client:
        for number in range(30):
            commit(client, f"group-{number}", {("audit", 0): 0})
    args = ("groups", "delete", "--all-groups", "--bootstrap-server", stub.bootstrap_servers)
    seen = on_a_terminal(*args)
    assert "deleting" in seen
    assert "was successful" in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_scripts_know_the_commands(shell: str):
    status, out, _ = run("completion", shell)
    assert status == 0
    assert all(word in out for word in ("reset-offsets", "--to-datetime", "serve", "--as-version"))


def test_the_bash_script_is_one():
    script = run("completion", "bash").out
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0


def test_no_room_for_the_answer_is_one_sentence(stub: KafkaStub):
    args = [COMMAND, "topics", "list", "--bootstrap-server", stub.bootstrap_servers]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(args, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "kafkastub: cannot write to standard output: No space left on device\n"
