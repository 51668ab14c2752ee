#pragma once
// What the Google Benchmark programs of this folder have in common: options, MPI, checks before times, and the record.
//
// A program is a Program (its card, its parameters and what it registers) and
//   int main(int argc, char** argv) { return fourscore::component::run(argc, argv, MyBench()); }
//
// All ranks run the same benchmarks with the same iteration counts: each benchmark's time is the maximum over ranks of
// the rank's own time, agreed before Google Benchmark decides how often to go on. Rank 0 alone prints.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "components/component_parameters.hpp"
#include "core/registry.hpp"
#include "harness/provenance.hpp"
#include "harness/verifier.hpp"

namespace fourscore::component {

/// The buffers do not fit the memory; the message has both figures.
struct LacksMemory : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What this benchmark does, with its buffers. Made just before its first run, destroyed before that of the next one is
/// made; so only one benchmark's buffers exist at a time. Constructor and all calls are collective where the work is.
class Work {
 public:
  virtual ~Work() = default;
  /// Does the work once and compares the result with what a plain computation says: the largest deviation, 0 where
  /// every value is right. Called once, before anything is timed.
  [[nodiscard]] virtual double error() = 0;
  /// What error() may be: 0 where data is only moved.
  [[nodiscard]] virtual double tolerance() const { return 0; }
  /// Timed: does the work `iterations` times. Allocates and plans nothing.
  virtual void run(std::int64_t iterations) = 0;
};

struct Benchmark {
  std::string name;                           ///< Google Benchmark's, unique in the program: "copy/streaming/268435456"
  std::string kernel;                         ///< what is done: "copy"
  std::map<std::string, std::string> labels;  ///< those of the schema of records that apply
  /// Per rank and iteration, by the conventions of docs/components.md: size_bytes, working_set_bytes, bytes, elements,
  /// length, flops, messages. bytes and flops are shown as rates.
  std::map<std::string, double> numbers;
  /// Whether what it moves may stay in the caches. Without a word: numbers' working_set_bytes of all ranks of a node
  /// are less than four times the node's last-level caches.
  std::optional<bool> in_cache;
  bool emulated = false;  ///< a stand-in for what this machine does not have: never compared with the real thing
  std::function<std::unique_ptr<Work>()> make;
};

/// The ranks, the machine and what was asked for, as a program sees them while it registers its benchmarks.
class Session {
 public:
  virtual ~Session() = default;
  [[nodiscard]] virtual MPI_Comm comm() const = 0;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int ranks() const = 0;
  [[nodiscard]] virtual const Parameters& parameters() const = 0;
  /// The most ranks on one node, and the last-level caches that such ranks may use; 0: unknown. Equal on all ranks.
  [[nodiscard]] virtual int ranks_on_node() const = 0;
  [[nodiscard]] virtual double last_level_cache_bytes() const = 0;
  /// Throws LacksMemory with both figures when the buffers of all ranks are larger than the memory that they share, on
  /// a node or in a control group: the point is then skipped. To be called in add_benchmarks(), before anything is
  /// allocated; `what` names the buffers ("3 arrays of 4 GiB").
  virtual void require_memory(double bytes_of_a_rank, const std::string& what) const = 0;
  /// In the order of the calls, the same on all ranks. std::logic_error for a name that is there already.
  virtual void add(Benchmark benchmark) = 0;
};

struct ProgramCard {
  std::string name;        ///< the program's
  std::string summary;     ///< one line
  std::string citation;    ///< as of other cards; may be empty
  bool needs_mpi = false;  ///< its ranks talk to each other
  std::vector<Parameter> parameters;
};

class Program {
 public:
  virtual ~Program() = default;
  [[nodiscard]] virtual ProgramCard card() const = 0;
  /// Nothing, or why this cannot be measured here on so many ranks: the record is then `skipped`. Throws
  /// InputError for parameters that cannot be used. Calls no MPI. Names and listed values were checked before.
  [[nodiscard]] virtual Reason refuses(const Parameters& /*parameters*/, int /*ranks*/) const { return std::nullopt; }
  /// Collective: registers the benchmarks. Throws InputError, on some or all ranks, for what cannot be used.
  virtual void add_benchmarks(Session& session) const = 0;
};

/// The whole of main(). Exit codes as of fft_bench: 0 measured, or skipped with a reason; 1 a result is wrong (archived
/// as `wrong`, without a time); 2 unusable input; 3 the environment failed.
int run(int argc, char** argv, const Program& program);

}  // namespace fourscore::component
