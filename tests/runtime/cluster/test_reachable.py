"""A Spark that is not there is reported at once."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from tvfsql.errors import DataError
from tvfsql.runtime.local_spark.start import PROXIES, require_master, require_server


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def listening() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def closed() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_a_master_that_does_not_listen_is_reported(closed: int) -> None:
    with pytest.raises(DataError, match=f"there is no Spark at spark://127.0.0.1:{closed}: Connection refused"):
        require_master(f"spark://127.0.0.1:{closed}")
    with pytest.raises(DataError, match=r"there is no Spark at spark://127\.0\.0\.1:x: Port could not be cast"):
        require_master("spark://127.0.0.1:x")


def test_one_of_several_masters_is_enough(closed: int, listening: int) -> None:
    require_master(f"spark://127.0.0.1:{closed},127.0.0.1:{listening}")


@pytest.mark.parametrize("url", ["", "local[2]", "yarn", "k8s://https://127.0.0.1:1"])
def test_other_masters_are_left_to_spark(url: str) -> None:
    require_master(url)


def test_a_connect_server_is_looked_for_unless_a_proxy_knows_it(
    closed: int, listening: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_server(f"sc://127.0.0.1:{listening}/;token=x")
    with pytest.raises(DataError, match=f"there is no Spark Connect server at sc://127.0.0.1:{closed}: Connection"):
        require_server(f"sc://127.0.0.1:{closed}")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    require_server(f"sc://127.0.0.1:{closed}")
