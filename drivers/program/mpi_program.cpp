#include "program/mpi_program.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "core/errors.hpp"
#include "core/harness_mark.hpp"
#include "core/standard_files.hpp"
#include "core/text.hpp"
#include "mpi/error.hpp"
#include "program/command_line.hpp"
#ifdef FOURSCORE_SIMULATED
#include "simulation/simgrid/simulate.hpp"
#endif

namespace fourscore::bench {
namespace {

/// Referred to, so that no linker leaves it out.
[[gnu::used]] const char* const mark_of_this_program = harness_mark;

/// Between MPI_Init and MPI_Finalize: every way out is a code for all ranks, or ends all ranks.
int measure_together(const std::string& program, const std::function<int(Agreement&)>& measure) {
  try {
    Agreement agreement(MPI_COMM_WORLD, program);
    try {
      return measure(agreement);
    } catch (const LeaveTogether& leave) {
      if (mpi::rank_in(MPI_COMM_WORLD) == 0) std::fprintf(stderr, "%s: %s\n", program.c_str(), leave.message.c_str());
      return leave.code;
    }
  } catch (const InputError& error) {
    // The other ranks may wait in a collective that this one will never reach.
    mpi::abort_job(program, error.what(), 2);
  } catch (const std::exception& error) {
    mpi::abort_job(program, error.what(), 3);
  }
}

/// One rank's whole life under MPI.
int run_rank(int& argc, char**& argv, const MpiStart& start, SteadyTime begin, StepTimes steps,
             const std::function<int(Agreement&, const StepTimes&)>& measure) {
  int provided = 0;
  if (MPI_Init_thread(&argc, &argv, mpi::code_of(start.thread_level), &provided) != MPI_SUCCESS) {
    std::fprintf(stderr, "%s: MPI_Init_thread failed\n", start.program.c_str());
    return 3;
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  announce_start(start.started);
  steps.init_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const int code = measure_together(start.program, [&](Agreement& agreement) { return measure(agreement, steps); });
  MPI_Finalize();
  return code;
}

std::string said_of(const MpiStart& start, std::string_view key, const std::string& absent) {
  const auto found = start.launch.find(key);
  return found == start.launch.end() ? absent : found->second;
}

#ifdef FOURSCORE_SIMULATED
int count_from(const char* variable, int absent) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return absent;
  const auto value = number_from<int>(text);
  if (!value || *value < 1)
    throw InputError(fmt::format("{} is '{}'; expected a whole number of at least 1", variable, text));
  return *value;
}

/// No launcher starts the ranks of a simulation: this process has them all.
int start_ranks(const MpiStart& start, const std::function<int()>& rank) {
  Simulation simulation;
  simulation.platform = said_of(start, "platform", "none");
  if (simulation.platform == "none")
    throw InputError("this build runs ranks on simulated machines only; expected --platform, as bluegene-l");
  simulation.host_order = parse_host_order(said_of(start, "host_order", "row-major"), "--host-order");
  simulation.ranks = count_from("FOURSCORE_SIMULATED_RANKS", 1);
  simulation.nodes = count_from("FOURSCORE_SIMULATED_NODES", simulation.ranks);
  return simulate(simulation, rank);
}
#else
int start_ranks(const MpiStart& start, const std::function<int()>& rank) {
  if (const std::string platform = said_of(start, "platform", "none"); platform != "none")
    throw InputError(fmt::format(
        "platform '{}': this build runs ranks on real machines; expected the build for SimGrid (preset smpi)",
        platform));
  if (const std::string order = said_of(start, "host_order", "row-major"); order != "row-major")
    throw InputError(fmt::format("host order '{}' without a platform; expected row-major", order));
  return rank();
}
#endif

}  // namespace

int run_under_mpi(int& argc, char**& argv, const MpiStart& start, SteadyTime begin,
                  const std::function<int(Agreement&, const StepTimes&)>& measure) {
  StepTimes steps;
  if (start.launched_at) steps.launch_s = seconds_between(*start.launched_at, this_moment());
  try {
    return start_ranks(start, [&] { return run_rank(argc, argv, start, begin, steps, measure); });
  } catch (const InputError& error) {
    throw Exit{2, start.program + ": " + error.what() + "\n"};
  }
}

int run_main(const std::string& program, const std::function<int(SteadyTime)>& body) {
  const auto begin = std::chrono::steady_clock::now();
  open_standard_files();
  survive_full_files();
  const int code = [&] {
    try {
      return body(begin);
    } catch (const Exit& exit) {
      print_once(exit.code == 0 ? stdout : stderr, exit.text);
      return exit.code;
    } catch (const std::exception& error) {
      print_once(stderr, program + ": " + error.what() + "\n");
      return 3;
    }
  }();
  return end_output(code, program);
}

}  // namespace fourscore::bench
