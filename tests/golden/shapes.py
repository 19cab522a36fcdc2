"""Whether payloads that were written in one shape can be read in another.

A shape is a JSON Schema as msgspec writes it. New optional fields and new values may come; nothing may go, become
required or get another meaning, for then an old payload would be lost or read as something else.
"""

import json
from typing import Any

import msgspec

Json = dict[str, Any]


def shape_of(type_: Any) -> Json:
    """Gives the shape of a type with everything below it, without words."""
    shape: Json = _without_words(json.loads(json.dumps(msgspec.json.schema(type_))))
    return shape


def _without_words(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_words(below) for name, below in value.items() if name not in ("title", "description")}
    return [_without_words(below) for below in value] if isinstance(value, list) else value


def lost(old: Json, new: Json) -> str | None:
    """Tells what of the old shape the new one cannot read, or None."""
    return _lost(old, new, old, new, "")


def _lost(old: Any, new: Any, old_root: Json, new_root: Json, where: str) -> str | None:
    old, new = _named(old, old_root), _named(new, new_root)
    if "default" in old and not _still(old["default"], new.get("default")):
        return f"{where}: the default has changed"
    if "anyOf" in old or "anyOf" in new:
        return _lost_member(old, new, old_root, new_root, where)
    if old.get("type") != new.get("type") and "enum" not in old:
        return f"{where or '/'}: {old.get('type')} has become {new.get('type')}"
    if gone := set(old.get("enum", ())) - set(new.get("enum", old.get("enum", ()))):
        return f"{where}: {sorted(map(str, gone))} cannot be read any more"
    for keyword in ("items", "additionalProperties"):
        if isinstance(old.get(keyword), dict) and isinstance(new.get(keyword), dict):
            found = _lost(old[keyword], new[keyword], old_root, new_root, f"{where}/*")
            if found:
                return found
    return _lost_field(old, new, old_root, new_root, where)


def _lost_field(old: Json, new: Json, old_root: Json, new_root: Json, where: str) -> str | None:
    if extra := set(new.get("required", ())) - set(old.get("required", ())):
        return f"{where}: {sorted(extra)} must be there now"
    for name, below in old.get("properties", {}).items():
        if name not in new.get("properties", {}):
            return f"{where}/{name} is gone"
        found = _lost(below, new["properties"][name], old_root, new_root, f"{where}/{name}")
        if found:
            return found
    return None


def _lost_member(old: Json, new: Json, old_root: Json, new_root: Json, where: str) -> str | None:
    """Looks for each kind of value that could be written among those that can be read."""
    readable = new.get("anyOf", [new])
    for member in old.get("anyOf", [old]):
        if all(_lost(member, other, old_root, new_root, where) for other in readable):
            return f"{where}: {member} cannot be read any more"
    return None


def _still(old: Any, new: Any) -> bool:
    """Tells whether a default means the same: a struct may have got more fields."""
    if isinstance(old, dict) and isinstance(new, dict):
        return all(name in new and _still(below, new[name]) for name, below in old.items())
    return bool(old == new)


def _named(shape: Json, root: Json) -> Json:
    """Looks a reference up."""
    if "$ref" not in shape:
        return shape
    return {**root["$defs"][shape["$ref"].rpartition("/")[2]], **{k: v for k, v in shape.items() if k != "$ref"}}
