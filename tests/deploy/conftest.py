"""The images, and one cluster of pods for all tests here; both are gone with the session."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.cluster import ENGINES, PROCESSES, Cluster
from tests.deploy.images import build_engine, build_product, take_bases, version_before
from tests.deploy.manifests import OVERLAYS, rendered
from tests.deploy.podman import Podman, podman_of_its_own
from tests.deploy.service import service

PRODUCT, POSTGRES, REDIS = "localhost/shanghai:local", "postgres:18-bookworm", "redis:8.2-bookworm"
BEFORE, NOW = "localhost/shanghai:before", "localhost/shanghai:now"


@pytest.fixture(scope="session")
def tools(request: pytest.FixtureRequest) -> Path:
    """Is the folder of kubectl, hadolint and the other validators, made by the Makefile."""
    return Path(str(request.config.getoption("--deploy"))) / "bin"


@pytest.fixture(scope="session")
def podman(tools: Path) -> Iterator[Podman]:
    with podman_of_its_own() as podman:
        take_bases(podman, tools.parent)
        yield podman


@pytest.fixture(scope="session")
def product(podman: Podman) -> str:
    """Builds the product's image from the sources as they are."""
    return build_product(podman, NOW)


@pytest.fixture(scope="session")
def before(podman: Podman, product: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Is the image of the version before; today's under another tag where there has been none yet."""
    source = version_before(tmp_path_factory.mktemp("before") / "source")
    if source is None:
        podman.run("tag", product, BEFORE)
        return BEFORE
    return build_product(podman, BEFORE, source=source)


@pytest.fixture(scope="session")
def cluster(podman: Podman, tools: Path, before: str) -> Iterator[Cluster]:
    """Is the overlay `local` with a pod of each process, in the version before; the API has two."""
    engine = build_engine(podman)
    manifests = rendered(tools / "kubectl", OVERLAYS / "local")
    with service() as api:
        cluster = Cluster(podman, manifests, {PRODUCT: before, POSTGRES: engine, REDIS: engine}, api)
        cluster.start(*ENGINES)
        cluster.run_job("shanghai-migrate")
        cluster.start(*PROCESSES, "shanghai-api")
        yield cluster


@pytest.fixture(scope="session")
def upgraded(cluster: Cluster, product: str) -> Cluster:
    """Is the cluster in today's version: the test of the upgrade has brought it there, where it ran before."""
    if not cluster.runs(product, of=PRODUCT):
        assert list(cluster.upgrade(product, of=PRODUCT))
    return cluster
