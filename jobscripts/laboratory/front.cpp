#include "jobscripts/laboratory/front.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <map>

#include "core/environment.hpp"
#include "core/topology.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/laboratory/network.hpp"
#include "jobscripts/laboratory/places.hpp"

namespace fourscore {
namespace fs = std::filesystem;

namespace {

constexpr int namespaces = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET;

void take_namespaces(const std::string& name) {
  require_system(::unshare(namespaces) == 0, "namespaces for a host");
  require_system(::sethostname(name.data(), name.size()) == 0, "the name of a host");
}

/// The processing units of `cores` cores of those that this process may use, from the number-th host's first on. The
/// cores are dealt in turn, so that hosts share some only where there are not enough.
cpu_set_t units_of_host(int number, int cores) {
  const Topology topology;
  std::map<int, std::vector<int>> units_of_core;
  for (const int unit : Topology::usable_units())
    for (const int core : topology.cores_of({unit})) units_of_core[core].push_back(unit);
  std::vector<std::vector<int>> all;
  for (auto& [core, units] : units_of_core) all.push_back(std::move(units));
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  for (int i = 0; i < cores; ++i)
    for (const int unit :
         all.at((static_cast<std::size_t>(number - 1) * static_cast<std::size_t>(cores) + static_cast<std::size_t>(i)) %
                all.size()))
      CPU_SET(unit, &chosen);
  return chosen;
}

/// The first process of a host.
int run_host(int number, int cores, const std::vector<fs::path>& shared, Outcome& outcome) {
  try {
    ::prctl(PR_SET_NAME, laboratory_host(number).c_str());
    take_namespaces(laboratory_host(number));
    mount_for_host(shared);
    if (cores > 0) {
      const cpu_set_t units = units_of_host(number, cores);
      require_system(::sched_setaffinity(0, sizeof units, &units) == 0, "cores for a host");
    }
    outcome.tell_ready();
  } catch (const std::exception& error) {
    outcome.tell(error);
    return 1;
  }
  ::close_range(0, ~0U, 0);  // pipes end with those who use them
  reap_for_ever();
}

/// A PID namespace is for the children of who makes it, who makes only one: so each host is a grandchild, and becomes a
/// child of this process when the one between has ended.
pid_t start_host(int number, int cores, const std::vector<fs::path>& shared) {
  Outcome outcome;
  pid_t host = 0;
  int ends[2];
  require_system(::pipe2(ends, O_CLOEXEC) == 0, "a pipe");
  const Descriptor read(ends[0]);
  Descriptor write(ends[1]);
  const pid_t between = start_process([&] {
    try {
      require_system(::unshare(CLONE_NEWPID) == 0, "a PID namespace for a host");
      const pid_t first = start_process([&] { return run_host(number, cores, shared, outcome); });
      return ::write(write.get(), &first, sizeof first) == static_cast<ssize_t>(sizeof first) ? 0 : 1;
    } catch (const std::exception& error) {
      outcome.tell(error);
      return 1;
    }
  });
  write.close();
  outcome.await_ready();
  require_system(::read(read.get(), &host, sizeof host) == static_cast<ssize_t>(sizeof host), "a host");
  ::waitpid(between, nullptr, 0);
  fs::create_directory_symlink(fmt::format("/proc/{}", host), LaboratoryPlaces::hosts() / laboratory_host(number));
  return host;
}

void set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }

/// mpirun of Open MPI and of MPICH reach the hosts by our ssh, and ranks on two hosts by TCP.
void set_environment(const LaboratoryRequest& request, bool share_cores) {
  const std::string ssh = (LaboratoryPlaces::programs() / "ssh").string();
  const std::string path = environment("PATH");
  set("PATH", LaboratoryPlaces::programs().string() + (path.empty() ? "" : ":" + path));
  set("TMPDIR", LaboratoryPlaces::scratch().string());  // a killed mpirun leaves its session's folder there
  set("FOURSCORE_LABORATORY", LaboratoryPlaces::folder);
  set("FOURSCORE_INTERCONNECT", laboratory_interconnect(request.rate));
  set("OMPI_MCA_plm", "rsh");
  set("OMPI_MCA_plm_rsh_agent", ssh);
  set("OMPI_MCA_plm_rsh_no_tree_spawn", "1");  // a host cannot enter others
  set("OMPI_MCA_oob_tcp_if_include", interface_name);
  set("OMPI_MCA_pml", "ob1");
  set("OMPI_MCA_btl", "self,vader,tcp");
  set("OMPI_MCA_btl_tcp_if_include", interface_name);
  // Without "put": the requests wait behind data, and a link carries one direction at a time.
  set("OMPI_MCA_btl_tcp_flags", "send,inplace,need-ack,need-csum,hetero-rdma");
  if (share_cores) set("OMPI_MCA_mpi_yield_when_idle", "1");  // Open MPI sees no other host's ranks
  set("HYDRA_LAUNCHER", "ssh");
  set("HYDRA_LAUNCHER_EXEC", ssh);
  set("HYDRA_IFACE", interface_name);
  set("UCX_NET_DEVICES", interface_name);
  set("UCX_TLS", "tcp,self,sm");
}

/// The process that started this one ends it, also when it is killed.
void end_with_parent(int life) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  pollfd pipe{life, POLLIN, 0};
  if (::poll(&pipe, 1, 0) > 0) ::_exit(1);  // it was too late
}

}  // namespace

int run_front(const LaboratoryRequest& request, const std::vector<fs::path>& shared,
              const std::optional<TokenBucket>& bucket, int life, Outcome& outcome) {
  pid_t command = 0;
  try {
    end_with_parent(life);
    ::prctl(PR_SET_NAME, front_name);
    if (!at_a_terminal()) ::setpgid(0, 0);  // signals come by the process that started this one, and only so
    take_namespaces(front_name);
    mount_for_front(shared, addresses_of_hosts(request.hosts));
    std::vector<pid_t> hosts;
    for (int number = 1; number <= request.hosts; ++number) hosts.push_back(start_host(number, request.cores, shared));
    join_by_links(hosts, bucket);
    const bool share_cores = request.cores == 0 || request.hosts * request.cores > usable_cores();
    command = start_program(request.command, [&] { set_environment(request, share_cores); });
    outcome.tell_ready();
  } catch (const std::exception& error) {
    outcome.tell(error);
    return 1;
  }
  return wait_and_pass_signals(command);
}

}  // namespace fourscore
