#include "harness/other_work.hpp"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <sstream>
#include <string>

#include "harness/system_files.hpp"
#include "mpi/error.hpp"

namespace fourscore {
namespace {

double seconds_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

std::optional<double> busy_s(const std::filesystem::path& stat) {
  // proc(5): cpu user nice system idle iowait irq softirq steal, in ticks.
  std::istringstream line(first_line(stat).value_or(""));
  std::string name;
  double user = 0, nice = 0, system = 0;
  if (!(line >> name >> user >> nice >> system) || name != "cpu") return std::nullopt;
  return (user + nice + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double other_cores(double busy_s, double own_s, double elapsed_s) {
  return elapsed_s > 0 ? std::max(busy_s - own_s, 0.0) / elapsed_s : 0;
}

OtherWork::OtherWork(MPI_Comm node) : node_(node), begin_(now()) {}

OtherWork::Moment OtherWork::now() {
  return {busy_s(), seconds_of(CLOCK_PROCESS_CPUTIME_ID), seconds_of(CLOCK_MONOTONIC)};
}

std::optional<double> OtherWork::cores() const {
  FOURSCORE_MPI(MPI_Barrier(node_));
  const Moment end = now();
  double own_s = end.own_s - begin_.own_s;
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &own_s, 1, MPI_DOUBLE, MPI_SUM, node_));
  const bool known = begin_.busy_s && end.busy_s;
  double cores = known ? other_cores(*end.busy_s - *begin_.busy_s, own_s, end.at_s - begin_.at_s)
                       : std::numeric_limits<double>::max();
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &cores, 1, MPI_DOUBLE, MPI_MIN, node_));
  return cores < std::numeric_limits<double>::max() ? std::optional(cores) : std::nullopt;
}

}  // namespace fourscore
