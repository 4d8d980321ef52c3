"""The built wheel works where only it and its dependencies are: prompts, data files and the command are in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.prompt_values import VALUES

ROOT = Path(__file__).resolve().parents[1]
RENDER = """
import json, sys
from pathlib import Path
from contextmgr.templates import Templates, shipped_directory
templates = Templates()
values = json.loads(sys.stdin.read())
rendered = {name: templates.render(name, values[name]) for name in templates.names}
print(json.dumps([str(shipped_directory()), rendered]))
"""


def run(*command: str | Path, cwd: Path, path: str = "", text: str = "") -> str:
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")} | {"PYTHONPATH": path}
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=environment, input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built without network from the source archive, as an installer would."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts directory of a fresh environment that holds the wheel and nothing else."""
    home = tmp_path_factory.mktemp("elsewhere")
    venv.create(home, with_pip=False)
    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "--python", scripts / "python")
    run(*pip, "install", "--no-index", "--no-deps", wheel, cwd=home)
    return scripts


def dependencies() -> str:
    """Where the dependencies are.  On PYTHONPATH, so an editable install there is not followed."""
    return os.pathsep.join({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    files = {f.relative_to(ROOT).as_posix() for f in (ROOT / "contextmgr").rglob("*") if f.is_file()}
    prompts = {f"contextmgr/prompts/{f.name}" for f in (ROOT / "prompts").iterdir()}
    scenarios = {f"contextmgr/scenario/shipped/{f.name}" for f in (ROOT / "examples" / "scenarios").iterdir()}
    expected = {f for f in files if "__pycache__" not in f} | prompts | scenarios
    assert {f for f in held if ".dist-info/" not in f} == expected
    assert "contextmgr/py.typed" in held
    assert any(f.endswith("licenses/LICENSE") for f in held)


def test_the_installed_prompts_render(installed: Path) -> None:
    out = run(installed / "python", "-c", RENDER, cwd=installed, path=dependencies(), text=json.dumps(VALUES))
    directory, rendered = json.loads(out)
    assert Path(directory).is_relative_to(installed.parent)
    assert sorted(rendered) == sorted(f.name.removesuffix(".jinja2") for f in (ROOT / "prompts").iterdir())
    assert all("JSON object" in prompt for prompt in rendered.values())


def test_the_installed_command_says_what_it_can_do(installed: Path) -> None:
    out = run(installed / "contextmgr", "--help", cwd=installed, path=dependencies())
    assert "replay" in out
    assert "scenario" in out


def test_the_installed_command_plays_its_scenarios(installed: Path) -> None:
    out = run(installed / "contextmgr", "scenario", "quarterly-report", "--json", cwd=installed, path=dependencies())
    assert json.loads(out)["passed"] is True
