# SPDX-License-Identifier: BSD-3-Clause
# In Benchpark as experiments/fourscore/experiment.py, beside application.py of this folder and package.py of packaging/spack.
from benchpark.directives import variant
from benchpark.experiment import Experiment
from benchpark.mpi import MpiOnlyExperiment


class Fourscore(Experiment, MpiOnlyExperiment):
    variant("workload", default="transform", description="one point of fft_bench")
    variant("version", default="0.2.0", description="version of fourscore")

    def compute_applications_section(self):
        self.add_experiment_variable("variant", ["slab", "pencil"], named=True, matrixed=True)
        self.add_experiment_variable("exchange", "alltoallv", named=True)
        self.add_experiment_variable("shape", "128x128x128", named=True)
        self.add_experiment_variable("n_ranks", [2, 4], named=True, matrixed=True)
        self.set_required_variables(n_resources="{n_ranks}", process_problem_size="{shape}/{n_ranks}", total_problem_size="{shape}")

    def compute_package_section(self):
        self.add_package_spec(self.name, [f"fourscore@{self.spec.variants['version'][0]}"])
