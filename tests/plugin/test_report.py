"""`--kafka-stub-report DIR`: what is written of a test that failed, and when."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest

from kafkastub.pytest_plugin.report.folder import file_name
from kafkastub.pytest_plugin.report.page import MOST_BYTES, Failure, Shown, failed_page
from kafkastub.stub.inventory import Inventory, Table
from tests.plugin.test_failures import UNSERVED

OUT = "--kafka-stub-report=out"


def pages(pytester: pytest.Pytester, folder: str = "out") -> list[str]:
    """What was written of tests."""
    found = sorted((pytester.path / folder).iterdir())
    assert [path.suffix for path in found] == [".html"] * len(found)
    return [path.read_text() for path in found if path.name != "index.html"]


def index(pytester: pytest.Pytester) -> str:
    return (pytester.path / "out" / "index.html").read_text()


class Elements(HTMLParser):
    """The elements of a page, and what would be loaded by it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.loads: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        named = dict(attrs)
        self.loads += [f"{tag} {named[one]}" for one in ("src", "href") if named.get(one) and tag != "a"]


PLAIN = {
    "html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "input", "pre", "dl", "dt", "dd", "div",
    "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "script", "a",
}  # fmt: skip


def is_plain(page: str) -> bool:
    found = Elements(page)
    script = "<script>" not in re.sub(r"<script>\n.*?</script>\n</body></html>\n$", "", page, flags=re.DOTALL)
    return found.names <= PLAIN and not found.loads and script and "http" not in page.replace("http-equiv", "")


MARKUP = """
from confluent_kafka import Consumer, Producer, TopicPartition
EVIL = "</td><img src=x onerror=alert(1)><script>"

@pytest.mark.parametrize("name", [EVIL])
def test_it(kafka_stub, kafka_faults, name):
    kafka_faults.add(api="OffsetCommit", error="COORDINATOR_LOAD_IN_PROGRESS", times=1, name=name)
    kafka_stub.create_topic("orders")
    kafka_stub.produce("orders", name, key=name, headers=[(name, name.encode())])
    settings = {"bootstrap.servers": kafka_stub.bootstrap_servers, "client.id": name}
    consumer = Consumer({**settings, "group.id": name, "group.instance.id": name, "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    assert consumer.poll(60) is not None
    consumer.commit(offsets=[TopicPartition("orders", 0, 1, name)], asynchronous=False)
    producer = Producer({**settings, "transactional.id": name})
    producer.init_transactions(60)
    raise AssertionError(name)
"""


def test_markup_in_names_is_text(run, pytester: pytest.Pytester):
    run(MARKUP, OUT).assert_outcomes(failed=1)
    (page,) = pages(pytester)
    for found in (page, index(pytester)):
        assert is_plain(found)
        assert "&lt;img src=x onerror" in found
    for table in ("journal", "faults", "groups", "members", "offsets", "transactions", "topics", "records, the last 5"):
        assert re.search(f"<h3 id=[^>]*>{table}", page), table
    assert page.count('<tr class="fault">') == 2, "the request, and the rule"


FIXTURES = """
@pytest.fixture
def begun(kafka_stub):
    kafka_stub.create_topic("of-the-fixture")
    raise RuntimeError("no set-up")

@pytest.fixture
def ending(kafka_stub):
    yield
    raise RuntimeError("no tear-down")

def test_begun(begun): pass

def test_ending(ending, kafka_stub):
    kafka_stub.create_topic("of-the-test")

def test_both(ending, kafka_stub):
    assert not "well"
"""


def test_a_set_up_and_a_tear_down_that_fail(run, pytester: pytest.Pytester):
    run(FIXTURES, OUT).assert_outcomes(failed=1, errors=3, passed=1)
    begun, both, ending = sorted(pages(pytester), key=lambda page: re.search("<title>.*test_(.*) ", page)[1])
    assert "set-up failed" in begun
    assert "of-the-fixture" in begun
    assert "tear-down failed" in ending
    assert "<td>of-the-test</td>" in ending
    assert [both.count(f"{what} failed</h2>") for what in ("the test itself", "tear-down")] == [1, 1]
    assert index(pytester).count("<a href=") == 4


def test_a_stub_that_the_test_has_closed_is_shown_as_it_was_then(run, pytester: pytest.Pytester):
    run(
        """
from kafkastub import KafkaStub

def test_it():
    with KafkaStub(topics=["orders"]) as stub, KafkaStub(topics=["bills"], process=True) as other:
        stub.produce("orders", "one")
        other.produce("bills", "two")
        raise AssertionError
""",
        OUT,
    ).assert_outcomes(failed=1)
    (page,) = pages(pytester)
    assert page.count("As it was when it was closed.") == 2
    assert "<td>one</td>" in page
    assert "<td>two</td>" in page


def test_two_stubs_have_their_names_each(run, pytester: pytest.Pytester):
    run(
        """
def test_it(kafka_stub, kafka_stub_factory):
    kafka_stub_factory(topics=["of-the-factory"])
    raise AssertionError
""",
        OUT,
    ).assert_outcomes(failed=1)
    (page,) = pages(pytester)
    assert "<h2>kafka_stub</h2>" in page
    assert "<h2>kafka_stub_factory</h2>" in page.partition("<h2>kafka_stub</h2>")[2]


WITHOUT = """
def test_passes(kafka_stub_server): topics(kafka_stub_server)

def test_fails(): raise AssertionError

def test_skips(kafka_stub): pytest.skip("not today")

@pytest.mark.xfail
def test_is_known_to_fail(kafka_stub): raise AssertionError
"""


def test_of_a_test_without_a_stub_nothing_is_written(run, pytester: pytest.Pytester):
    result = run(WITHOUT, OUT)
    result.assert_outcomes(passed=1, failed=1, skipped=1, xfailed=1)
    assert pages(pytester) == []
    assert "No test that used a Kafka stub failed" in index(pytester)
    result.stdout.no_fnmatch_line("failed tests with their Kafka stubs*")


def test_a_shared_stub_shows_the_requests_of_the_test_that_failed(run, pytester: pytest.Pytester):
    run(
        """
def test_one(kafka_stub_server): topics(kafka_stub_server)

def test_two(kafka_stub_server): raise AssertionError
""",
        OUT,
    ).assert_outcomes(passed=1, failed=1)
    (page,) = pages(pytester)
    assert "kafka_stub_server" in page
    assert "Metadata" not in page


XDIST = """
@pytest.mark.parametrize("name", ["a/b", "a b", "..", "x" * 300, "\\u0394\\u2028", "CON"])
def test_it(kafka_stub, name): raise AssertionError
"""


def test_workers_of_xdist_write_into_one_folder(run, pytester: pytest.Pytester):
    result = run(XDIST, "-p", "xdist.plugin", "-n", "2", OUT)
    result.assert_outcomes(failed=6)
    assert len(pages(pytester)) == 6
    names = re.findall('href="([^"]+)"', index(pytester))
    assert len(set(names)) == 6
    for name in names:
        assert re.fullmatch(r"[\w.-]{1,100}", name, re.ASCII)
        assert (pytester.path / "out" / name).is_file()
    result.stdout.fnmatch_lines(["failed tests with their Kafka stubs: */out/index.html"])


@pytest.mark.parametrize(("where", "why"), [("taken/out", "Not a directory"), ("taken", "File exists")])
def test_a_folder_that_cannot_be_written_is_an_error_before_the_tests(run, pytester, where: str, why: str):
    (pytester.path / "taken").write_text("a file")
    result = run("def test_it(): raise AssertionError", f"--kafka-stub-report={where}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --kafka-stub-report *{where}: cannot be written: {why}"])


def test_what_an_earlier_run_has_written_goes_and_nothing_else(run, pytester: pytest.Pytester):
    mine = pytester.path / "out" / f"mine-{'0' * 12}.html"
    mine.parent.mkdir()
    mine.write_text("mine")
    run("def test_old(kafka_stub): raise AssertionError", OUT)
    run("def test_new(kafka_stub): raise AssertionError", OUT)
    assert mine.read_text() == "mine"
    names = {path.name.partition(".py-")[2][:8] for path in mine.parent.iterdir() if path != mine}
    assert names == {"test_new", ""}


def test_a_list_of_somebody_else_is_not_lost(run, pytester: pytest.Pytester):
    (pytester.path / "out").mkdir()
    (pytester.path / "out" / "index.html").write_text("mine")
    result = run("def test_it(): pass", OUT)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert index(pytester) == "mine"


HANGING = """
import os, signal, threading
from kafkastub import KafkaStub
from kafkastub.pytest_plugin import failure
from kafkastub.pytest_plugin.report import reporter

failure._SECONDS = reporter._SECONDS = 1.0

@pytest.fixture
def held(kafka_stub):
    topics(kafka_stub)
    go_on, runs = threading.Event(), threading.Event()
    caller = threading.Thread(target=lambda: kafka_stub._call(lambda: runs.set() or go_on.wait(60)))
    caller.start()
    runs.wait(60)
    yield
    go_on.set()
    caller.join()

def test_its_loop(held): raise AssertionError

@pytest.fixture
def stopped():
    stub = KafkaStub(process=True).start()
    os.kill(stub._child.pid, signal.SIGSTOP)
    yield
    os.kill(stub._child.pid, signal.SIGKILL)

def test_its_process(stopped): raise AssertionError

def test_it_is_dead():
    stub = KafkaStub(process=True).start()
    os.kill(stub._child.pid, signal.SIGKILL)
    stub._child._process.join()
    raise AssertionError
"""


def test_a_stub_that_hangs_or_is_dead_does_not_hang_the_run(run, pytester: pytest.Pytester, monkeypatch):
    run(HANGING.replace("60", "600"), OUT).assert_outcomes(failed=3)
    dead, loop, process = sorted(pages(pytester), key=lambda page: re.search("<title>.*test_(.*) ", page)[1])
    assert "It does not answer: no answer within 1 s." in loop
    assert "Metadata" in loop, "its journal is there"
    assert "It does not answer: no answer within 1 s." in process
    assert "has ended" in dead


def test_nothing_is_loaded_or_kept_where_it_is_not_asked_for(run, pytester: pytest.Pytester):
    run("""
import sys
from kafkastub.stub.started import BEFORE_CLOSE

def test_it(kafka_stub):
    assert not [name for name in sys.modules if name.startswith("kafkastub.pytest_plugin.report")]
    assert "kafkastub.stub.inventory" not in sys.modules
    assert [each.__module__ for each in BEFORE_CLOSE] == ["kafkastub.pytest_plugin.closing"]
""").assert_outcomes(passed=1)


def test_nothing_of_the_broker_is_loaded_for_it(run, pytester: pytest.Pytester):
    run("import sys\ndef test_it(): assert 'kafkastub.stub.stub' not in sys.modules", OUT).assert_outcomes(passed=1)


def test_what_is_not_served_is_in_the_journal_as_an_error(run, pytester: pytest.Pytester):
    run(UNSERVED, OUT).assert_outcomes(failed=1)
    (page,) = pages(pytester)
    assert re.search(r'<tr class="error">.*UpdateRaftVoter v0.*UNSUPPORTED_VERSION', page)


@pytest.mark.parametrize("letter", ["x", '"', "\u2028", "\ud800"])
def test_a_page_has_its_bounds_and_says_what_is_left_out(letter: str):
    rows = tuple((str(number), letter * 3000) for number in range(2000))
    tables = tuple(Table(f"table {n}", ("no", "text"), rows, left_out=n, newest=n == 0) for n in range(20))
    found = Inventory(datetime.now(UTC), (("fact", letter * 10),), tables)
    failure = Failure("call", letter * 9000, letter * 5_000_000, (Shown("one", found), Shown("two", found)), 7)
    page = failed_page(f"test_it[{letter * 100_000}]", [failure, failure])
    written = page.encode()
    assert MOST_BYTES / 2 < len(written) <= MOST_BYTES
    assert "characters are left out here" in page
    assert "for which there is no room in this file" in page
    assert "7 stubs that were started earlier" in page
    assert "<td>1999</td>" in page, "the newest of a journal"
    assert is_plain(page)


def test_a_name_is_safe_on_every_file_system():
    names = {file_name(node) for node in ("a/b.py::t[x/y]", "a/b.py::t[x-y]", "..", "t\0", "t[\ud800]", "é" * 900)}
    assert len(names) == 6
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,98}", name) for name in names)
    assert Path(file_name("../../etc/passwd")).name.startswith("passwd-")


IN_SHORT = """
from confluent_kafka import Consumer, TopicPartition

@pytest.mark.kafka_stub(config={"offsets.retention.minutes": "60"})
def test_it(kafka_stub, kafka_faults):
    kafka_faults.add(api="OffsetCommit", error="NOT_COORDINATOR", times=1, name="refusing")
    kafka_stub.create_topic("orders")
    consumer = Consumer({"bootstrap.servers": kafka_stub.bootstrap_servers, "group.id": "billing"})
    consumer.commit(offsets=[TopicPartition("orders", 0, 1)], asynchronous=False)
    consumer.close()
    kafka_stub.clock.advance(hours=2)
    raise AssertionError("nothing is left")
"""


def test_what_happened_is_said_first_and_leads_to_the_whole(run, pytester: pytest.Pytester):
    run(IN_SHORT, OUT).assert_outcomes(failed=1)
    (page,) = pages(pytester)
    short = page.partition("<h2>In short</h2>")[2].partition("</dl>")[0]
    assert "the test itself failed</dt><dd>AssertionError: nothing is left" in short
    assert re.search(r"refusing met 1 request \(OffsetCommit v\d+ × 1\)", short)
    for part in ("advance", "offset-expirations 1", "offsets.retention.minutes=60", "2:00:00"):
        assert part in short, short
    for place in re.findall('href="#([^"]+)"', short):
        assert f'id="{place}"' in page
