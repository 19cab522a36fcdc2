"""Which values a place of a request takes, for whoever sent another one."""

from collections.abc import Iterator
from typing import Any

from msgspec import inspect


def choices(type_: Any, pointer: str) -> tuple[str, ...]:
    """Lists the words that may stand at a JSON pointer into a value of the type; none where any text may.

    Cost: only for requests that are refused.
    """
    places = [*_kinds(inspect.type_info(type_))]
    for part in pointer.split("/")[1:]:
        places = [kind for place in places for kind in _below(place, part)]
    words = (word for place in places if isinstance(place, inspect.LiteralType) for word in place.values)
    return tuple(dict.fromkeys(word for word in words if isinstance(word, str)))


def _kinds(type_: inspect.Type) -> Iterator[inspect.Type]:
    """Gives the members of a union, and of what has bounds what has them."""
    match type_:
        case inspect.Metadata(type=inner):
            yield from _kinds(inner)
        case inspect.UnionType(types=members):
            for member in members:
                yield from _kinds(member)
        case _:
            yield type_


def _below(type_: inspect.Type, part: str) -> Iterator[inspect.Type]:
    match type_:
        case inspect.StructType(tag_field=field, tag=str(tag)) if field == part:
            yield inspect.LiteralType((tag,))
        case inspect.StructType(fields=fields):
            for each in fields:
                if each.encode_name == part:
                    yield from _kinds(each.type)
        case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item):
            yield from _kinds(item)
