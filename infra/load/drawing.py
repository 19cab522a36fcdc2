"""Curves of a run as SVG: axes with round numbers, a legend, and holes where nothing was measured."""

import math
from collections.abc import Iterator, Mapping, Sequence

_WIDTH, _HEIGHT = 720, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 700, 44, 236
_COLOURS = ("#1f6feb", "#cf222e")
_LINES_AT_MOST = 6  # across, so that their numbers stand apart
_MINUTES_FROM_S = 300.0

Curve = Sequence[float | None]


def drawn(title: str, unit: str, ends_s: Sequence[float], curves: Mapping[str, Curve]) -> str:
    """Draws curves by their names. ends_s: where each value stands in the run; None: nothing was measured there."""
    top = max([value for curve in curves.values() for value in curve if value is not None], default=0.0) or 1.0
    end = ends_s[-1]
    x_unit, x_size = ("min", 60.0) if end >= _MINUTES_FROM_S else ("s", 1.0)
    ups, acrosses = round_numbers(top), round_numbers(end / x_size)
    height = max(top, ups[-1])

    def x(at_s: float) -> float:
        return round(_LEFT + at_s / end * (_RIGHT - _LEFT), 1)

    def y(value: float) -> float:
        return round(_BOTTOM - value / height * (_BOTTOM - _TOP), 1)

    lines = [
        *(f'<path stroke="#ddd" d="M{_LEFT},{y(up)} H{_RIGHT}"/>' for up in ups),
        *(_text(_LEFT - 6, y(up) + 4, f"{up:g}", "end") for up in ups),
        *(_text(x(across * x_size), _BOTTOM + 16, f"{across:g}", "middle") for across in acrosses),
        _text(_LEFT, 20, title, weight="bold"),
        _text(_LEFT - 6, _TOP - 10, unit, "end"),
        _text((_LEFT + _RIGHT) / 2, _BOTTOM + 34, f"{x_unit} since all tables were filled", "middle"),
        f'<path fill="none" stroke="#666" d="M{_LEFT},{_TOP} V{_BOTTOM} H{_RIGHT}"/>',
    ]
    for number, (name, curve) in enumerate(curves.items()):
        colour, key = _COLOURS[number], _RIGHT - 90 * (len(curves) - number)
        lines.append(f'<path stroke="{colour}" stroke-width="3" d="M{key},16 h24"/>')
        lines.append(_text(key + 30, 20, name))
        lines += [
            f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" stroke-linecap="round" points="'
            + " ".join(f"{x(at)},{y(value)}" for at, value in stretch)
            + '"/>'
            for stretch in _stretches(ends_s, curve)
        ]
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-size="12" font-family="sans-serif"'
    white = f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', white, *lines, "</svg>\n"])


def round_numbers(most: float) -> list[float]:
    """Gives up to six numbers from 0 on, in steps of 1, 2 or 5 times a power of ten, the last at or below `most`."""
    power = 10.0 ** math.floor(math.log10(most / _LINES_AT_MOST))
    step = next(factor * power for factor in (1, 2, 5, 10, 20) if most / (factor * power) <= _LINES_AT_MOST)
    return [round(step * number, 10) for number in range(int(most / step) + 1)]


def _stretches(ends_s: Sequence[float], curve: Curve) -> Iterator[list[tuple[float, float]]]:
    """Parts a curve where nothing was measured; a value that stands alone is drawn as a point."""
    stretch: list[tuple[float, float]] = []
    for at, value in zip((*ends_s, 0.0), (*curve, None), strict=True):
        if value is not None:
            stretch.append((at, value))
        elif stretch:
            yield stretch if len(stretch) > 1 else stretch * 2
            stretch = []


def _text(x: float, y: float, text: str, anchor: str = "start", weight: str = "normal") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-weight="{weight}" fill="#222">{text}</text>'
