"""What may be different between two JSON Schemas, and which of it leaves values good that were good.

Kinds are named as Confluent's registry names them in its answers (`#/properties/id`: TYPE_CHANGED). Its rules are of
open and closed content models: an object is open where it may have properties that it does not name.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Difference(NamedTuple):
    """What is different, and where in the schema."""

    kind: str
    path: str

    def told(self) -> str:
        return f"{{errorType:'{self.kind}', description:'the schema differs at {self.path}'}}"


def _limit(name: str, *, upper: bool) -> tuple[str, str]:
    """Of a limit that is widened: by its value, or as it is taken away."""
    return f"{name}_{'INCREASED' if upper else 'DECREASED'}", f"{name}_REMOVED"


_UPPER: Final = ("MAX_LENGTH", "MAXIMUM", "EXCLUSIVE_MAXIMUM", "MAX_PROPERTIES", "MAX_ITEMS", "MAX_CONTAINS")
_LOWER: Final = ("MIN_LENGTH", "MINIMUM", "EXCLUSIVE_MINIMUM", "MIN_PROPERTIES", "MIN_ITEMS", "MIN_CONTAINS")

STRICT: Final = frozenset(
    (
        *(kind for name in _UPPER for kind in _limit(name, upper=True)),
        *(kind for name in _LOWER for kind in _limit(name, upper=False)),
        *(
            f"{what}_{how}"
            for what in (
                "ADDITIONAL_PROPERTIES",
                "UNEVALUATED_PROPERTIES",
                "ADDITIONAL_ITEMS",
                "UNEVALUATED_ITEMS",
            )
            for how in ("ADDED", "EXTENDED")
        ),
        *("ID_CHANGED", "DESCRIPTION_CHANGED", "TITLE_CHANGED", "DEFAULT_CHANGED"),
        *("SCHEMA_REMOVED", "TYPE_EXTENDED", "PATTERN_REMOVED", "MULTIPLE_OF_REDUCED", "MULTIPLE_OF_REMOVED"),
        *("REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED", "REQUIRED_ATTRIBUTE_REMOVED"),
        *("DEPENDENCY_ARRAY_NARROWED", "DEPENDENCY_ARRAY_REMOVED", "DEPENDENCY_SCHEMA_REMOVED"),
        "PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL",
        "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL",
        "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL",
        "PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL",
        "PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL",
        "PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
        "PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
        "UNIQUE_ITEMS_REMOVED",
        "ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL",
        "ITEM_ADDED_TO_CLOSED_CONTENT_MODEL",
        "ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL",
        "ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL",
        "ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
        "ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
        *("ENUM_ARRAY_EXTENDED", "COMBINED_TYPE_EXTENDED", "PRODUCT_TYPE_NARROWED", "SUM_TYPE_EXTENDED"),
        "NOT_TYPE_NARROWED",
    )
)
"""What leaves every value good that was good."""

LENIENT: Final = STRICT | {
    *("ADDITIONAL_PROPERTIES_NARROWED", "ADDITIONAL_PROPERTIES_REMOVED"),
    *("UNEVALUATED_PROPERTIES_NARROWED", "UNEVALUATED_PROPERTIES_REMOVED"),
    "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL",
    "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL",
    "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL",
    "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
}
"""The same with the policy LENIENT: properties come and go in open and closed content models alike."""
