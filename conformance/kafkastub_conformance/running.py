"""Running the plan, case by case, each with a deadline; a broker that hangs or dies fails the case alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from kafkastub.client import ClientError, NotListening
from kafkastub_conformance.broker import Broker
from kafkastub_conformance.cleaning import clean
from kafkastub_conformance.cluster import Cluster, NotReady, address
from kafkastub_conformance.letter import settle
from kafkastub_conformance.link import remembered
from kafkastub_conformance.messages import KEYS
from kafkastub_conformance.model import AUTO, CaseError, Clock, Mismatch, Outcome, Result, Run, Skipped, Status
from kafkastub_conformance.registry import plan
from kafkastub_conformance.release import LATEST, since

CASE_SECONDS = 30.0
SLOW_SECONDS = 180.0
CLEANED_EVERY = 25
"""After so many runs what they made is removed."""

REVIVAL_SECONDS = 5.0
"""So long a broker that does not answer is given to come back, once."""

PROBE_SECONDS = 1.0
GONE = "the broker is gone"

DELAY = "group.initial.rebalance.delay.ms"
FOUNDING = frozenset(
    (
        "DeleteGroups",
        "DescribeGroups",
        "Heartbeat",
        "JoinGroup",
        "LeaveGroup",
        "OffsetCommit",
        "OffsetDelete",
        "SyncGroup",
    )
)
"""The APIs whose cases found groups with members."""

Progress = Callable[[Result, int, int], None]
"""(what came of a run, how many are done, how many there are)."""


def conform(
    bootstrap: str,
    profile: str = AUTO,
    *,
    chosen: str = "",
    slow: bool = False,
    timeout: float = 10.0,
    name: str = "",
    progress: Progress | None = None,
    select: Callable[[Run], bool] | None = None,
    release: str = "",
    clock: Clock | None = None,
    note: Callable[[str], None] | None = None,
) -> Outcome:
    """Run the catalogue against the broker at `bootstrap` (HOST:PORT).

    Args:
        profile: whose letter is followed where a KIP and released Kafka differ; "auto" is the broker's own.
        timeout: seconds that one answer may take.
        select: further choice among the runs.
        release: the release of Apache Kafka that the broker is measured by, "3.9"; "" is the one whose versions it has.
        clock: the broker's time, for the cases that move it.
        note: is told, before the first run, what is to be known of the broker's configuration.

    Raises ValueError for what makes no sense, ClientError and NotReady where there is no broker to ask.
    """
    cluster = Cluster(*address(bootstrap), profile, timeout, release, clock)
    began = datetime.now(UTC).isoformat(timespec="seconds")
    start = time.monotonic()
    try:
        cluster.prepare()
        planned = plan(cluster.served, profile, slow=slow, clock=clock is not None, chosen=chosen)
        chosen_ones = [run for run in planned if select is None or select(run)]
        try:
            runs, of_profile = settle(cluster, chosen_ones)
        except BaseException:  # an interruption among them: it has made a topic, or was about to
            cluster.take_stock()
            clean(cluster, shared=True)
            raise
        served = cluster.strange | {int(KEYS[api]): between for api, between in cluster.served.items()}
        outcome = Outcome(
            name or bootstrap, cluster.profile, began, cluster.advertised, served, release=cluster.release
        )
        outcome.notes += of_profile + notes(cluster, runs)
        if note is not None:
            for text in outcome.notes:
                note(text)
        _play(cluster, runs, outcome, progress)
    finally:
        cluster.forget_admin()
    outcome.seconds = time.monotonic() - start
    return outcome


def notes(cluster: Cluster, runs: Sequence[Run]) -> list[str]:
    """What in the broker's configuration makes these runs slow or leaves some out; a sentence each."""
    founding = sum(run.case.api in FOUNDING for run in runs)
    delay = cluster.setting(DELAY) if founding else ""
    told = []
    if delay.isdigit() and int(delay):
        told.append(
            f"{DELAY} of this broker is {delay}: every group that a case founds waits that long. "
            f"Set it to 0 for the time of the run (kafkastub serve --config {DELAY}=0)."
        )
    if cluster.release != LATEST:
        later = sum(since(run.case, cluster.release) for run in runs)
        told.append(
            f"the broker is measured by Apache Kafka {cluster.release}: {later} runs about what came later are skipped "
            f"(--release {LATEST} plays them)."
        )
    return told


def _play(cluster: Cluster, runs: Sequence[Run], outcome: Outcome, progress: Progress | None) -> None:
    dead = False
    try:
        for number, run in enumerate(runs, 1):
            if dead and not cluster.alive(PROBE_SECONDS / 4):
                result = Result(run, Status.ERROR, reason=GONE)
            else:
                dead = False
                result = play(cluster, run)
                if result.bad and not cluster.alive(PROBE_SECONDS):
                    dead = not _comes_back(cluster)
                    result.reason += (
                        "; the broker does not answer any more" if dead else "; the broker was gone after it"
                    )
            outcome.results.append(result)
            if progress is not None:
                progress(result, number, len(runs))
            if not dead and (number % CLEANED_EVERY == 0 or "" in cluster.groups):
                outcome.left += clean(cluster)
    except KeyboardInterrupt:
        outcome.interrupted = True
        cluster.take_stock()
    finally:
        if not dead:
            outcome.left += clean(cluster, shared=True)


def play(cluster: Cluster, run: Run) -> Result:
    """One run; raises nothing but KeyboardInterrupt."""
    start = time.monotonic()
    frames = remembered()
    until = start + (SLOW_SECONDS if run.case.slow else CASE_SECONDS)
    broker = Broker(cluster, run.case.api, run.version, until, frames)
    result = Result(run, Status.PASSED)
    try:
        if since(run.case, cluster.release):
            raise Skipped(f"since Apache Kafka {run.case.since}; before: {run.case.before}")
        for api in run.case.also:
            cluster.newest(api)
        run.case.run(broker)
    except Mismatch as mismatch:
        result.status, result.reason, result.differences = Status.FAILED, str(mismatch), mismatch.differences
    except Skipped as skipped:
        result.status, result.reason = Status.SKIPPED, str(skipped)
    except NotListening as error:
        result.status, result.reason = Status.ERROR, str(error)
    except ClientError as error:
        result.status, result.reason = Status.FAILED, str(error)
    except (NotReady, CaseError, OSError) as error:
        result.status, result.reason = Status.ERROR, str(error)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        # An answer that lacks what every answer has: an empty list where there is a row, for one.
        result.status, result.reason = Status.FAILED, f"the answer cannot be used: {type(error).__name__}: {error}"
    finally:
        broker.close()
    if result.status in (Status.FAILED, Status.ERROR):
        result.frames = list(frames)
    result.seconds = time.monotonic() - start
    return result


def _comes_back(cluster: Cluster) -> bool:
    """Whether the broker answers again within the time; connections to it are opened anew."""
    cluster.forget_admin()
    deadline = time.monotonic() + REVIVAL_SECONDS
    while time.monotonic() < deadline:
        if cluster.alive(PROBE_SECONDS):
            return True
        time.sleep(0.1)
    return False
