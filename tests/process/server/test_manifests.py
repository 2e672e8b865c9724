"""Manifests checked by the programs of their hosts; only if npm has these in its cache."""

from pathlib import Path

import pytest
from npx_programs import run_with_npx
from packaging_files import FOLDER

CHECKS = {
    "bundle": ("@anthropic-ai/mcpb", "validate", "bundle/manifest.json"),
    "plugin": ("@anthropic-ai/claude-code", "plugin", "validate", "plugin"),
}


@pytest.mark.parametrize("kind", CHECKS)
def test_a_host_accepts_the_manifest_and_refuses_a_broken_one(kind: str, tmp_path: Path) -> None:
    package, *command, name = CHECKS[kind]
    for path in (FOLDER / name.partition("/")[0]).rglob("*.json"):
        copy = tmp_path / path.relative_to(FOLDER)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(path.read_text(encoding="utf-8").replace('"name": "entrez-kit"', '"name": 7'), encoding="utf-8")

    accepted, refused = (
        run_with_npx(["npx", "--yes", package, *command, str(at / name)], 120) for at in (FOLDER, tmp_path)
    )

    assert accepted.returncode == 0, accepted.stdout + accepted.stderr
    assert refused.returncode != 0, refused.stdout
