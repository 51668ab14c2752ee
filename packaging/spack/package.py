# SPDX-License-Identifier: BSD-3-Clause
# In a repository of packages as packages/fourscore/package.py. From a clone: spack dev-build --source-path CLONE fourscore
# From the archive that `tests/release archive .` writes: spack install --no-checksum fourscore, in the same folder.
# homepage and git: repository-code of CITATION.cff, where you have filled it in.
import os

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Fourscore(CMakePackage, CudaPackage):
    """Benchmark suite and regression harness for parallel FFTs: every published way to distribute one, its phases, its
    messages and its memory traffic."""

    manual_download = True

    license("BSD-3-Clause")

    version("0.2.0")

    variant("mpi", default=True, description="The programs that measure; without it only what reads archives")
    variant("simgrid", default=False, description="They run under SimGrid's MPI, which simulates machines")
    variant("fftw_mpi", default=True, description="Variant fftw-mpi: FFTW's own distributed transforms")
    variant("openmp", default=True, description="Variant node, and threads of FFTW")
    variant("benchmark", default=True, description="Programs that measure one component alone")
    variant("papi", default=False, description="Counter backend papi")
    variant("highway", default=True, description="local FFT library tiled")
    variant("libarchive", default=True, description="fourscore archive pack and unpack")
    variant("likwid", default=False, description="Counter backend likwid, under the GPL, version 3")
    variant("valgrind", default=False, description="Counter backend callgrind, which simulates a cache")
    variant("mkl", default=False, description="Local FFT library mkl and variant mkl-cdft")
    conflicts("+mpi", when="+simgrid", msg="an MPI is real or simulated: fourscore~mpi+simgrid")
    conflicts("+fftw_mpi", when="~mpi", msg="FFTW's distributed transforms need an MPI: fourscore~mpi~fftw_mpi")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11")
    depends_on("fmt")
    depends_on("fftw@3.3: precision=float,double ~mpi", when="~fftw_mpi")
    depends_on("fftw@3.3: precision=float,double +mpi", when="+fftw_mpi")
    depends_on("fftw+openmp", when="+openmp")
    depends_on("hwloc")
    depends_on("muparser")
    depends_on("nlohmann-json@3.10:")
    depends_on("openssl")
    depends_on("sqlite@3:")
    depends_on("tomlplusplus")
    depends_on("valijson")
    depends_on("mpi@3:", when="+mpi")
    depends_on("simgrid@3.30: +smpi", when="+simgrid")
    depends_on("benchmark", when="+benchmark")
    depends_on("papi", when="+papi")
    depends_on("highway", when="+highway")
    depends_on("libarchive", when="+libarchive")
    depends_on("likwid", when="+likwid")
    depends_on("valgrind", type=("build", "run"), when="+valgrind")
    depends_on("intel-oneapi-mkl", when="+mkl")
    depends_on("python@3.10:", type="run")
    depends_on("py-jinja2@3.1:", type="run")
    depends_on("py-matplotlib@3.6:", type="run")
    depends_on("py-numpy@1.24:", type="run")
    depends_on("py-scipy@1.10:", type="run")

    generator("ninja")

    def url_for_version(self, version):
        return f"file://{os.getcwd()}/fourscore-{version}.tar.gz"

    def cmake_args(self):
        spec = self.spec
        args = [
            self.define("FOURSCORE_TESTS", False),
            self.define("FOURSCORE_NATIVE", False),  # Spack's compilers say for which processor
            self.define_from_variant("FOURSCORE_WITH_FFTW_MPI", "fftw_mpi"),
            self.define_from_variant("FOURSCORE_WITH_OPENMP", "openmp"),
            self.define_from_variant("FOURSCORE_WITH_FFTW_THREADS", "openmp"),
            self.define_from_variant("FOURSCORE_WITH_BENCHMARK", "benchmark"),
            self.define_from_variant("FOURSCORE_WITH_PAPI", "papi"),
            self.define_from_variant("FOURSCORE_WITH_HIGHWAY", "highway"),
            self.define_from_variant("FOURSCORE_WITH_LIBARCHIVE", "libarchive"),
            self.define_from_variant("FOURSCORE_WITH_LIKWID", "likwid"),
            self.define_from_variant("FOURSCORE_WITH_VALGRIND", "valgrind"),
            self.define_from_variant("FOURSCORE_WITH_MKL", "mkl"),
            self.define_from_variant("FOURSCORE_WITH_CUDA", "cuda"),
        ]
        if spec.satisfies("+simgrid"):
            args.append(self.define("FOURSCORE_MPI", "smpi"))
        elif spec.satisfies("+mpi"):
            args.append(self.define("FOURSCORE_MPI", "default"))
            args.append(self.define("MPI_C_COMPILER", spec["mpi"].mpicc))
        else:
            args.append(self.define("FOURSCORE_MPI", "none"))
        if spec.satisfies("+mkl"):
            args.append(self.define("MKL_ROOT", spec["intel-oneapi-mkl"].package.component_prefix))
        if spec.satisfies("+cuda") and "none" not in spec.variants["cuda_arch"].value:
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", ";".join(spec.variants["cuda_arch"].value)))
        return args
