"""The guarantees: what each says, what Jepsen calls it, what it cannot see, and what clients do about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final


@dataclass(frozen=True)
class Guarantee:
    """One of them, as docs/guarantees.md has it."""

    name: str
    family: str
    """ "consumers", "producers", "transactions", "share groups" or "relations"."""
    fails: bool
    """Whether a finding of it fails a check that names none; else it is a notice."""
    says: str
    """What holds where it is kept."""
    blind: str
    """What it cannot see, and its exceptions."""
    java: str
    librdkafka: str
    franz: str
    """What to do about it in Java, librdkafka and franz-go."""
    jepsen: str = ""
    """Jepsen's name for the anomaly, where there is one."""

    @property
    def title(self) -> str:
        return self.name.replace("_", " ")


_ALL: Final = (
    Guarantee(
        "skipped", "consumers", True,
        "A group does not commit past a record that it was never given.",
        "Exceptions: control batches, offsets that compaction emptied, aborted records, records below the log start; a "
        "commit by a client that reads nothing (an administrator moves the group).",
        "Commit `record.offset() + 1` of the last processed record, or call `commitSync()` only when all records of "
        "the last `poll()` are processed.",
        "Call `store_offsets` (C: `rd_kafka_offsets_store`) when a message is done, with "
        "`enable.auto.offset.store=false`.",
        "Use `MarkCommitRecords` and `CommitMarkedOffsets`; do not compute offsets yourself.",
        "lost write, poll skip",
    ),
    Guarantee(
        "left_behind", "consumers", True,
        "A new owner of a partition starts at the committed offset, so records that were given before but not "
        "committed are given again.",
        "Not found if the fetches of the new owner cannot be separated from those of the previous owner. Exceptions: "
        "the previous owner commits up to that position afterwards; a member had committed past these records before.",
        "After a rebalance, `seek` only to `committed()`, and drop records that were polled before.",
        "Do not set offsets in the rebalance callback (`on_assign`, C: `rd_kafka_assign`); drop messages that you "
        "have consumed and not committed.",
        "Use `BlockRebalanceOnPoll`, finish or drop the batch, then call `AllowRebalance`; do not call `SetOffsets` "
        "with an offset past the commit.",
        "poll skip",
    ),
    Guarantee(
        "commit_went_back", "consumers", True,
        "The committed offset of a partition moves back only if the records after it are given again.",
        "Two commits that were under way at the same time on two connections have no order, so they are not compared.",
        "Calls of `commitAsync` can overtake each other: number them, retry only the newest, and call `commitSync` "
        "at the end.",
        "Keep one asynchronous commit under way at a time, and commit the highest offset of each partition.",
        "`CommitOffsets` cancels the commit before it and waits for it; do not build commit requests yourself.",
        "nonmonotonic poll",
    ),
    Guarantee(
        "commit_without_owning", "consumers", True,
        "A member commits only partitions that no other member has been assigned.",
        "A broker accepts such a commit, because it checks only the generation. Commits before the new owner's "
        "assignment do not count.",
        "Forget a partition's offsets in `onPartitionsRevoked` and `onPartitionsLost`.",
        "Forget a partition's offsets in the rebalance callback.",
        "Drop marked offsets in `OnPartitionsRevoked` and `OnPartitionsLost`.",
    ),
    Guarantee(
        "reset_skipped", "consumers", True,
        "A reset to the end of the log skips no record that was written after the first member joined the group, or "
        "after the last record that the group was given.",
        "Records older than the group do not count, because `latest` is meant to skip them. Found only if the "
        "checker saw the records being written.",
        "`auto.offset.reset=earliest` (Java's default is latest), or commit once before anything is written.",
        "`auto.offset.reset=earliest` (librdkafka's default is largest).",
        "`ConsumeResetOffset(kgo.NewOffset().AtStart())`, which is franz-go's default.",
        "poll skip",
    ),
    Guarantee(
        "redelivered", "consumers", False,
        "A group is given each record once. Kafka does not promise this, so each finding has its reason.",
        "Records that a client fetched and dropped by itself count as given.",
        "Make the work idempotent, commit in `onPartitionsRevoked`, keep `max.poll.records` small.",
        "Make the work idempotent, commit in the rebalance callback.",
        "Make the work idempotent, `AutoCommitMarks` with `OnPartitionsRevoked`.",
        "duplicate",
    ),
    Guarantee(
        "failed_commit_not_repeated", "consumers", False,
        "After a refused commit, a later commit is accepted, or the records are given again.",
        "A worker that starts again later may still commit them.",
        "Do not swallow `CommitFailedException` and `RebalanceInProgressException`: poll again, or seek back.",
        "Look at the error of `commit` (C: `rd_kafka_commit`); with `_NO_OFFSET` and `ILLEGAL_GENERATION` nothing "
        "was committed.",
        "Look at the error of `CommitOffsetsSync`'s callback, partition by partition.",
    ),
    Guarantee(
        "never_commits", "consumers", False,
        "When all members have left a group, it has committed at least some of the records that it was given.",
        "An application that reads all records at each start never commits on purpose. The checker cannot know this.",
        "`enable.auto.commit=true`, or `commitSync()` before `close()`.",
        "`enable.auto.commit=true`, or `commit` before `close` (C: `rd_kafka_commit`, `rd_kafka_consumer_close`).",
        "Do not use `DisableAutoCommit`, or call `CommitUncommittedOffsets` before `Close`.",
    ),
    Guarantee(
        "read_aborted", "transactions", True,
        "A group is not given records of an aborted transaction.",
        "Found only if the checker saw the end of the transaction, or a client fetched its marker.",
        "`isolation.level=read_committed` (Java's default is read_uncommitted).",
        "`isolation.level=read_committed`, which is librdkafka's default.",
        "`FetchIsolationLevel(kgo.ReadCommitted())` (franz-go's default is read uncommitted).",
        "G1a (aborted read)",
    ),
    Guarantee(
        "read_uncommitted", "transactions", False,
        "A group that reads a topic with transactions reads only committed records.",
        "Reported only while none of these transactions was aborted; otherwise it is `read_aborted`.",
        "`isolation.level=read_committed`.",
        "`isolation.level=read_committed`.",
        "`FetchIsolationLevel(kgo.ReadCommitted())`.",
    ),
    Guarantee(
        "refused_and_given_up", "producers", True,
        "If a record is refused with a retriable error, this client or another one writes it later.",
        "The checker recognises a record by key, value and headers. Records of an aborted transaction do not count.",
        "Look at the callback of `send`, or at its future; leave `retries` and `delivery.timeout.ms` alone.",
        "Look at the error in the delivery report (`on_delivery`): `flush` returns 0 for failed messages, too; "
        "leave `retries` and `message.timeout.ms` alone.",
        "Look at the promise of `Produce`, or use `ProduceSync(...).FirstErr()`.",
        "lost write",
    ),
    Guarantee(
        "sent_twice", "producers", False,
        "Each batch is written once. Kafka does not promise this without idempotence.",
        "Found only if the answer was lost, the client sent the same batch again, and no other batch was written in "
        "between.",
        "`enable.idempotence=true`, which is the default; `acks=1` or `retries=0` switch it off.",
        "`enable.idempotence=true` (librdkafka's default is false).",
        "Do not use `DisableIdempotentWrite`.",
        "duplicate",
    ),
    Guarantee(
        "out_of_order", "producers", True,
        "Batches of one connection to one partition are written in the order in which they were sent.",
        "Found only if the client sends the refused batch again unchanged.",
        "`enable.idempotence=true`, or `max.in.flight.requests.per.connection=1`.",
        "`enable.idempotence=true`, or `max.in.flight=1`.",
        "Do not use `DisableIdempotentWrite`, or set `MaxProduceRequestsInflightPerBroker(1)`.",
        "G0",
    ),
    Guarantee(
        "weak_acks", "producers", False,
        "A producer that writes to a replicated topic waits for all in-sync replicas (acks=all). Otherwise an "
        "acknowledged record can be lost, which some applications accept.",
        "Reported once for each client and topic, and only if the checker saw how many replicas the topic has.",
        "`acks=all`, which is the default; `enable.idempotence=true` needs it.",
        "`acks=all`, which is the default (also called `request.required.acks`).",
        "Do not use `RequiredAcks`: all in-sync replicas are the default.",
        "lost write",
    ),
    Guarantee(
        "fenced_goes_on", "producers", True,
        "After a fencing error (INVALID_PRODUCER_EPOCH, PRODUCER_FENCED), a producer sends no more work.",
        "Requests under way at the time of the error do not count, and neither does an abort.",
        "`ProducerFencedException` is fatal: close the producer. Use one `transactional.id` for each instance.",
        "A fatal error (`rd_kafka_fatal_error`): destroy the producer.",
        "`ProducerFenced`: close the client.",
    ),
    Guarantee(
        "transaction_left_open", "transactions", True,
        "A client ends its transactions before it disconnects.",
        "Found only if the checker sees the connection end, so not in a journal on disk.",
        "`abortTransaction()` in the `catch`, before `close()`.",
        "`abort_transaction` before the producer ends (C: `rd_kafka_abort_transaction`, `rd_kafka_destroy`).",
        "Call `EndTransaction(ctx, kgo.TryAbort)` on every path that leaves the function.",
    ),
    Guarantee(
        "offsets_outside_transaction", "transactions", True,
        "If a group's offsets are committed in transactions, none are committed outside of a transaction.",
        "A group that never commits offsets in transactions is found only with `exactly_once`.",
        "`sendOffsetsToTransaction`, `enable.auto.commit=false`, and no `commitSync`; after an abort, `seek` "
        "back to what is committed.",
        "`send_offsets_to_transaction` (C: `rd_kafka_send_offsets_to_transaction`), `enable.auto.commit=false`; "
        "after an abort, `seek` back to what is committed.",
        "`GroupTransactSession`, and no `CommitOffsets`.",
    ),
    Guarantee(
        "at_least_once", "relations", True,
        "For each record of one topic that a group has committed, the other topic has a record with the same key or "
        "value, or with the same result of the test's function.",
        "Compares what the topics contain at the time of the call. Records that were deleted from the input are not "
        "checked.",
        "`enable.auto.commit=false`; commit after the output is acknowledged: `flush()`, then `commitSync()`.",
        "`enable.auto.commit=false`; commit after the delivery reports: `flush`, then `commit` (C: `rd_kafka_commit`).",
        "`DisableAutoCommit`; commit after `Flush`, or `ProduceSync`.",
        "lost write",
    ),
    Guarantee(
        "exactly_once", "relations", True,
        "Like at_least_once, but the other topic has exactly one record for each, and no others.",
        "Only the committed records of the output are read.",
        "A transactional producer with `sendOffsetsToTransaction`, readers with "
        "`isolation.level=read_committed`; after an abort, `seek` back to what is committed.",
        "A transactional producer with `send_offsets_to_transaction` (C: "
        "`rd_kafka_send_offsets_to_transaction`); after an abort, `seek` back to what is committed.",
        "`GroupTransactSession`.",
        "lost write, duplicate, unseen",
    ),
    Guarantee(
        "acknowledged_without_being_given", "share groups", True,
        "A member of a share group acknowledges only records that it was given.",
        "An acknowledgement that comes too late does not count.",
        "`acknowledge` only records of the last `poll`.",
        "Acknowledge only messages of the last batch.",
        "Acknowledge only records of the last poll.",
    ),
    Guarantee(
        "given_up", "share groups", False,
        "No member rejects a record. Only the application knows whether a rejection is right.",
        "Records that the broker archives because of their delivery count are reported as `archived`.",
        "`AcknowledgeType.RELEASE` where another attempt may help, and a dead letter topic.",
        "Release where another attempt may help.",
        "Release where another attempt may help.",
    ),
    Guarantee(
        "archived", "share groups", True,
        "A member accepts or rejects each record before its last delivery (`share.delivery.count.limit`, 5 by "
        "default) ends. Otherwise the broker archives the record, although no member has decided about it.",
        "Without a stub the checker does not know the limit: found only if a member is given later records of the "
        "partition afterwards. Not found while a fetch whose answer is unknown may have returned the record.",
        "`acknowledge(record, AcknowledgeType.REJECT)` for a record that can never be processed; finish or "
        "`AcknowledgeType.RENEW` before `group.share.record.lock.duration.ms`.",
        "Reject a record that can never be processed; finish before `group.share.record.lock.duration.ms`.",
        "`AckReject` for a record that can never be processed; finish before `group.share.record.lock.duration.ms`.",
        "lost write",
    ),
)  # fmt: skip

CATALOG: Final = {one.name: one for one in _ALL}
"""By their names."""


def chosen(names: Iterable[str]) -> frozenset[str]:
    """The names, as they are written here. Raises ValueError for one that there is not."""
    found = set()
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"check={name!r} is refused: expected the name of a guarantee, for example 'skipped'")
        known = name.strip().replace(" ", "_").replace("-", "_")
        if known not in CATALOG:
            near = get_close_matches(known, CATALOG, 1)
            meant = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(CATALOG)}"
            raise ValueError(f"check={name!r}: there is no such guarantee; {meant}")
        found.add(known)
    return frozenset(found)
