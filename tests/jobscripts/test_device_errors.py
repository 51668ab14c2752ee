"""A device that fails in the middle fails its launch alone: the real fft_bench, with the stand-in told to fail."""

from fourscore_command import REAL


def test_the_record_has_the_devices_text_and_the_other_points_go_on(fourscore):
    suite = fourscore.suite(
        'name = "devices"\nlaunches = 1\nrepetitions = 3\ntime_limit_s = 120\n'
        '[defaults]\nshape = "12x10x9"\nranks = 2\nplanner = "estimate"\n'
        '[[sweep]]\nvariant = "slab-gpu"\nexchange = "p2p"\nparameters = { device = "host" }\n'
        '[[sweep]]\nvariant = ["overdecomposed", "node"]\nparameters = { offload = "pencil", device = "host" }\n'
        '[[sweep]]\nvariant = "slab"\nexchange = "p2p"\n'
    )
    fourscore("run", suite, environment=REAL | {"FOURSCORE_STAND_IN": "fail-at=40"}, code=1)
    verdicts = {record["point"]["variant"]: record["verdict"] for record in fourscore.records().values()}
    assert {variant: verdict["status"] for variant, verdict in verdicts.items()} == {
        "slab-gpu": "failed",
        "overdecomposed": "failed",
        "node": "failed",
        "slab": "ok",
    }
    for variant in ("slab-gpu", "overdecomposed", "node"):
        assert "the stand-in failed at a" in verdicts[variant]["stderr_tail"] + verdicts[variant]["reason"]
