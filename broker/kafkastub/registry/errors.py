"""What a registry refuses."""

from __future__ import annotations

from typing import Final


class RegistryError(Exception):
    """A refusal, as clients of the REST interface see it.

    Attributes:
        status: the HTTP status.
        code: Confluent's error code: the status, or the status with two more digits.
        message: one sentence.
    """

    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(status, code, message)
        self.status = status
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class InvalidSchema(Exception):
    """A text that is no schema of its type; the message says why."""


class TooComplex(InvalidSchema):
    """A schema that takes more steps than a registry gives to one."""


INVALID_SCHEMA: Final = 42201
INCOMPATIBLE: Final = 40901


def subject_not_found(subject: str) -> RegistryError:
    return RegistryError(404, 40401, f"Subject '{subject}' not found.")


def version_not_found(version: int) -> RegistryError:
    return RegistryError(404, 40402, f"Version {version} not found.")


def schema_not_found(what: int | str | None = None) -> RegistryError:
    return RegistryError(404, 40403, "Schema not found" if what is None else f"Schema {what} not found")


def subject_soft_deleted(subject: str) -> RegistryError:
    sentence = f"Subject '{subject}' was soft deleted.Set permanent=true to delete permanently"
    return RegistryError(404, 40404, sentence)


def subject_not_soft_deleted(subject: str) -> RegistryError:
    sentence = f"Subject '{subject}' was not deleted first before being permanently deleted"
    return RegistryError(404, 40405, sentence)


def version_soft_deleted(subject: str, version: int) -> RegistryError:
    sentence = f"Subject '{subject}' Version {version} was soft deleted.Set permanent=true to delete permanently"
    return RegistryError(404, 40406, sentence)


def version_not_soft_deleted(subject: str, version: int) -> RegistryError:
    sentence = f"Subject '{subject}' Version {version} was not deleted first before being permanently deleted"
    return RegistryError(404, 40407, sentence)


def compatibility_not_configured(subject: str) -> RegistryError:
    return RegistryError(404, 40408, f"Subject '{subject}' does not have subject-level compatibility configured")


def mode_not_configured(subject: str) -> RegistryError:
    return RegistryError(404, 40409, f"Subject '{subject}' does not have subject-level mode configured")


def incompatible(subject: str, details: str) -> RegistryError:
    sentence = f'Schema being registered is incompatible with an earlier schema for subject "{subject}", details: '
    return RegistryError(409, INCOMPATIBLE, sentence + details)


def invalid_schema(why: str) -> RegistryError:
    return RegistryError(422, INVALID_SCHEMA, why)


def invalid_version(version: object) -> RegistryError:
    sentence = f"The specified version '{version}' is not a valid version id. Allowed values are between [1, 2^31-1] "
    return RegistryError(422, 42202, sentence + 'and the string "latest"')


def invalid_compatibility(what: str = "") -> RegistryError:
    levels = "none, backward, forward, full, backward_transitive, forward_transitive, and full_transitive"
    return RegistryError(422, 42203, what or f"Invalid compatibility level. Valid values are {levels}")


def invalid_mode(what: str = "") -> RegistryError:
    return RegistryError(422, 42204, what or "Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD.")


def not_permitted(why: str) -> RegistryError:
    return RegistryError(422, 42205, why)


def reference_exists(subject: str, version: int) -> RegistryError:
    key = f"{{magic=1,keytype=SCHEMA,subject={subject},version={version}}}"
    return RegistryError(422, 42206, f"One or more references exist to the schema {key}.")


def invalid_subject(subject: str) -> RegistryError:
    return RegistryError(422, 42208, f"The specified subject '{subject}' is not a valid.")


def too_large(why: str) -> RegistryError:
    return RegistryError(422, 42209, why)


def invalid_rules(why: str) -> RegistryError:
    return RegistryError(422, 42210, why)


def store_failed(why: str) -> RegistryError:
    return RegistryError(500, 50001, why)
