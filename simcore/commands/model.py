"""``model CONFIG.json``: a Hugging Face configuration as a model, its parameters and KV bytes checked against known
ones. ``--out`` writes what a case's ``model`` takes."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from simcore.commands.files import check_apart, check_writable, naming, write_json
from simcore.commands.numbers import parameters
from simcore.hf_config import MOST_BYTES, Imported, checks, import_model, read_config
from simcore.shapes import kv_bytes_per_token, weight_bytes
from simcore.spec import encode


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("model", help="a model out of a Hugging Face config.json")
    parser.add_argument("config", metavar="CONFIG.json")
    parser.add_argument("--name", default="", metavar="NAME", help="what it is called (default: as the file says)")
    parser.add_argument(
        "--parameters", type=parameters, metavar="P", help="a published total, to check the count against"
    )
    parser.add_argument("--out", metavar="MODEL.json", help="write the model here, as a case's model takes it")
    parser.set_defaults(run=model)


def model(arguments: argparse.Namespace) -> None:
    """Write the model, its counts and what they were checked against to standard output."""
    check_writable(arguments.out)
    check_apart([arguments.out], [arguments.config])
    with naming(arguments.config), Path(arguments.config).open("rb") as file:
        imported = import_model(read_config(file.read(MOST_BYTES + 1)), arguments.name)
    if arguments.out:
        write_json(arguments.out, encode(imported.model))
    write_json(None, _report(imported, arguments.parameters))


def _report(imported: Imported, published: int | None) -> dict[str, object]:
    made = imported.model
    return {
        "model": encode(made),
        "parameters": made.parameters,
        "parameters_by_part": {name: value for name, value in vars(imported.counted).items() if name != "active"},
        "active_parameters": imported.counted.active,
        "weight_bytes": weight_bytes(made),
        "kv_bytes_per_token": kv_bytes_per_token(made),
        "checks": [asdict(check) | {"difference": check.difference} for check in checks(imported, published)],
        "from_keys": imported.found,
        "notes": list(imported.notes),
    }
