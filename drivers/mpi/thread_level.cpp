#include "mpi/thread_level.hpp"

#include <mpi.h>

#include <array>
#include <stdexcept>
#include <utility>

#include "mpi/error.hpp"

namespace fourscore {

namespace {

struct Entry {
  ThreadLevel level;
  int code;
  const char* name;
  const char* constant;
};
const std::array<Entry, 4> entries{
    {{ThreadLevel::single, MPI_THREAD_SINGLE, "single", "MPI_THREAD_SINGLE"},
     {ThreadLevel::funneled, MPI_THREAD_FUNNELED, "funneled", "MPI_THREAD_FUNNELED"},
     {ThreadLevel::serialized, MPI_THREAD_SERIALIZED, "serialized", "MPI_THREAD_SERIALIZED"},
     {ThreadLevel::multiple, MPI_THREAD_MULTIPLE, "multiple", "MPI_THREAD_MULTIPLE"}}};

const Entry& entry_of(ThreadLevel level) { return entries.at(static_cast<std::size_t>(level)); }

}  // namespace

std::string to_string(ThreadLevel level) { return entry_of(level).name; }

namespace mpi {

int code_of(ThreadLevel level) { return entry_of(level).code; }

ThreadLevel thread_level_of(int code) {
  for (const Entry& entry : entries)
    if (entry.code == code) return entry.level;
  throw std::invalid_argument("thread level " + std::to_string(code) + " is none of MPI's four");
}

ThreadLevel provided_thread_level() {
  int provided = MPI_THREAD_SINGLE;
  FOURSCORE_MPI(MPI_Query_thread(&provided));
  return thread_level_of(provided);
}

Reason missing_thread_level(ThreadLevel needed, const std::string& who) {
  const ThreadLevel provided = provided_thread_level();
  if (provided >= needed) return {};
  return who + " needs " + entry_of(needed).constant + ", but MPI provides " + entry_of(provided).constant;
}

}  // namespace mpi
}  // namespace fourscore
