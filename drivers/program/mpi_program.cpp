#include "program/mpi_program.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <exception>

#include "core/standard_files.hpp"
#include "mpi/error.hpp"
#include "program/command_line.hpp"

namespace fourscore::bench {
namespace {

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
  } catch (const std::exception& error) {
    // The other ranks may wait in a collective that this one will never reach.
    mpi::abort_job(program, error.what(), 3);
  }
}

}  // namespace

int run_under_mpi(int& argc, char**& argv, const MpiStart& start, SteadyTime begin,
                  const std::function<int(Agreement&, const StepTimes&)>& measure) {
  StepTimes steps;
  if (start.launched_at_s) {
    const auto now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    steps.launch_s = std::max(0.0, now - *start.launched_at_s);
  }
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
