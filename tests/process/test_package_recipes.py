"""The Dockerfile and the conda recipe as their own programs read them: hadolint and rattler-build."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging_files import FOLDER, ROOT

from entrez_kit.base import __version__

DOCKERFILE = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
RECIPE = FOLDER / "conda" / "recipe.yaml"


def find_problems(dockerfile: str) -> list[str]:
    """Return the codes that hadolint reports for a Dockerfile."""
    program = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("the extra packaging is not installed, or hadolint has no package for this platform")
    done = subprocess.run(
        [program, "--no-fail", "--format", "json", "-"], input=dockerfile, capture_output=True, text=True, check=True
    )
    return [problem["code"] for problem in json.loads(done.stdout)]


def test_hadolint_accepts_the_dockerfile() -> None:
    assert find_problems(DOCKERFILE) == []


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("python:3.13-slim", "python", "DL3006"),
        ("--no-cache-dir ", "", "DL3042"),
        (f"=={__version__}", "", "DL3013"),
        ('ENTRYPOINT ["entrez-kit"]', "ENTRYPOINT entrez-kit", "DL3025"),
        ("USER 1000", "USERS 1000", "DL1000"),
    ],
)
def test_hadolint_refuses_a_dockerfile_with_a_mistake(before: str, after: str, code: str) -> None:
    assert before in DOCKERFILE
    assert code in find_problems(DOCKERFILE.replace(before, after))


def render_recipe(recipe: str) -> Any:
    """Return the recipe as rattler-build renders it."""
    rattler = pytest.importorskip("rattler_build", reason="the extra `packaging` is not installed")
    # It writes the text into a folder of the recipe, so it gets none.
    stage0 = rattler.Stage0Recipe.from_yaml(recipe)
    (variant,) = stage0.render(rattler.VariantConfig(), rattler.RenderConfig())
    return variant.recipe.to_dict()


def test_rattler_build_renders_the_recipe_with_all_dependencies() -> None:
    recipe = render_recipe(RECIPE.read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert (recipe["package"]["name"], str(recipe["package"]["version"])) == ("entrez-kit", __version__)
    listed = {re.split(r"[ <>=]", str(one), maxsplit=1)[0] for one in recipe["requirements"]["run"]}
    wanted = {re.split(r"[<>=;\[ ]", line, maxsplit=1)[0].lower() for line in project["dependencies"]}
    assert listed == wanted | {"python"}
    source = recipe["source"][0] if isinstance(recipe["source"], list) else recipe["source"]
    assert (RECIPE.parent / source["path"] / "pyproject.toml").resolve() == ROOT / "pyproject.toml"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("noarch: python", "noarch: snake"),
        ("build:", "builds:"),
        ("version: ", "versions: "),
        ("- python >=3.11", "- python >=>3.11"),
        ("license: MIT", "license: [not, a, licence]"),
    ],
)
def test_rattler_build_refuses_a_recipe_with_a_mistake(before: str, after: str) -> None:
    rattler = pytest.importorskip("rattler_build", reason="the extra `packaging` is not installed")
    recipe = RECIPE.read_text(encoding="utf-8")
    assert before in recipe
    with pytest.raises(rattler.RattlerBuildError):
        render_recipe(recipe.replace(before, after))
