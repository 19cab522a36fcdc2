"""What a client written for an older document would stumble over: what it sends is refused, or what it reads is gone.

Requests may get more lenient and answers may show more: new operations, optional fields, values and kinds.
"""

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

_ROOM = {"minimum": 1, "minLength": 1, "minItems": 1, "maximum": -1, "maxLength": -1, "maxItems": -1}


def breaks(old: Json, new: Json) -> list[str]:
    """Lists what breaks, by its place."""
    return [
        fault
        for path, methods in old["paths"].items()
        for method, operation in methods.items()
        for fault in _Comparison(old, new).operation(f"{method.upper()} {path}", operation, new["paths"], path, method)
    ]


def bare(document: Any, *, is_named: bool = False) -> Any:
    """Gives a document without words and examples. is_named: its keys are names that somebody chose."""
    if isinstance(document, list):
        return [bare(each) for each in document]
    if not isinstance(document, dict):
        return document
    return {
        key: bare(below, is_named=key in ("properties", "schemas", "mapping") and not is_named)
        for key, below in document.items()
        if is_named or key not in ("description", "summary", "example", "tags")
    }


class _Comparison:
    """Of two documents, each with its components; what was compared once is not compared again."""

    def __init__(self, old: Json, new: Json) -> None:
        self._old, self._new = old, new
        self._seen: set[tuple[str, str, bool]] = set()

    def operation(self, where: str, old: Json, paths: Json, path: str, method: str) -> Iterator[str]:
        new = paths.get(path, {}).get(method)
        if new is None:
            yield f"{where} is gone"
            return
        if new["operationId"] != old["operationId"]:
            yield f"{where} has another name"
        if new["security"] and not old["security"]:
            yield f"{where} needs a token"
        yield from self._parameters(where, _by_name(old), _by_name(new))
        yield from self._bodies(where, old.get("requestBody"), new.get("requestBody"))
        for status, answer in old["responses"].items():
            if status.startswith("2"):
                yield from self._answers(f"{where} {status}", answer, new["responses"].get(status))

    def _parameters(self, where: str, old: Json, new: Json) -> Iterator[str]:
        for name in old.keys() - new.keys():
            yield f"{where}: the parameter {name} is gone"
        for name, parameter in new.items():
            if parameter.get("required") and not old.get(name, {}).get("required"):
                yield f"{where}: the parameter {name} must be sent"
            if name in old:
                yield from self._schemas(f"{where} {name}", old[name]["schema"], parameter["schema"], is_sent=True)

    def _bodies(self, where: str, old: Json | None, new: Json | None) -> Iterator[str]:
        if new is not None and new["required"] and (old is None or not old["required"]):
            yield f"{where}: a body must be sent"
        if old is not None and new is None:
            yield f"{where}: no body is read"
        if old is not None and new is not None:
            yield from self._contents(where, old, new, is_sent=True)

    def _answers(self, where: str, old: Json, new: Json | None) -> Iterator[str]:
        if new is None:
            yield f"{where} is gone"
            return
        for name in old.get("headers", {}).keys() - new.get("headers", {}).keys():
            yield f"{where}: the header {name} is gone"
        yield from self._contents(where, old, new, is_sent=False)

    def _contents(self, where: str, old: Json, new: Json, *, is_sent: bool) -> Iterator[str]:
        for media_type, content in old.get("content", {}).items():
            found = new.get("content", {}).get(media_type)
            if found is None:
                yield f"{where}: {media_type} is gone"
                continue
            yield from self._schemas(where, content["schema"], found["schema"], is_sent=is_sent)
            for message, schema in content.get("x-sse", {}).items():
                if message not in found["x-sse"]:
                    yield f"{where}: the message {message} is gone"
                else:
                    yield from self._schemas(f"{where} {message}", schema, found["x-sse"][message], is_sent=is_sent)

    def _schemas(self, where: str, old: Json, new: Json, *, is_sent: bool) -> Iterator[str]:
        names = old.get("$ref", ""), new.get("$ref", ""), is_sent
        if names in self._seen:
            return
        if all(names[:2]):
            self._seen.add(names)
        old, new = _resolved(old, self._old), _resolved(new, self._new)
        yield from _narrowed(where, old, new, is_sent=is_sent)
        yield from self._members(where, old, new, is_sent=is_sent)
        yield from self._fields(where, old, new, is_sent=is_sent)
        for keyword in ("items", "additionalProperties"):
            if isinstance(old.get(keyword), dict) and isinstance(new.get(keyword), dict):
                yield from self._schemas(f"{where}/*", old[keyword], new[keyword], is_sent=is_sent)

    def _members(self, where: str, old: Json, new: Json, *, is_sent: bool) -> Iterator[str]:
        if ("oneOf" in old) != ("oneOf" in new):
            yield f"{where}: {'no' if 'oneOf' in old else 'has become a'} choice"
            return
        known = {_name_of(member): member for member in new.get("oneOf", ())}
        was = {_name_of(member): member for member in old.get("oneOf", ())}
        for name in was.keys() - known.keys():
            yield f"{where}: the choice {name} is gone"
        if not is_sent and "discriminator" not in new:
            for name in known.keys() - was.keys():
                yield f"{where}: there is another choice, {name}"
        for name in was.keys() & known.keys():
            yield from self._schemas(f"{where}({name})", was[name], known[name], is_sent=is_sent)

    def _fields(self, where: str, old: Json, new: Json, *, is_sent: bool) -> Iterator[str]:
        before, after = set(old.get("required", ())), set(new.get("required", ()))
        for name in sorted(after - before if is_sent else before - after):
            yield f"{where}/{name} {'must be sent' if is_sent else 'may be absent'}"
        for name, below in old.get("properties", {}).items():
            if name not in new.get("properties", {}):
                yield f"{where}/{name} is gone"
            else:
                yield from self._schemas(f"{where}/{name}", below, new["properties"][name], is_sent=is_sent)


def _narrowed(where: str, old: Json, new: Json, *, is_sent: bool) -> Iterator[str]:
    """Looks at a schema's own words: type, constant, values, and in requests the bounds."""
    had, has = _types(old), _types(new)
    if had != has and not (had < has if is_sent else has < had):
        yield f"{where}: {sorted(had)} has become {sorted(has)}"
    if old.get("const") != new.get("const") or old.get("format") != new.get("format"):
        yield f"{where}: has another meaning"
    if not is_sent:
        return
    if "enum" in new and (gone := set(old.get("enum", ("any value",))) - set(new["enum"])):
        yield f"{where}: {sorted(map(str, gone))} cannot be sent"
    for bound, sign in _ROOM.items():
        if bound in new and (bound not in old or sign * new[bound] > sign * old[bound]):
            yield f"{where}: {bound} is {new[bound]}"
    if "pattern" in new and new["pattern"] != old.get("pattern"):
        yield f"{where}: has to look otherwise"


def _types(schema: Json) -> set[str]:
    types = schema.get("type", "any")
    return set(types) if isinstance(types, list) else {types}


def _by_name(operation: Json) -> Json:
    return {f"{each['name']} ({each['in']})": each for each in operation["parameters"]}


def _name_of(member: Json) -> str:
    return str(member.get("$ref", member.get("type"))).rpartition("/")[2]


def _resolved(schema: Json, document: Json) -> Json:
    if "$ref" not in schema:
        return schema
    resolved: Json = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return resolved
