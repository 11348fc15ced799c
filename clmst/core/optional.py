"""Optional packages, imported where they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from clmst.core.errors import MissingDependencyError


def optional_import(name: str, *, extra: str) -> Any:
    """Import `name`, or raise an error that names the extra which installs it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependencyError(
            f"this needs the package {name.partition('.')[0]}, which is not installed; "
            f"install it with: pip install 'clmst[{extra}]'"
        ) from error
