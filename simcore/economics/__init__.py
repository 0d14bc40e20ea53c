"""Money: prices applied to machines, after physics and apart from it. Imports the spec only."""
