"""The golden games as they lie in their files."""

import gzip
from pathlib import Path

from services.codec import TYPE_NUMBERS

FOLDER = Path(__file__).parent / "games"
NUMBERS = {type_.__name__: number for type_, number in TYPE_NUMBERS.items()}


def file_of(name: str) -> Path:
    """Names the file of a golden game."""
    return FOLDER / f"{name}.ndjson.gz"


def recorded(name: str) -> list[str]:
    """Gives the lines of a golden file: the event's type, and its payload as it is stored."""
    return gzip.decompress(file_of(name).read_bytes()).decode().splitlines()
