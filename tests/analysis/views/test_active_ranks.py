"""On how many of its ranks a transform is fastest."""

from fourscore_analysis.models.observations import usable
from fourscore_analysis.points.points import group_points
from fourscore_analysis.tables.advice import ranks_to_use_text
from fourscore_analysis.views.active_ranks import ranks_to_use
from synthetic import campaign_of, launches_alike, make_point


def launches(
    seconds: float, active: int | str = "", resolved: int | None = None, variant: str = "pencil"
) -> list[dict]:
    point = make_point(variant, "p2p", (8, 8, 8), 8)
    if active:
        point = point | {"active_ranks": active}
    records = launches_alike(point, seconds)
    for record in records:
        if active:
            record["resolved"]["active_ranks"] = resolved or active
    return records


def found_in(*lists: list[dict]):
    return ranks_to_use(group_points(campaign_of([record for one in lists for record in one])))


def test_the_best_number_of_ranks_is_the_fastest_that_was_measured():
    [one] = found_in(launches(3e-4), launches(1e-4, 2), launches(2e-4, 4), launches(1.5e-4, "auto", 1))
    said = one.as_json()
    assert (said["active_ranks"], said["ranks"], said["method"]) == (2, 8, "pencil/p2p")
    assert [entry["active_ranks"] for entry in said["measured"]] == [1, 2, 4, 8]
    assert said["all_ranks_s"] > said["time_s"]
    assert said["tied"] == []
    text = ranks_to_use_text([one])
    assert "ranks to use, as measured" in text
    assert "none" in text


def test_all_ranks_may_be_the_best_and_numbers_may_be_tied():
    [one] = found_in(launches(1e-4), launches(1e-4, 4))
    assert one.as_json()["tied"] in ([4], [8])
    [one] = found_in(launches(1e-4), launches(9e-4, 4))
    assert one.as_json()["active_ranks"] == 8


def test_one_number_alone_advises_nothing():
    assert found_in(launches(1e-4, 2)) == []
    assert ranks_to_use_text([]) == ""
    assert found_in(launches(1e-4, 2), launches(2e-4, 4, variant="slab")) == []


def test_points_of_some_ranks_are_fitted_by_no_model_and_named_apart():
    campaign = campaign_of(launches(3e-4) + launches(1e-4, 2))
    assert len(usable([campaign])) == 6
    labels = {point.label for point in group_points(campaign)}
    assert labels == {"pencil/p2p", "pencil/p2p on 2 active"}
