#pragma once
// The interface to a planned transform, and what a plan is made from.

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/decomposition.hpp"
#include "core/phase.hpp"
#include "core/problem.hpp"
#include "interfaces/exchange.hpp"
#include "interfaces/local_fft.hpp"

namespace fourscore {

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
  /// The memory of one of several fields, each of which has two plans and memory of its own.
  [[nodiscard]] SharedMemory& of_field(std::size_t field);

 private:
  std::vector<std::shared_ptr<Buffer>> buffers_;
  std::size_t taken_ = 0;
  std::vector<std::unique_ptr<SharedMemory>> fields_;
};

struct PlanContext {
  const Problem& problem;  ///< forward or backward; of several fields where the variant takes them together
  MPI_Comm comm;
  const ExchangeMethod* exchange;  ///< null for variants that take none
  const LocalFftLibrary& local_fft;
  SharedMemory* shared = nullptr;  ///< null: the plan has memory of its own
  /// Allocates in the place of ordinary_buffer(). Null: ordinary_buffer().
  const std::function<std::unique_ptr<Buffer>(std::size_t bytes)>* memory = nullptr;

  /// The next buffer that the plan computes in, its input's first. `allocate` is called where it is not shared; null:
  /// ordinary memory.
  [[nodiscard]] std::shared_ptr<Buffer> buffer(std::size_t bytes,
                                               const SharedMemory::Allocate& allocate = nullptr) const;
};

/// How several fields lie in one array: `run` elements of the first, as many of the second and so on, then again.
struct Interleaving {
  Index fields = 1;
  Index run = 1;  ///< at least 1
  /// Where that element of a field lies which would be at `offset` if its array were of one field.
  [[nodiscard]] Index place(Index offset, Index field) const {
    return fields == 1 ? offset : (offset / run * fields + field) * run + offset % run;
  }
  /// From one element of a row to the next.
  [[nodiscard]] Index step() const { return run == 1 ? fields : 1; }
  bool operator==(const Interleaving&) const = default;
};

/// The memory of a field whose plan is one of several.
struct FieldArrays {
  void* input = nullptr;
  void* output = nullptr;
};

/// What a plan is, from its construction on. Bytes and work are those of this rank in one execute().
struct PlanFacts {
  /// Over the ranks of the plan's comm. Layouts count reals on the side where the problem's data is real, and complex
  /// elements elsewhere.
  Decomposition input_layout{};  ///< as if the array held one field
  Decomposition output_layout{};
  Interleaving input_fields{};  ///< those that lie in one array
  Interleaving output_fields{};
  std::vector<FieldArrays> arrays{};  ///< by field, where each has its own; the first are `input` and `output`
  void* input = nullptr;              ///< the caller writes this rank's input here before every execute()
  void* output = nullptr;             ///< equal to the input exactly when the contract is in place
  /// Where a convolution leaves the fields beyond the first, in output_layout too.
  std::vector<void*> further_outputs{};
  std::vector<int> grid{};  ///< the process grid used
  MessageVolume message_volume{};
  /// Whether the message volume is what goes through MPI's interface for C, to the byte: then it is checked. A library
  /// that sends as it likes, or by MPI's interface for Fortran, cannot say so.
  bool message_volume_is_exact = true;
  DeviceWork device_work{};               ///< without placing the input and fetching the output
  std::size_t buffer_bytes = 0;           ///< data and spare buffers
  std::size_t workspace_bytes = 0;        ///< for exchanges and transforms, beyond the buffers
  std::vector<std::string> local_ffts{};  ///< in the local library's words
};

/// The data of a plan that lies in a device's memory: execute() moves the input there and the output back. Where data
/// is said to stay it does neither, and the caller does: place_input() between writing the input and executing,
/// fetch_output() before reading the output.
class DeviceData {
 public:
  virtual void keep_in_place(bool stays) = 0;
  virtual void place_input() = 0;
  virtual void fetch_output() = 0;

 protected:
  ~DeviceData() = default;
};

/// What Plan::advance() came to.
enum class Advance {
  worked,    ///< it did something
  idle,      ///< all that is left waits for messages
  complete,  ///< the transform is through
};

/// A planned transform. The constructor plans, allocates and declares the facts; execute() only computes.
class Plan {
 public:
  virtual ~Plan() = default;
  virtual void execute(PhaseClock& clock) = 0;

  /// The same in parts, between which a rank may run parts of other plans of its variant: begin(), then advance() until
  /// it is complete. Where parts wait for messages, each rank has as many of them, and runs the parts of several plans
  /// in the same order. A plan whose parts wait for none says that it is idle.
  virtual void begin(PhaseClock& /*clock*/) {}
  virtual Advance advance(PhaseClock& clock) {
    execute(clock);
    return Advance::complete;
  }
  /// Empty: the plan is not told apart in components.
  [[nodiscard]] virtual std::vector<Component> components() { return {}; }
  /// Asked outside of what is timed, before the output is read: throws InputError where the plan of somebody's library
  /// wrote beyond its arrays.
  virtual void check_memory() const {}
  /// Null: the data lies in the host's memory.
  [[nodiscard]] virtual DeviceData* device_data() { return nullptr; }

  [[nodiscard]] const PlanFacts& facts() const { return facts_; }
  [[nodiscard]] const Decomposition& input_layout() const { return facts_.input_layout; }
  [[nodiscard]] const Decomposition& output_layout() const { return facts_.output_layout; }
  [[nodiscard]] void* input() const { return facts_.input; }
  [[nodiscard]] void* output() const { return facts_.output; }
  [[nodiscard]] Index fields() const {
    return facts_.arrays.empty() ? facts_.input_fields.fields : static_cast<Index>(facts_.arrays.size());
  }
  /// The arrays that hold a field: its own, or those of all.
  [[nodiscard]] FieldArrays arrays_of(Index field) const {
    if (facts_.arrays.empty()) return {facts_.input, facts_.output};
    return facts_.arrays[static_cast<std::size_t>(field)];
  }
  [[nodiscard]] const MessageVolume& message_volume() const { return facts_.message_volume; }

 protected:
  /// To be filled in while the plan is constructed.
  [[nodiscard]] PlanFacts& declared() { return facts_; }
  /// Declares the layouts from those of complex data: reals lie in their place.
  void declare_layouts(const Problem& problem, Decomposition input, Decomposition output);
  /// Allocates what the plan computes in, and declares input, output and buffer_bytes: one buffer of `bytes` bytes, or
  /// two where the plan `needs_spare` or the contract is out of place. `make`: as PlanContext::buffer().
  void allocate(const PlanContext& context, std::size_t bytes, bool needs_spare,
                const SharedMemory::Allocate& make = nullptr);
  [[nodiscard]] std::size_t buffers() const { return buffers_.size(); }
  [[nodiscard]] Buffer& buffer(std::size_t number) const { return *buffers_[number]; }
  [[nodiscard]] std::byte* data(std::size_t number) const { return static_cast<std::byte*>(buffer(number).data()); }
  /// The buffer in which the contract wants the result; the input is in buffer 0.
  [[nodiscard]] static std::size_t output_buffer(const Problem& problem) {
    return problem.contract.buffers == Buffers::in_place ? 0 : 1;
  }

 private:
  PlanFacts facts_;
  std::vector<std::shared_ptr<Buffer>> buffers_;
};

}  // namespace fourscore
