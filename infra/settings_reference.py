"""The reference of all settings, made from infra/settings.py: SETTINGS.md."""

import ast
import inspect
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from msgspec import NODEFAULT, Meta
from msgspec.structs import fields

from infra import settings
from infra.settings import NO_FIELDS, Settings, is_secret

_HEAD = """\
# Settings

Made by `make settings` from `infra/settings.py`; every process reads them once from its environment, when it starts.
A variable marked * may hold a secret: instead of it, the variable with `_FILE` behind its name may hold the path of a
file whose content is the value, as Docker and Kubernetes mount secrets. An empty variable counts as absent.
"""
_COLUMNS = ("variable", "value", "default", "`shanghai up`", "meaning")


def reference(with_up: Mapping[str, int]) -> str:
    """Writes the reference as Markdown. with_up: defaults of `shanghai up` that differ, by the settings' names."""
    meanings = _comments()
    types = get_type_hints(Settings, include_extras=True)
    rows = [(_variable(name), "URL", "", "", meaning) for name, meaning in NO_FIELDS.items()]
    rows += [
        (
            _variable(field.name),
            _value(types[field.name]),
            "" if field.default is NODEFAULT else f"`{field.default}`" if field.default != "" else "empty",
            f"`{with_up[field.name]}`" if field.name in with_up else "",
            meanings[field.name],
        )
        for field in fields(Settings)
    ]
    return f"{_HEAD}\n{_table([_COLUMNS, ('---',) * len(_COLUMNS), *rows])}"


def _variable(name: str) -> str:
    return f"`SHANGHAI_{name.upper()}`{' *' if is_secret(name) else ''}"


def _comments() -> dict[str, str]:
    """Reads the comment behind each field. Errors: ValueError for a field without."""
    source = inspect.getsource(settings)
    lines = source.encode().splitlines()
    (declared,) = (
        node for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and node.name == Settings.__name__
    )
    found = {}
    for node in declared.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            assert node.end_lineno is not None
            _, mark, comment = lines[node.end_lineno - 1][node.end_col_offset :].decode().partition("#")
            if not mark:
                raise ValueError(f"{node.target.id} has no comment")
            found[node.target.id] = comment.strip()
    return found


def _value(annotation: Any) -> str:
    """Tells in words what a field takes."""
    metas = [part for part in get_args(annotation) if isinstance(part, Meta)]
    plain = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    if get_origin(plain) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(plain))
    words = {int: "whole number", float: "number", str: "text", bytes: "hex digits"}
    if any(meta.pattern and "://" in meta.pattern for meta in metas):
        return "URL"
    return words[plain] + "".join(_bounds(metas))


def _bounds(metas: Iterable[Meta]) -> Iterable[str]:
    for meta in metas:
        if meta.ge is not None:
            yield f" from {meta.ge:,}"
        if meta.le is not None:
            yield f" to {meta.le:,}"


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    return "".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |\n" for row in rows)
