from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyrev
import pytest

from flowline.cli import main
from flowline.inversion import Survey, find_bed, misfit, plastic_bed
from flowline.model import Profile
from flowline.twin import survey_of_twin

Twin: TypeAlias = tuple[Profile, Survey]


@pytest.fixture(scope="module")
def twin() -> Twin:
    return survey_of_twin(nodes=60, dx=140.0)


def rms(error: Profile, survey: Survey) -> float:
    return float(np.sqrt(np.mean(error[survey.glacier > 0.0] ** 2)))


def test_the_gradient_of_the_misfit_is_that_of_differences(twin: Twin) -> None:
    _, survey = twin
    report = pyrev.check_grad(
        misfit,
        plastic_bed(survey),
        survey.surface_before,
        survey.surface_after,
        survey.balance,
        survey.speed,
        *(survey.dx, 0.05, 3),
        *(1.0, 1.0, 3.0),
    )
    assert report, report


def test_the_bed_that_made_the_survey_is_found(twin: Twin) -> None:
    bed, survey = twin
    found = find_bed(survey)
    assert rms(found.first_guess - bed, survey) > 40.0
    assert rms(found.bed - bed, survey) < 4.0
    bare = survey.glacier == 0.0
    assert (found.bed[bare] == survey.surface_before[bare]).all()
    # As far off as the noise: one for each thing that was measured.
    assert found.misfit < 1.5 * (survey.surface_after.size + survey.speed.size)


def test_the_command_finds_the_bed_of_the_survey_that_it_wrote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    survey, true, found = (tmp_path / f"{n}.csv" for n in ("survey", "true", "found"))
    main(["twin", str(survey), "--bed", str(true)])
    main(["invert", str(survey), str(found)])
    beds = [np.genfromtxt(p, delimiter=",", names=True)["bed"] for p in (true, found)]
    assert np.abs(beds[0] - beds[1]).max() < 15.0
    assert "thickest ice" in capsys.readouterr().out


def test_the_command_says_what_is_missing_in_a_table(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("x,balance\n0,1\n100,2\n")
    with pytest.raises(SystemExit, match="no column glacier, speed, surface_after"):
        main(["invert", str(tmp_path / "s.csv"), str(tmp_path / "b.csv")])
