"""The corpus with a real Weaviate server, started from the binary that ``WEAVIATE_BIN`` names or that is in PATH."""

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from command_line import Program

from entrez_kit.sandbox.server import Sandbox

BINARY = shutil.which(os.environ.get("WEAVIATE_BIN") or "weaviate")
START_SECONDS = 60


def _find_free_ports(count: int) -> list[int]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


@pytest.fixture
def server(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Run Weaviate with an empty data folder; return the settings that name it."""
    pytest.importorskip("weaviate", reason="the extra entrez-kit[weaviate] is not installed")
    if BINARY is None:
        pytest.skip("WEAVIATE_BIN names no Weaviate binary, and there is none in PATH")
    rest, grpc, gossip, raft, profiling = _find_free_ports(5)
    environment = {
        **os.environ,
        "PERSISTENCE_DATA_PATH": str(tmp_path / "weaviate"),
        "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED": "true",
        "DEFAULT_VECTORIZER_MODULE": "none",
        "DISABLE_TELEMETRY": "true",
        "GRPC_PORT": str(grpc),
        "CLUSTER_HOSTNAME": "node1",
        "CLUSTER_IN_LOCALHOST": "true",
        "CLUSTER_ADVERTISE_ADDR": "127.0.0.1",
        "CLUSTER_ADVERTISE_PORT": str(gossip),
        "CLUSTER_GOSSIP_BIND_PORT": str(gossip),
        "CLUSTER_DATA_BIND_PORT": str(gossip + 1),  # the server accepts only this port, and below that of RAFT
        "RAFT_BOOTSTRAP_EXPECT": "1",
        "RAFT_PORT": str(raft),
        "RAFT_INTERNAL_RPC_PORT": str(raft + 1),
        "RAFT_JOIN": f"node1:{raft}",
        "PROFILING_PORT": str(profiling),
    }
    with (tmp_path / "weaviate.log").open("wb") as log:
        command = [BINARY, "--host", "127.0.0.1", "--port", str(rest), "--scheme", "http"]
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        _wait_until_ready(process, f"http://127.0.0.1:{rest}/v1/.well-known/ready", tmp_path / "weaviate.log")
        yield {"WEAVIATE_URL": f"http://127.0.0.1:{rest}", "WEAVIATE_GRPC_PORT": str(grpc)}
    finally:
        process.terminate()
        process.wait(30)


def _wait_until_ready(process: "subprocess.Popen[bytes]", address: str, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            with urlopen(address, timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.2)
    raise AssertionError(f"Weaviate did not start:\n{log.read_text(encoding='utf-8', errors='replace')[-2_000:]}")


def test_a_sync_a_search_and_a_look_up_with_a_real_server(
    server: dict[str, str], sandbox: Sandbox, program: Program
) -> None:
    environment = {**server, "ENTREZ_KIT_EUTILS_URL": f"{sandbox.url}/entrez/eutils"}

    synced = program("corpus", "sync", "smoke", "trial[ti]", "--json", **environment)
    document = json.loads(synced.out)
    assert (synced.status, document["warnings"]) == (0, []), synced.err
    assert document["inserted"] > 0

    searched = program("corpus", "search", "randomized trial", "--json", **environment)
    hits = json.loads(searched.out)["results"]
    assert searched.status == 0
    assert hits
    assert "Weaviate" not in searched.err

    read = program("corpus", "get", hits[0]["doc_id"], "--json", **environment)
    assert (read.status, json.loads(read.out)["doc_id"]) == (0, hits[0]["doc_id"]), read.err
