"""The cache: only its owner can read it, and it has no credentials."""

import os
import stat
from pathlib import Path
from urllib.parse import quote

import pytest
import requests
from cache_helpers import search
from loopback_transport import EMAIL, KEY, add_secrets, open_workbench
from platform_marks import needs_modes

from entrez_kit.services.transport import cached_session
from entrez_kit.services.transport.cache import cache_file
from entrez_kit.services.transport.cached_session import clear


def test_users_with_and_without_a_key_share_cached_replies(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        search(bench)
        with bench.open_another(**add_secrets(), ncbi_tool_identifier="another") as other:
            assert search(other).from_cache


@needs_modes
def test_files_can_be_read_only_by_their_owner(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        with open_workbench(tmp_path) as bench:
            search(bench)
            folder = bench.settings.cache_dir
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            names = sorted(path.name for path in folder.iterdir())
            assert names == ["http_cache.sqlite", "http_cache.sqlite-shm", "http_cache.sqlite-wal"]
            assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    finally:
        os.umask(old)


@needs_modes
def test_permissions_of_an_open_file_are_corrected_and_those_of_a_shared_folder_are_not_changed(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        search(bench)
        bench.transport.close()
        path = cache_file(bench.settings)
        path.chmod(0o666)
        path.parent.chmod(0o755)
        search(bench)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o755


def test_a_session_of_requests_cache_stores_the_replies_and_its_requests_hold_no_credentials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[requests.PreparedRequest] = []
    original = cached_session.ReplyCache.save_response

    def save(self: cached_session.ReplyCache, response: requests.Response, *arguments: object) -> None:
        seen.append(response.request)
        original(self, response, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(cached_session.ReplyCache, "save_response", save)
    with open_workbench(tmp_path, **add_secrets()) as bench:
        search(bench)
        assert search(bench).from_cache
    [request] = seen
    assert request.body is None
    for secret in (KEY, EMAIL, quote(EMAIL)):
        assert secret not in f"{request.url} {request.headers}"


def test_clear_leaves_no_bytes_of_the_replies(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        search(bench, "something private")
        bench.transport.close()
        assert b"something+private" in bench.cache_bytes()
        clear(bench.settings)
        assert b"something+private" not in bench.cache_bytes()
