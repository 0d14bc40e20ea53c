"""Plotly's bundle is served from the installed package, alone."""

from django.contrib.staticfiles import finders

from planner.plotly_finder import PlotlyFinder


def test_the_bundle_is_found_and_its_neighbours_are_not() -> None:
    assert str(finders.find("plotly/plotly.min.js")).endswith("package_data/plotly.min.js")
    assert finders.find("plotly/datasets/iris.csv.gz") is None
    assert finders.find("plotly.min.js") is None
    assert [path for path, _ in PlotlyFinder().list(None)] == ["plotly.min.js"]
