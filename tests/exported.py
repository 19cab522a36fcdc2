"""Reading what a process exports."""

from collections.abc import Mapping

import httpx
from prometheus_client.parser import text_string_to_metric_families

from infra.watching.numbers import numbers_page

Sample = tuple[str, frozenset[tuple[str, str]]]


def samples(text: str | None = None) -> dict[Sample, float]:
    """Gives every number by its name and labels; by default those of this very process."""
    families = text_string_to_metric_families(numbers_page()[2].decode() if text is None else text)
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def number(name: str, text: str | None = None, **labels: str) -> float:
    """Gives one number; 0 where nothing was counted yet."""
    return samples(text).get((name, frozenset(labels.items())), 0.0)


def summed(name: str, text: str | None = None) -> float:
    """Gives a number summed over all its labels."""
    return sum(value for (each, _), value in samples(text).items() if each == name)


class Since:
    """How much numbers of this process have grown since it was made."""

    def __init__(self) -> None:
        self._before: Mapping[Sample, float] = samples()

    def __call__(self, name: str, **labels: str) -> float:
        return number(name, **labels) - self._before.get((name, frozenset(labels.items())), 0.0)


def scraped(port: int) -> str:
    """Asks a process's port for its numbers."""
    return httpx.get(f"http://127.0.0.1:{port}/metrics").raise_for_status().text
