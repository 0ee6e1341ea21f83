"""The two behaviour profiles: where the seeds (KIPs to the letter) and released Apache Kafka differ.

One frozen policy object is handed to the coordinator and the handlers; they ask it a question and never its name.
"""

from __future__ import annotations

from dataclasses import dataclass

from .errors import ConfigError


@dataclass(frozen=True, slots=True)
class Profile:
    """One answer to each question on which KIP text and released Kafka differ.

    Attributes:
        name: ``kips`` or ``kafka``; for humans, never for a condition.
        empty_group_commit_refused_from: OffsetCommit version from which group ``""`` is refused (KIP-289), or None.
        illegal_offset_commit_code: the error number of that refusal; KIP-289's draft says 73.
        empty_group_commit_warns: whether a commit for group ``""`` in an older version logs a deprecation warning.
        explicit_retention_ignores_state: whether a commit with its own retention (v2-v4) expires at its time whatever
            the group's state and subscription (KIP-211), or only where its group's offsets are considered at all.
        overflowing_retention_never_expires: whether an expiry beyond the largest timestamp means never; released
            Kafka lets the sum wrap, so that the offset expires at the next sweep.
        infinite_retention_allowed: whether ``offsets.retention.minutes=-1`` is a value (KAFKA-20461) or an error.
        group_delete_implies_describe: whether the Delete permission on a group implies Describe.
        deletions_meter_counts_group_deletes: whether the offset-deletions meter counts DeleteGroups (KIP-496's text),
            or OffsetDelete only.
    """

    name: str
    empty_group_commit_refused_from: int | None
    illegal_offset_commit_code: int
    empty_group_commit_warns: bool
    explicit_retention_ignores_state: bool
    overflowing_retention_never_expires: bool
    infinite_retention_allowed: bool
    group_delete_implies_describe: bool
    deletions_meter_counts_group_deletes: bool

    @staticmethod
    def named(name: str) -> Profile:
        """The profile of that name. Raises ConfigError for any other."""
        try:
            return PROFILES[name]
        except KeyError:
            raise ConfigError(f"profile={name} is refused: allowed are {' and '.join(PROFILES)}") from None


PROFILES: dict[str, Profile] = {
    "kips": Profile(
        name="kips",
        empty_group_commit_refused_from=4,
        illegal_offset_commit_code=73,
        empty_group_commit_warns=True,
        explicit_retention_ignores_state=True,
        overflowing_retention_never_expires=True,
        infinite_retention_allowed=True,
        group_delete_implies_describe=False,
        deletions_meter_counts_group_deletes=True,
    ),
    "kafka": Profile(
        name="kafka",
        empty_group_commit_refused_from=None,
        illegal_offset_commit_code=73,
        empty_group_commit_warns=False,
        explicit_retention_ignores_state=False,
        overflowing_retention_never_expires=False,
        infinite_retention_allowed=False,
        group_delete_implies_describe=True,
        deletions_meter_counts_group_deletes=False,
    ),
}
