"""Models of answers that tell a view: what a view gains is told over HTTP, too, without a word here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any, Self, TypeVar, get_type_hints

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

T = TypeVar("T", bound=BaseModel)


class ViewModel(BaseModel):
    """An answer, or a part of one, which has its values from the attributes of a view."""

    model_config = ConfigDict(from_attributes=True, populate_by_name=True)

    @classmethod
    def of(cls, view: object) -> Self:
        """The answer for a view, or for a mapping of its attributes."""
        return cls.model_validate(view)


class Pair(ViewModel):
    """What views have as a tuple of a name and a number: its values in the order of the fields."""

    @model_validator(mode="before")
    @classmethod
    def _of_tuple(cls, given: Any) -> Any:
        return dict(zip(cls.__pydantic_fields__, given, strict=True)) if isinstance(given, tuple) else given


def fields_of(view: type, *, without: Collection[str] = ()) -> Callable[[type[T]], type[T]]:
    """Have a model tell all attributes of a view.

    What the model says of an attribute holds: a description, another shape, another name (`called`). So does its order;
    attributes that it does not name stand behind those that they follow in the view. Those that it is `without` are not
    told.
    """

    def derive(model: type[T]) -> type[T]:
        own = {name: model.model_fields[name] for name in model.__annotations__ if name in model.model_fields}
        names = {one.validation_alias: name for name, one in own.items()}
        order, hints, at = list(own), {name: one.annotation for name, one in own.items()}, 0
        for attribute, hint in get_type_hints(view).items():
            name = names.get(attribute, attribute)
            if name in own:
                at = order.index(name) + 1
            elif name not in without and name not in model.model_fields:
                order.insert(at, name)
                hints[name], at = hint, at + 1
        space = {name: getattr(model, name) for name in ("__module__", "__qualname__", "__doc__", "model_config")}
        annotations = {"__annotations__": {name: hints[name] for name in order}}
        made: Any = type(model)
        derived: type[T] = made(model.__name__, model.__bases__, space | annotations | own)
        return derived

    return derive


def called(attribute: str, description: str | None = None) -> Any:
    """A field that has another name than the view's attribute."""
    return Field(validation_alias=attribute, description=description)


def _values(given: Any) -> Any:
    return list(given.values()) if isinstance(given, Mapping) else given


BY_KEY = BeforeValidator(_values)
"""A list of what the view has by id."""
Count = Annotated[int, BeforeValidator(lambda given: given if isinstance(given, int) else len(given))]
"""How many there are of what the view has."""
