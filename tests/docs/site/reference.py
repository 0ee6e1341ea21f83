"""The API reference: which names stand on which page. What is said of them is in their docstrings."""

from __future__ import annotations

from typing import Final

_STUB: Final = "kafkastub.stub"

PAGES: Final[dict[str, tuple[str, str, list[str]]]] = {
    "stub": (
        "KafkaStub",
        "`from kafkastub import KafkaStub`: what a test's author types first.",
        ["kafkastub.KafkaStub", "kafkastub.KafkaProxy", "kafkastub.replay"],
    ),
    "parts": (
        "The parts of a stub",
        "What `stub.clock`, `stub.faults` and so on have.",
        [
            f"{_STUB}.clock.StubClock",
            f"{_STUB}.faults.StubFaults",
            f"{_STUB}.faults.Fault",
            "kafkastub.FaultRule",
            "kafkastub.ChaosAct",
            f"{_STUB}.chaos.StubChaos",
            f"{_STUB}.check.StubCheck",
            "kafkastub.Verdict",
            "kafkastub.Finding",
            "kafkastub.journal.Journal",
            "kafkastub.journal.entry.Entry",
            f"{_STUB}.records.StubRecords",
            f"{_STUB}.offsets.StubOffsets",
            f"{_STUB}.of_groups.ConfiguredGroups",
            f"{_STUB}.of_groups.GroupOfType",
            f"{_STUB}.groups.StubGroups",
            f"{_STUB}.groups.StubGroup",
            f"{_STUB}.share_groups.StubShareGroups",
            f"{_STUB}.share_groups.StubShareGroup",
            f"{_STUB}.streams_groups.StubStreamsGroups",
            f"{_STUB}.streams_groups.StubStreamsGroup",
            f"{_STUB}.transactions.StubTransactions",
            f"{_STUB}.nodes.StubNodes",
            f"{_STUB}.nodes.StubNode",
            f"{_STUB}.quotas.StubQuotas",
            f"{_STUB}.registry.StubRegistry",
            "kafkastub.registry.entities.Schema",
            f"{_STUB}.tls.StubTls",
            f"{_STUB}.waits.StubWaits",
            f"{_STUB}.aio.AsyncWaits",
            "kafkastub.Snapshot",
        ],
    ),
    "views": (
        "What a stub tells",
        "Values of one moment: they stay as they are when the broker goes on.",
        [
            "kafkastub.views.of_groups.AnyGroup",
            "kafkastub.views.of_groups.AnyMember",
            "kafkastub.views.groups.GroupView",
            "kafkastub.views.groups.MemberView",
            "kafkastub.views.share_groups.SharePartitionView",
            "kafkastub.views.share_groups.RecordsView",
            "kafkastub.views.streams_groups.TopologyView",
            "kafkastub.views.streams_groups.SubtopologyView",
            "kafkastub.views.streams_groups.StreamsMemberView",
            "kafkastub.views.streams_groups.TaskView",
            "kafkastub.views.transactions.TransactionView",
            "kafkastub.views.transactions.HangingTransaction",
            "kafkastub.views.records.LogRecord",
            f"{_STUB}.records.Produced",
            "kafkastub.faults.holds.HeldRequest",
            "kafkastub.faults.Act",
            "kafkastub.faults.Scenario",
        ],
    ),
    "errors": (
        "Errors",
        "All can be imported from `kafkastub`.",
        [
            "kafkastub.GuaranteeBroken",
            "kafkastub.NotInFront",
            "kafkastub.RegistryError",
            "kafkastub.StubError",
            "kafkastub.ConfigError",
            "kafkastub.TopicError",
            "kafkastub.FaultError",
            "kafkastub.DataDirError",
            "kafkastub.SnapshotError",
            "kafkastub.FaultTimeout",
            "kafkastub.GroupTimeout",
            "kafkastub.JournalTimeout",
            "kafkastub.RecordsTimeout",
            "kafkastub.TopicTimeout",
            "kafkastub.TransactionTimeout",
        ],
    ),
}


def pages() -> dict[str, str]:
    """The Markdown of each, which mkdocstrings fills."""
    return {
        name: f"# {title}\n\n{about}\n\n" + "\n\n".join(f"::: {one}" for one in names) + "\n"
        for name, (title, about, names) in PAGES.items()
    }
