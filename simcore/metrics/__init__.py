"""One run measured: OUT.json's summary and its parts by noun (the run of a study's search asks feasibility alone)."""
