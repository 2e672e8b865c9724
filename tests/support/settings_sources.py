"""The sources of settings in tests: a new home, project folder and environment."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from entrez_kit.base.settings import PROJECT_FILE, Settings, load_settings

CANARY = "canary0123456789abcdef"
EMAIL = "canary.person@example.org"


class Sources:
    """A home, a project folder and an environment of one test."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = root / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.environ = {"HOME": str(self.home)}

    @property
    def user_file(self) -> Path:
        """The user config."""
        return self.home / ".config" / "entrez-kit" / "config.toml"

    def user_config(self, text: str, mode: int = 0o600) -> None:
        """Write the user config."""
        self.user_file.parent.mkdir(parents=True, exist_ok=True)
        self.user_file.write_text(text, encoding="utf-8")
        self.user_file.chmod(mode)

    def project_file(self, text: str) -> None:
        """Write the project file."""
        (self.project / PROJECT_FILE).write_text(text, encoding="utf-8")

    def load(self, overrides: Mapping[str, Any] | None = None, /, **environ: str) -> Settings:
        """Read the settings."""
        return load_settings(overrides, environ={**self.environ, **environ}, working_dir=self.project)


@pytest.fixture(name="sources")
def sources_fixture(tmp_path: Path) -> Sources:
    """Return sources without any setting."""
    return Sources(tmp_path)
