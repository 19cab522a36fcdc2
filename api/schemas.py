"""JSON Schemas of the API's types, as components of the OpenAPI document.

Written for generators of clients: each union of objects is a component of its own with `oneOf`, a discriminator and its
mapping, tags are constants. What is sent to the server is closed: no unknown fields, no other values of an enumeration.
What comes from it is open: every field is there, but fields and values may be added.
"""

import inspect
import re
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from msgspec import NODEFAULT, Meta, Struct, UnsetType, to_builtins
from msgspec.structs import FieldInfo, fields

from api.meanings import meaning_of

Schema: TypeAlias = dict[str, Any]

_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    Any: {},
}
_CONSTRAINTS = {"ge": "minimum", "le": "maximum", "pattern": "pattern", "description": "description"}

_TIME = re.compile(r"((^|_)(since|until|timestamp)|_at)$")  # what a moment is called


class Components:
    """Collects the schemas of the types that are asked for, and of all that they are made of.

    names: of types that are not called by their own name, and of every union.
    """

    def __init__(self, names: dict[Any, str], requests: set[Any]) -> None:
        self.schemas: dict[str, Schema] = {}
        self._types: dict[str, Any] = {}
        self._names = names
        self._requests = _closure(requests)

    def ref(self, type_: Any) -> Schema:
        """Gives the reference to a struct's or a union's component, which is made where it is not there yet."""
        name = self._names.get(type_) or type_.__name__
        if self._types.setdefault(name, type_) != type_:
            raise ValueError(f"two types are called {name}")
        if name not in self.schemas:
            self.schemas[name] = {}  # so that a type within itself ends here
            self.schemas[name] = self._struct(type_, name) if _is_struct(type_) else self._union(type_)
        return {"$ref": f"#/components/schemas/{name}"}

    def of(self, type_: Any, *, is_closed: bool = False) -> Schema:
        """Gives the schema of any type."""
        if type_ in _PLAIN:
            return dict(_PLAIN[type_])
        if type_ in self._names or _is_struct(type_):
            return self.ref(type_)
        origin, args = get_origin(type_), get_args(type_)
        if origin is Annotated:
            described_by = next((meta.extra["described_by"] for meta in args[1:] if meta.extra), args[0])
            return _constrained(self.of(described_by, is_closed=is_closed), args[1:])
        if origin is Literal:
            return {"type": "string", "enum" if is_closed else "x-extensible-enum": list(args)}
        if origin in (tuple, list):
            return self._array(args, is_closed=is_closed)
        if origin is dict:
            return {"type": "object", "additionalProperties": self.of(args[1], is_closed=is_closed)}
        if origin in (Union, UnionType):
            return self._optional(args, is_closed=is_closed)
        raise TypeError(f"no schema for {type_}")

    def _array(self, args: tuple[Any, ...], *, is_closed: bool) -> Schema:
        array: Schema = {"type": "array", "items": self.of(args[0], is_closed=is_closed)}
        if args[-1] is not Ellipsis and len(args) > 1:
            array |= {"minItems": len(args), "maxItems": len(args)}
        return array

    def _optional(self, args: tuple[Any, ...], *, is_closed: bool) -> Schema:
        members = tuple(arg for arg in args if arg not in (NoneType, UnsetType))
        member = members[0] if len(members) == 1 else Union[members]  # noqa: UP007 - the members are a value
        schema = self.of(member, is_closed=is_closed)
        if NoneType not in args:
            return schema
        if "$ref" in schema or "enum" in schema:
            return {"oneOf": [schema, {"type": "null"}]}
        if listed := schema.get("x-extensible-enum"):
            schema["x-extensible-enum"] = [*listed, None]
        return schema | {"type": [schema["type"], "null"]}

    def _struct(self, type_: type[Struct], name: str) -> Schema:
        is_request = type_ in self._requests
        hints = get_type_hints(type_, include_extras=True)
        properties: dict[str, Schema] = {}
        required: list[str] = []
        config = type_.__struct_config__
        if config.tag is not None and config.tag_field is not None:
            properties[config.tag_field] = {"type": "string", "const": config.tag}
            required.append(config.tag_field)
        for field in fields(type_):
            schema = self.of(hints[field.name], is_closed=is_request)
            is_optional = UnsetType in get_args(hints[field.name])
            if is_request and not field.required and not is_optional:
                schema = schema | {"default": _default(field)}
            elif not is_optional:
                required.append(field.encode_name)
            if _TIME.search(field.encode_name) and "enum" not in schema and "x-extensible-enum" not in schema:
                schema["format"] = "date-time"
            properties[field.encode_name] = explained(schema, name, field.encode_name)
        made: Schema = {"type": "object", "description": described(type_), "properties": properties}
        if required:
            made["required"] = required
        if is_request:
            made["additionalProperties"] = False
        return made

    def _union(self, type_: Any) -> Schema:
        members = get_args(type_)
        union: Schema = {"oneOf": [self.ref(member) for member in members]}
        if tag_field := members[0].__struct_config__.tag_field:
            mapping = {member.__struct_config__.tag: self.ref(member)["$ref"] for member in members}
            union["discriminator"] = {"propertyName": tag_field, "mapping": mapping}
        return union


def described(type_: type[Any]) -> str:
    """Gives a type's docstring in the words of JSON."""
    return re.sub(r"\bNone\b", "null", inspect.getdoc(type_) or "")


def explained(schema: Schema, owner: str, field: str) -> Schema:
    """Adds what a field means, where its type does not say so itself."""
    return schema if "description" in schema else schema | {"description": meaning_of(owner, field)}


def _constrained(schema: Schema, metas: tuple[Any, ...]) -> Schema:
    is_array = schema.get("type") == "array"
    for meta in metas:
        assert isinstance(meta, Meta)
        for name, keyword in _CONSTRAINTS.items():
            if (value := getattr(meta, name)) is not None:
                schema[keyword] = value
        for name, keyword in (("min_length", "min"), ("max_length", "max")):
            if (value := getattr(meta, name)) is not None:
                schema[keyword + ("Items" if is_array else "Length")] = value
        schema |= meta.extra_json_schema or {}
    return schema


def _default(field: FieldInfo) -> Any:
    value = field.default_factory() if field.default is NODEFAULT else field.default
    return [] if value == () else to_builtins(value)


def _is_struct(type_: Any) -> bool:
    return inspect.isclass(type_) and issubclass(type_, Struct)


def _closure(types: set[Any]) -> set[Any]:
    """Lists the structs in types and in all their fields."""
    found: set[Any] = set()
    waiting = list(types)
    while waiting:
        type_ = waiting.pop()
        if isinstance(type_, Meta):
            waiting.extend((type_.extra or {}).values())
        elif not _is_struct(type_):
            waiting.extend(get_args(type_))
        elif type_ not in found:
            found.add(type_)
            waiting.extend(get_type_hints(type_, include_extras=True).values())
    return found
