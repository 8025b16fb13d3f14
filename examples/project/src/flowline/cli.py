"""The command `flowline`: surveys and beds are tables of comma-separated values.

flowline twin survey.csv --bed true.csv    # of a glacier that is computed
flowline invert survey.csv bed.csv --years 15 --true true.csv
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from flowline.inversion import Survey, find_bed
from flowline.model import Profile
from flowline.twin import survey_of_twin

COLUMNS = ("x", "surface_before", "surface_after", "balance", "glacier", "speed")


def write(path: Path, **columns: Profile) -> None:
    """Write a table; between nodes there is one value less, and the last is empty."""
    n = max(c.size for c in columns.values())
    rows = [np.append(c, [np.nan] * (n - c.size)) for c in columns.values()]
    header = ",".join(columns)
    np.savetxt(path, np.array(rows).T, "%.3f", ",", header=header, comments="")


def read(path: Path, years: float) -> tuple[Profile, Survey]:
    """The places of the nodes and the survey in a table that `write` could write.

    Raises SystemExit where a column is missing or nodes are not evenly spaced.
    """
    table = np.genfromtxt(path, delimiter=",", names=True)
    if missing := set(COLUMNS) - set(table.dtype.names or ()):
        raise SystemExit(f"{path} has no column {', '.join(sorted(missing))}")
    x, before, after, balance, glacier, speed = (table[c].copy() for c in COLUMNS)
    dx = float(x[1] - x[0])
    if not np.allclose(np.diff(x), dx):
        raise SystemExit(f"{path}: the nodes are not {dx:g} m apart everywhere")
    return x, Survey(dx, years, before, after, balance, speed[:-1].copy(), glacier)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="flowline", description="Beds of glaciers.")
    commands = parser.add_subparsers(dest="command", required=True)
    twin = commands.add_parser("twin", help="survey a glacier that is computed")
    twin.add_argument("survey", type=Path)
    twin.add_argument("--bed", type=Path, help="where to write its true bed")
    invert = commands.add_parser("invert", help="find the bed under a surveyed glacier")
    invert.add_argument("survey", type=Path)
    invert.add_argument("bed", type=Path)
    invert.add_argument("--true", type=Path, help="how far is it from this bed?")
    for command in (twin, invert):
        command.add_argument("--years", type=float, default=15.0, help="between both")
    given = parser.parse_args(arguments)
    if given.command == "twin":
        bed, survey = survey_of_twin(years=given.years)
        x = survey.dx * np.arange(bed.size, dtype=np.float64)
        columns = {c: getattr(survey, c) for c in COLUMNS[1:]}
        write(given.survey, x=x, **columns)
        if given.bed:
            write(given.bed, x=x, bed=bed)
    else:
        x, survey = read(given.survey, given.years)
        found = find_bed(survey)
        write(given.bed, x=x, bed=found.bed)
        thickness = survey.surface_before - found.bed
        print(
            f"misfit {found.misfit_of_guess:.0f} -> {found.misfit:.0f} in"
            f" {found.evaluations} evaluations; thickest ice {thickness.max():.0f} m"
        )
        if given.true:
            true = np.genfromtxt(given.true, delimiter=",", names=True)["bed"]
            ice = survey.glacier > 0.0
            for name, bed in (("first guess", found.first_guess), ("found", found.bed)):
                error = np.sqrt(np.mean((bed - true)[ice] ** 2))
                print(f"{name}: wrong by {error:.0f} m (root mean square)")
