#include "harness/environment.hpp"

#include <algorithm>
#include <array>

extern char** environ;

namespace fourscore {
namespace {

/// One row a library, sorted by nothing: whoever misses a variable adds its name. Names only, no beginnings of names:
/// OMP_..., SLURM_... and the like are also what a site calls its own variables.
constexpr auto kept_variables = std::to_array<std::string_view>(
    {// ours
     "FOURSCORE_RANKS_PER_NODE", "FOURSCORE_GROUPS", "FOURSCORE_DEVICE",
     // OpenMP (specification 5.2, chapter 21) and the run-time libraries of GCC, LLVM and Intel
     "OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "OMP_SCHEDULE", "OMP_DYNAMIC", "OMP_NESTED", "OMP_STACKSIZE",
     "OMP_WAIT_POLICY", "OMP_MAX_ACTIVE_LEVELS", "OMP_THREAD_LIMIT", "OMP_CANCELLATION", "OMP_TARGET_OFFLOAD",
     "OMP_DEFAULT_DEVICE", "OMP_TEAMS_THREAD_LIMIT", "OMP_NUM_TEAMS", "GOMP_CPU_AFFINITY", "GOMP_SPINCOUNT",
     "GOMP_STACKSIZE", "KMP_AFFINITY", "KMP_BLOCKTIME", "KMP_HW_SUBSET", "KMP_STACKSIZE", "KMP_LIBRARY",
     // FFT libraries
     "MKL_NUM_THREADS", "MKL_DYNAMIC", "MKL_DOMAIN_NUM_THREADS", "MKL_ENABLE_INSTRUCTIONS", "MKL_INTERFACE_LAYER",
     "MKL_THREADING_LAYER", "MKL_CBWR", "MKL_DEBUG_CPU_TYPE", "FFTW_THREADS",
     // the C library's heap, huge pages, devices
     "MALLOC_ARENA_MAX", "MALLOC_TOP_PAD_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_MMAP_MAX_",
     "GLIBC_TUNABLES", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_LAUNCH_BLOCKING",
     "CUDA_DEVICE_MAX_CONNECTIONS",
     // hwloc, where it changes what the machine is taken for
     "HWLOC_SYNTHETIC", "HWLOC_XMLFILE", "HWLOC_COMPONENTS", "HWLOC_FSROOT", "HWLOC_THISSYSTEM",
     // Open MPI
     "OMPI_MCA_btl", "OMPI_MCA_pml", "OMPI_MCA_mtl", "OMPI_MCA_osc", "OMPI_MCA_coll", "OMPI_MCA_topo",
     "OMPI_MCA_mpi_yield_when_idle", "OMPI_MCA_mpi_leave_pinned", "OMPI_MCA_mpi_paffinity_alone",
     "OMPI_MCA_mpi_preconnect_mpi", "OMPI_MCA_opal_cuda_support", "OMPI_MCA_opal_progress_threads",
     "OMPI_MCA_btl_base_verbose", "OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_btl_tcp_if_exclude",
     "OMPI_MCA_btl_tcp_links", "OMPI_MCA_btl_tcp_eager_limit", "OMPI_MCA_btl_tcp_rndv_eager_limit",
     "OMPI_MCA_btl_tcp_sndbuf", "OMPI_MCA_btl_tcp_rcvbuf", "OMPI_MCA_btl_tcp_progress_thread",
     "OMPI_MCA_btl_sm_eager_limit", "OMPI_MCA_btl_sm_use_knem", "OMPI_MCA_btl_vader_eager_limit",
     "OMPI_MCA_btl_vader_single_copy_mechanism", "OMPI_MCA_btl_sm_single_copy_mechanism",
     "OMPI_MCA_btl_openib_allow_ib", "OMPI_MCA_btl_openib_if_include", "OMPI_MCA_btl_openib_eager_limit",
     "OMPI_MCA_smsc", "OMPI_MCA_oob_tcp_if_include", "OMPI_MCA_pml_ob1_eager_limit", "OMPI_MCA_pml_ucx_tls",
     "OMPI_MCA_pml_ucx_devices", "OMPI_MCA_coll_tuned_use_dynamic_rules", "OMPI_MCA_coll_tuned_alltoall_algorithm",
     "OMPI_MCA_coll_tuned_alltoallv_algorithm", "OMPI_MCA_coll_tuned_allreduce_algorithm",
     "OMPI_MCA_coll_tuned_bcast_algorithm", "OMPI_MCA_coll_tuned_barrier_algorithm", "OMPI_MCA_coll_hcoll_enable",
     "OMPI_MCA_coll_han_priority", "OMPI_MCA_coll_ml_priority", "OMPI_MCA_coll_sm_priority",
     "OMPI_MCA_hwloc_base_binding_policy", "OMPI_MCA_hwloc_base_mem_bind_failure_action",
     "OMPI_MCA_hwloc_base_mem_alloc_policy", "OMPI_MCA_rmaps_base_mapping_policy", "OMPI_MCA_rmaps_base_ranking_policy",
     "OMPI_MCA_rmaps_base_oversubscribe", "OMPI_MCA_rmaps_default_mapping_policy",
     "PRTE_MCA_hwloc_default_binding_policy", "PRTE_MCA_rmaps_default_mapping_policy", "PMIX_MCA_gds", "PMIX_MCA_psec",
     // MPICH and its relatives: Cray's, Intel's
     "MPIR_CVAR_ENABLE_GPU", "MPIR_CVAR_ASYNC_PROGRESS", "MPIR_CVAR_CH4_NETMOD", "MPIR_CVAR_CH4_NUM_VCIS",
     "MPIR_CVAR_CH4_OFI_ENABLE_HMEM", "MPIR_CVAR_CH4_SHM_POSIX_EAGER", "MPIR_CVAR_NEMESIS_POLLS_BEFORE_YIELD",
     "MPIR_CVAR_POLLS_BEFORE_YIELD", "MPIR_CVAR_ENABLE_HCOLL", "MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM",
     "MPIR_CVAR_ALLTOALLV_INTRA_ALGORITHM", "MPIR_CVAR_ALLTOALL_SHORT_MSG_SIZE", "MPIR_CVAR_ALLTOALL_MEDIUM_MSG_SIZE",
     "MPIR_CVAR_ALLTOALL_THROTTLE", "MPIR_CVAR_BARRIER_INTRA_ALGORITHM", "MPIR_CVAR_COLL_ALIAS_CHECK",
     "MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE", "MPIR_CVAR_NOLOCAL", "MPIR_CVAR_ODD_EVEN_CLIQUES", "MPICH_ASYNC_PROGRESS",
     "MPICH_GPU_SUPPORT_ENABLED", "MPICH_OFI_NIC_POLICY", "MPICH_OFI_NUM_NICS", "MPICH_RANK_REORDER_METHOD",
     "MPICH_ALLTOALL_SHORT_MSG", "MPICH_ALLTOALLV_THROTTLE", "MPICH_SMP_SINGLE_COPY_MODE", "MPICH_NO_LOCAL",
     "MPICH_MAX_THREAD_SAFETY", "MPICH_OFI_STARTUP_CONNECT", "MPICH_SINGLE_HOST_ENABLED", "I_MPI_FABRICS", "I_MPI_PIN",
     "I_MPI_PIN_DOMAIN", "I_MPI_PIN_ORDER", "I_MPI_PIN_CELL", "I_MPI_ADJUST_ALLTOALL", "I_MPI_ADJUST_ALLTOALLV",
     "I_MPI_ASYNC_PROGRESS", "I_MPI_EAGER_THRESHOLD", "I_MPI_WAIT_MODE", "I_MPI_THREAD_YIELD", "I_MPI_OFI_PROVIDER",
     "I_MPI_SHM", "I_MPI_OFFLOAD",
     // UCX and libfabric
     "UCX_TLS", "UCX_NET_DEVICES", "UCX_MAX_EAGER_LANES", "UCX_MAX_RNDV_RAILS", "UCX_RNDV_THRESH", "UCX_RNDV_SCHEME",
     "UCX_ZCOPY_THRESH", "UCX_BCOPY_THRESH", "UCX_IB_ADDR_TYPE", "UCX_IB_GID_INDEX", "UCX_IB_SL", "UCX_MEMTYPE_CACHE",
     "UCX_POSIX_USE_PROC_LINK", "UCX_SHM_DEVICES", "UCX_WARN_UNUSED_ENV_VARS", "FI_PROVIDER", "FI_HMEM",
     "FI_MR_CACHE_MONITOR", "FI_TCP_IFACE", "FI_SOCKETS_IFACE", "FI_UNIVERSE_SIZE", "FI_CXI_RX_MATCH_MODE",
     "FI_CXI_RDZV_THRESHOLD", "FI_CXI_RDZV_EAGER_SIZE", "FI_CXI_DEFAULT_CQ_SIZE", "FI_CXI_REQ_BUF_SIZE",
     "FI_OFI_RXM_USE_SRX", "FI_PSM2_DISABLE", "FI_PSM3_NIC", "FI_EFA_USE_DEVICE_RDMA",
     // Slurm: what a job asked for and got
     "SLURM_JOB_NUM_NODES", "SLURM_NNODES", "SLURM_NTASKS", "SLURM_NPROCS", "SLURM_NTASKS_PER_NODE",
     "SLURM_NTASKS_PER_CORE", "SLURM_NTASKS_PER_SOCKET", "SLURM_TASKS_PER_NODE", "SLURM_CPUS_PER_TASK",
     "SLURM_CPUS_ON_NODE", "SLURM_JOB_CPUS_PER_NODE", "SLURM_THREADS_PER_CORE", "SLURM_CORE_SPEC", "SLURM_HINT",
     "SLURM_CPU_BIND", "SLURM_CPU_BIND_TYPE", "SLURM_CPU_FREQ_REQ", "SLURM_MEM_BIND", "SLURM_MEM_PER_NODE",
     "SLURM_MEM_PER_CPU", "SLURM_DISTRIBUTION", "SLURM_DIST_PLANESIZE", "SLURM_MPI_TYPE", "SLURM_PMIX_FENCE",
     "SLURM_EXACT", "SLURM_OVERCOMMIT", "SLURM_OVERLAP", "SLURM_JOB_PARTITION", "SLURM_JOB_QOS", "SLURM_JOB_NODELIST",
     "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_CLUSTER_NAME", "SLURM_CONSTRAINT", "SLURM_SWITCHES", "SLURM_GPUS",
     "SLURM_GPUS_PER_NODE", "SLURM_GPUS_PER_TASK", "SLURM_GPU_BIND", "SLURM_GPU_FREQ", "SLURM_PROCID", "SLURM_LOCALID",
     "SLURM_NODEID", "SLURM_TOPOLOGY_ADDR"});

}  // namespace

bool is_kept_variable(std::string_view name) { return std::ranges::find(kept_variables, name) != kept_variables.end(); }

std::string kept_value(std::string_view value) {
  const std::size_t user_end = value.rfind('@');
  return user_end == std::string_view::npos ? std::string(value) : "***" + std::string(value.substr(user_end));
}

nlohmann::json environment_that_matters() {
  nlohmann::json result = nlohmann::json::object();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || !is_kept_variable(text.substr(0, equals))) continue;
    result[std::string(text.substr(0, equals))] = kept_value(text.substr(equals + 1));
  }
  return result;
}

}  // namespace fourscore
