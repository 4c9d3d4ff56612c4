"""Every page answers, as a page and as JSON."""

from __future__ import annotations

import plainly
import pytest

PARTS = ("", "/source", "/diff", "/spaces", "/admission", "/measured", "/history", "/lineage", "/neighbours")


@pytest.mark.parametrize("name", ["LampRow-v1", "AfterSales", "LampRow-v0"])
def test_each_part_of_an_environment_answers(site: str, name: str) -> None:
    for part in PARTS:
        page = plainly.get(f"{site}/environments/{name}{part}", timeout=30)
        twin = plainly.get(f"{site}/environments/{name}{part}?format=json", timeout=30)
        assert page.status_code == twin.status_code, (part, page.text[-900:], twin.text)
        assert page.status_code == 200, (part, twin.text)
        assert twin.json()


def test_neighbours_say_when_they_were_compared(site: str) -> None:
    page = plainly.get(f"{site}/environments/LampRow-v0/neighbours").text
    at = plainly.get(f"{site}/environments/LampRow-v0/neighbours?format=json").json()["at"]
    assert f"<h2>Nearest neighbours on {at[:10]}, when it was admitted</h2>" in page
