"""Whether JSON has the shape of a ruleset: every field that has not, with its JSON pointer."""

from collections.abc import Iterator
from typing import Literal, get_args, get_origin

import msgspec
from msgspec.structs import fields

from domain.faults import Fault, pointer


def shape_faults(value: object, type_: object, path: str = "") -> tuple[Fault, ...]:
    """Lists what keeps a value from being of a type, as deep inside as it can be told."""
    try:
        msgspec.convert(value, type_, strict=True, str_keys=True)
    except msgspec.ValidationError as error:
        return tuple(_faults_inside(value, type_, path)) or (_fault(str(error), path, type_),)
    return ()


def _faults_inside(value: object, type_: object, path: str) -> Iterator[Fault]:
    if isinstance(value, dict) and isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        yield from _faults_in_fields(value, type_, path)
    elif isinstance(value, dict) and get_origin(type_) is dict:
        key_type, inner_type = get_args(type_)
        for key, inner in value.items():
            if not _is_key(key, key_type):
                yield Fault("invalid_value", pointer(path, key), "the key has to be a whole number")
            yield from shape_faults(inner, inner_type, pointer(path, key))
    elif isinstance(value, list) and get_origin(type_) is tuple:
        for place, inner in enumerate(value):
            yield from shape_faults(inner, get_args(type_)[0], pointer(path, place))


def _faults_in_fields(value: dict[str, object], type_: type[msgspec.Struct], path: str) -> Iterator[Fault]:
    known = {knob.encode_name: knob for knob in fields(type_)}
    for name, knob in known.items():
        if name in value:
            yield from shape_faults(value[name], knob.type, pointer(path, name))
        elif knob.required:
            yield Fault("missing", pointer(path, name), f"`{name}` is needed")
    for name in value:
        if name not in known:
            yield Fault("unknown_field", pointer(path, name), "there is no such knob")


def _is_key(key: object, type_: object) -> bool:
    """Tells whether a key of JSON, always a text, is one of an object whose keys are texts or numbers."""
    try:
        msgspec.convert({key: None}, dict[type_, None], strict=True, str_keys=True)  # type: ignore[valid-type]
    except msgspec.ValidationError:
        return False
    return True


def _fault(message: str, path: str, type_: object) -> Fault:
    """Turns msgspec's "…" or "… - at `$…`" into a fault."""
    known = f"; known are {', '.join(get_args(type_))}" if get_origin(type_) is Literal else ""
    return Fault("invalid_value", path, message.partition(" - at `")[0] + known)
