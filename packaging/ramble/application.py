# SPDX-License-Identifier: BSD-3-Clause
# In a repository of applications as applications/fourscore/application.py.
from ramble.appkit import *


class Fourscore(ExecutableApplication):
    """Parallel FFTs: one variant and exchange on one shape, checked, timed phase by phase"""

    name = "fourscore"

    tags("fft", "benchmark", "mpi")

    with when("package_manager_family=spack"):
        software_spec("fourscore", pkg_spec="fourscore")
        required_package("fourscore")

    executable(
        "fft_bench",
        "fft_bench --variant {variant} --exchange {exchange} --shape {shape} --precision {precision} --planner {planner}"
        " --ranks {n_ranks} --fom",
        use_mpi=True,
    )
    workload("transform", executables=["fft_bench"])

    workload_variable("variant", default="pencil", description="Algorithm, as fft_bench --list says", workloads=["transform"])
    workload_variable("exchange", default="alltoallv", description="How data moves between ranks", workloads=["transform"])
    workload_variable("shape", default="128x128x128", description="1 to 3 extents", workloads=["transform"])
    workload_variable("precision", default="double", description="double or single", workloads=["transform"])
    workload_variable("planner", default="measure", description="estimate, measure or patient", workloads=["transform"])

    # docs/commands.md, Figures of merit.
    for _key, _units in (
        ("status", ""),
        ("verified", ""),
        ("time_s", "s"),
        ("time_min_s", "s"),
        ("gflops", "GFLOP/s"),
        ("phase_fft_s", "s"),
        ("phase_exchange_s", "s"),
        ("flags", ""),
    ):
        figure_of_merit(_key, fom_regex=rf"^fom {_key} (?P<value>\S+)$", group_name="value", units=_units)

    success_criteria("checked", mode="string", match=r"^fom verified yes$")
