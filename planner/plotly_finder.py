"""Serves plotly.min.js from the installed plotly package as plotly/plotly.min.js, and nothing else of it."""

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

BUNDLE = "plotly.min.js"
PREFIX = "plotly"


def package_data() -> Path:
    """The folder of plotly's packaged files, found without importing plotly."""
    spec = find_spec("plotly")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("plotly is not installed")
    return Path(spec.submodule_search_locations[0]) / "package_data"


class PlotlyFinder(BaseFinder):
    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        if path != f"{PREFIX}/{BUNDLE}":
            return []
        found = str(package_data() / BUNDLE)
        return [found] if find_all else found

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterable[tuple[str, FileSystemStorage]]:
        storage = FileSystemStorage(location=package_data())
        storage.prefix = PREFIX  # type: ignore[attr-defined]
        yield BUNDLE, storage
