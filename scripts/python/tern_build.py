"""The build backend of the Python package: installs the packages that the build needs, then calls scikit-build-core."""

import os
import pathlib
import subprocess
import sys
import sysconfig

from scikit_build_core.build import *  # noqa: F403
from scikit_build_core import build as skbuild

ROOT = pathlib.Path(__file__).resolve().parents[2]


def install_packages():
    """Calls scripts/deps. Installs the headers of Python only if this interpreter lacks them."""
    groups = ["build"]
    if not pathlib.Path(sysconfig.get_path("include"), "Python.h").exists():
        groups.append("python")
    result = subprocess.run([ROOT / "scripts" / "deps", *groups], env=dict(os.environ, TERN_PYTHON=sys.executable), check=False)
    if result.returncode:
        raise SystemExit("tern: the packages that the build needs are missing, see above")


def get_requires_for_build_wheel(config_settings=None):
    install_packages()
    return skbuild.get_requires_for_build_wheel(config_settings)


def get_requires_for_build_editable(config_settings=None):
    install_packages()
    return skbuild.get_requires_for_build_editable(config_settings)
