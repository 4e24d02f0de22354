"""Looks whether a Spark listens at its address, before Spark or pyspark would try for minutes."""

from __future__ import annotations

import os
import socket
from urllib.parse import urlsplit

from tvfsql.errors import DataError

STANDALONE = "spark://"
MASTER_PORT, CONNECT_PORT = 7077, 15002  # where a URL has none
PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")  # of gRPC; it may know addresses that this machine does not


def require_master(url: str) -> None:
    """Raise DataError if nothing listens at the address of a standalone master (`spark://HOST:PORT`), nor at those of
    its standbys (`spark://HOST:PORT,HOST:PORT`). Other masters are not looked at."""
    if not url.startswith(STANDALONE):
        return
    failed = [_failure(f"//{address}", MASTER_PORT) for address in url.removeprefix(STANDALONE).split(",")]
    if all(failed):
        raise DataError(f"there is no Spark at {url}: {failed[0]}", hint="--master URL, as the master's log shows it")


def require_server(url: str) -> None:
    """Raise DataError if nothing listens at the address of a Spark Connect server, unless gRPC uses a proxy."""
    if not any(os.environ.get(name) for name in PROXIES) and (failed := _failure(url, CONNECT_PORT)):
        raise DataError(f"there is no Spark Connect server at {url}: {failed}")


def _failure(url: str, port: int) -> str:
    """Why nothing can be reached there; "": something listens."""
    place = urlsplit(url)
    try:
        socket.create_connection((place.hostname or "", place.port or port), timeout=30).close()
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    return ""
