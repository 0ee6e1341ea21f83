"""What the broker tells members of a streams group when their application cannot run, or one of them wants no more."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.programs.judging import Wrong, each_once
from tests.programs.running import SECONDS, Running
from tests.programs.stage import Stage
from tests.programs.streams.application import PARTITIONS, Application
from tests.programs.streams.grouped import AT_LEAST_ONCE, configured
from tests.waiting import until


def _cause(running: Running, of: str, stage: Stage) -> str:
    """Wait until it has ended with this exception; its text, without what is another in every run."""
    until(lambda: not running.lives, lambda: f"an end; it said {running.end_of_log()}", SECONDS)
    found = re.search(rf"\.{of}: (.*)", running.said())
    return stage.without_suffix(found[1] if found else running.end_of_log()).partition(" Timeout")[0]


def play(stage: Stage) -> Iterator[str]:
    """Topics that cannot be joined, a topic that is missing and comes, and an instance that ends all of them."""
    two, three = stage.create(stage.name("two"), 2), stage.create(stage.name("three"), 3)
    target = stage.create(stage.name("target"), PARTITIONS)
    application = Application(stage, "join", two, three, target, settings=AT_LEAST_ONCE)
    configured(stage, application.group)
    yield f"two topics that are joined: {_cause(application.start(), 'TopologyException', stage)}"

    missing = stage.name("missing")
    application = Application(stage, "count", missing, target, settings=AT_LEAST_ONCE)
    configured(stage, application.group)
    yield f"a missing topic: {_cause(application.start(), 'MissingSourceTopicException', stage)}"
    stage.create(missing, PARTITIONS)
    stage.fill(missing, [(0, "", "a word")])
    later = application.start()
    stage.read_at_least(target, 2)
    counts = (f"{one.key} {one.value}" for one in stage.read(target))
    yield each_once(["a 1", "word 1"], counts, "counts") + " when it is there"
    later.terminate()

    application = Application(stage, "fragile", two, target, settings=AT_LEAST_ONCE)
    configured(stage, application.group)
    instances = [application.start(num_stream_threads=1) for _ in range(2)]
    for one in instances:
        one.says("RUNNING")
    stage.fill(two, [(0, "", "break")])
    for one in instances:
        one.ends()
        if "requested a shutdown for the entire application" not in one.said():
            raise Wrong(f"an instance ends without having heard why: {one.end_of_log(30)}")
    yield "one instance asks for the end of the application: both hear of it, and end"
