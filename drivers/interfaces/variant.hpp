#pragma once
// The interface to one algorithm: a distributed transform that can be planned, run, taken apart and predicted.

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/decomposition.hpp"
#include "core/parameters.hpp"
#include "core/phase.hpp"
#include "core/problem.hpp"
#include "core/registry.hpp"
#include "interfaces/exchange.hpp"
#include "interfaces/local_fft.hpp"
#include "mpi/thread_level.hpp"

namespace fourscore {

/// The paper's formula for one transform, per rank where it says so.
struct Cost {
  double flops = 0;              ///< whole transform
  double bytes_per_rank = 0;     ///< payload sent to other ranks
  double messages_per_rank = 0;  ///< to other ranks
};

/// One part of a plan that can run alone on the plan's own buffers (their content is then undefined). Every rank has
/// the same list in the same order.
struct Component {
  std::string name;  ///< "fft-1", "pack-1", "exchange-1"
  Phase phase = Phase::other;
  std::function<void()> run;
  /// The minimum it moves to and from memory on this rank where no cache holds anything from one component to the
  /// next, reads and writes together: a 1-D transform reads and writes all its data once, a copy reads and writes
  /// what it copies, an exchange reads what it sends and writes what it receives. Nothing: unknown.
  std::optional<Index> min_bytes{};
};

/// What Plan::advance() came to.
enum class Advance {
  worked,    ///< it did something
  idle,      ///< all that is left waits for messages
  complete,  ///< the transform is through
};

/// A planned transform. Everything is planned and allocated in the constructor; execute() only computes. Layouts count
/// reals on the side where the problem's data is real, and complex elements elsewhere.
class Plan {
 public:
  virtual ~Plan() = default;
  [[nodiscard]] virtual const Decomposition& input_layout() const = 0;  ///< over the ranks of the plan's comm
  [[nodiscard]] virtual const Decomposition& output_layout() const = 0;
  [[nodiscard]] virtual void* input() const = 0;   ///< the caller writes this rank's input here before every execute
  [[nodiscard]] virtual void* output() const = 0;  ///< equal to input() exactly when the contract is in place
  virtual void execute(PhaseClock& clock) = 0;
  /// A plan that computes in a device's memory moves its input there when it executes, and its output back; where data
  /// is said to stay it does neither, and the caller does: place_input() between writing at input() and executing,
  /// fetch_output() before reading at output().
  virtual void keep_data_in_place(bool /*stays*/) {}
  virtual void place_input() {}
  virtual void fetch_output() {}
  /// The parts into which execute() falls, between which a rank may run parts of other plans: step(0) to
  /// step(steps() - 1), in this order on every rank, are one execute().
  [[nodiscard]] virtual std::size_t steps() const { return 1; }
  virtual void step(std::size_t /*number*/, PhaseClock& clock) { execute(clock); }
  /// Whether one execute() can also run in parts that wait for no message: begin(), then advance() until it is
  /// complete. So a rank can advance several plans by turns, each with what is there for it, in whatever order other
  /// ranks do.
  [[nodiscard]] virtual bool advances() const { return false; }
  virtual void begin(PhaseClock& /*clock*/) {}
  virtual Advance advance(PhaseClock& clock) {
    execute(clock);
    return Advance::complete;
  }
  [[nodiscard]] virtual std::vector<Component> components() { return {}; }
  [[nodiscard]] virtual MessageVolume message_volume() const = 0;  ///< this rank, one execute
  /// Whether message_volume() is what goes through MPI's interface for C, to the byte: then it is checked. A library
  /// that sends as it likes, or by MPI's interface for Fortran, cannot say so.
  [[nodiscard]] virtual bool message_volume_is_exact() const { return true; }
  /// The same of a device: what one execute queues there, without placing the input and fetching the output.
  [[nodiscard]] virtual DeviceWork device_work() const { return {}; }
  [[nodiscard]] virtual std::size_t buffer_bytes() const = 0;              ///< data and spare buffers of this rank
  [[nodiscard]] virtual std::size_t workspace_bytes() const { return 0; }  ///< for the exchanges, beyond the buffers
  [[nodiscard]] virtual std::vector<std::string> describe_local_ffts() const { return {}; }
  [[nodiscard]] virtual std::vector<int> grid() const { return {}; }  ///< the process grid used
};

/// The memory of two plans of opposite directions that compute in turn, the second from where the first left off: what
/// the first allocated the second takes, in the same order.
class SharedMemory {
 public:
  using Allocate = std::function<std::unique_ptr<Buffer>()>;
  /// The next buffer, of `bytes` bytes at least. Throws std::logic_error where what is there is smaller.
  [[nodiscard]] std::shared_ptr<Buffer> take(std::size_t bytes, const Allocate& allocate);
  /// From here on a second plan takes them. The first of its buffers, its input's, is the one that begins at `input`.
  /// Throws InputError where none does.
  void begin_again(const void* input);

 private:
  std::vector<std::shared_ptr<Buffer>> buffers_;
  std::size_t taken_ = 0;
};

struct PlanContext {
  const Problem& problem;  ///< forward or backward
  MPI_Comm comm;
  const ExchangeMethod* exchange;  ///< null for variants that take none
  const LocalFftLibrary& local_fft;
  SharedMemory* shared = nullptr;  ///< null: the plan has memory of its own
  /// In the place of ordinary memory. Null: ordinary_buffer().
  const std::function<std::unique_ptr<Buffer>(std::size_t bytes)>* memory = nullptr;

  /// The next buffer that the plan computes in, its input's first.
  [[nodiscard]] std::shared_ptr<Buffer> buffer(std::size_t bytes, const SharedMemory::Allocate& allocate) const {
    return shared == nullptr ? std::shared_ptr<Buffer>(allocate()) : shared->take(bytes, allocate);
  }
  /// The same of ordinary memory.
  [[nodiscard]] std::shared_ptr<Buffer> buffer(std::size_t bytes) const {
    return buffer(bytes, [&] { return memory == nullptr ? ordinary_buffer(bytes) : (*memory)(bytes); });
  }
};

class Variant {
 public:
  virtual ~Variant() = default;
  [[nodiscard]] virtual Card card() const = 0;
  [[nodiscard]] virtual std::string unavailable() const { return {}; }
  [[nodiscard]] virtual bool takes_exchange() const { return true; }
  /// The exchange of a point that names none; one that it does not refuse.
  [[nodiscard]] virtual std::string default_exchange() const { return takes_exchange() ? "alltoallv" : "none"; }
  /// Nothing, or why it cannot use this exchange.
  [[nodiscard]] virtual std::optional<std::string> refuses(const ExchangeMethod& /*exchange*/) const {
    return std::nullopt;
  }
  /// Nothing, or why the exchange does not go with the problem's parameters.
  [[nodiscard]] virtual std::optional<std::string> refuses_parameters(const ExchangeMethod& exchange,
                                                                      const Problem& /*problem*/) const {
    return refuses(exchange);
  }
  /// The local FFT library that it brings itself, whatever a point asks for; nothing: it takes that of the point.
  [[nodiscard]] virtual std::optional<std::string> own_local_fft(const Problem& /*problem*/) const {
    return std::nullopt;
  }
  /// How many threads the local library is asked for.
  [[nodiscard]] virtual int local_fft_threads(const Problem& problem) const { return problem.threads; }
  /// The kinds of transform it can do; asked for another it is skipped.
  [[nodiscard]] virtual std::vector<Kind> kinds() const { return {Kind::c2c}; }
  /// The parameters it reads (Problem::parameters); others are an input error.
  [[nodiscard]] virtual std::vector<Parameter> parameters() const { return {}; }
  /// How many entries a process grid for the problem on this many ranks has: 2 for P1 x P2. With one there is but one
  /// grid. Throws InputError for a parameter that cannot be used. Calls no MPI.
  [[nodiscard]] virtual std::size_t grid_entries(const Problem& /*problem*/, int /*ranks*/) const { return 1; }
  /// Before wisdom is read: a library that adds solvers to those of the local FFT library adds them now, because
  /// wisdom is bound to the set of solvers.
  virtual void register_solvers() const {}
  /// What the plan's threads ask of MPI; the program must have initialised MPI with it. Throws InputError for a
  /// parameter that cannot be used. Calls no MPI.
  [[nodiscard]] virtual ThreadLevel thread_level(const Problem& /*problem*/) const { return ThreadLevel::funneled; }
  /// Nothing, or why one instance of the problem, of one of its kinds, cannot be solved on this many ranks. Calls no
  /// MPI.
  [[nodiscard]] virtual std::optional<std::string> supports(const Problem& problem, int ranks) const = 0;
  /// Nothing, or why `plans` plans of the problem cannot be made on the ranks of comm, which only their nodes can tell.
  /// The same on all ranks. Collective. The point is then skipped.
  [[nodiscard]] virtual std::string cannot_run_on(const Problem& /*problem*/, MPI_Comm /*comm*/, int /*plans*/) const {
    return {};
  }
  /// Whether times of the problem are of something else than what they are named after: of a stand-in for a device.
  [[nodiscard]] virtual bool emulates(const Problem& /*problem*/) const { return false; }
  /// Describes the devices that a rank of comm computes on, if it does: what they are, and their state now. Null: none.
  [[nodiscard]] virtual nlohmann::json describe_devices(const Problem& /*problem*/, MPI_Comm /*comm*/) const;
  /// Collective. Only called when supports() returned nothing.
  [[nodiscard]] virtual std::unique_ptr<Plan> make_plan(const PlanContext& context) const = 0;
  [[nodiscard]] virtual Cost cost(const Problem& problem, int ranks) const = 0;
  /// What `rank` exchanges with whom in one transform, one redistribution after the other: exact, for any number of
  /// ranks, and without MPI. Empty where the method has none, as one whose ranks exchange with one partner at a time.
  [[nodiscard]] virtual std::vector<RedistributionGroup> redistributions(const Problem& /*problem*/, int /*ranks*/,
                                                                         int /*rank*/) const {
    return {};
  }
};

using VariantRegistry = Registry<Variant>;

}  // namespace fourscore

#define FOURSCORE_REGISTER_VARIANT(Type) \
  static const bool registered_##Type = ::fourscore::VariantRegistry::instance().add(std::make_unique<Type>())
