#pragma once
// The interface to a 1-D FFT library: batched, strided transforms of local data.

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/problem.hpp"
#include "core/refusal.hpp"
#include "core/registry.hpp"
#include "interfaces/device_work.hpp"
#include "interfaces/planning_peers.hpp"
#include "interfaces/work_part.hpp"

namespace fourscore {

/// One loop over elements: count and strides in elements of the precision's complex type.
struct Loop {
  Index count = 1;
  Index in_stride = 1;
  Index out_stride = 1;
  bool operator==(const Loop&) const = default;
};

/// Unnormalised transform over `axes` (in any order), repeated over `batch`.
struct LocalFftSpec {
  std::vector<Loop> axes{};
  std::vector<Loop> batch{};
  /// Above 0: the data is real where it comes in (forward) or goes out (backward). axes.front(), of stride 1, is then
  /// the halved axis: real_length reals on that side, and its count, real_length / 2 + 1, complex elements on the
  /// other. Rows of reals lie where those of complex elements do, padded to as many bytes: strides are of complex
  /// elements.
  Index real_length = 0;
  Precision precision = Precision::double_precision;
  Direction direction = Direction::forward;
  Effort effort = Effort::measure;
  int threads = 1;
  /// One plan of the library over all axes, as a bare user would make it, if it has such plans; otherwise the library
  /// may split the axes over several plans, or copy first, where that measured faster.
  bool single_plan = false;
  /// The number of this one, where the caller has cut a transform into pieces that may run at the same time. A library
  /// cuts it no further.
  std::optional<std::size_t> piece{};
};

/// What a problem says of each of its local transforms; axes and batch are still to be filled in.
[[nodiscard]] inline LocalFftSpec local_fft_spec(const Problem& problem) {
  return {.precision = problem.precision,
          .direction = problem.direction,
          .effort = problem.contract.effort,
          .threads = problem.threads};
}

/// A planned transform bound to its buffers. execute() allocates and plans nothing.
class LocalFft {
 public:
  virtual ~LocalFft() = default;
  virtual void execute() = 0;
  /// As execute(), at other places: aligned like those it was made for, and equal exactly where those were.
  virtual void execute_at(void* in, void* out) = 0;
  /// execute(), in the phases of the clock: fft, and copies where it has some.
  virtual void run(PhaseClock& clock) {
    const Region region(clock, Phase::fft);
    execute();
  }
  /// The same of execute_at().
  virtual void run_at(void* in, void* out, PhaseClock& clock) {
    const Region region(clock, Phase::fft);
    execute_at(in, out);
  }
  /// Whether begin() returns before the work is done, so that the caller can do something else meanwhile. run() is then
  /// begin() and end().
  [[nodiscard]] virtual bool queues() const { return false; }
  virtual void begin(PhaseClock& /*clock*/) {}
  virtual void end(PhaseClock& clock) { run(clock); }
  /// In order, where there are others than the transform itself.
  [[nodiscard]] virtual std::vector<WorkPart> parts() { return {}; }
  /// The same of execute_at().
  [[nodiscard]] virtual std::vector<WorkPart> parts_at(void* /*in*/, void* /*out*/) { return {}; }
  [[nodiscard]] virtual DeviceWork device_work() const { return {}; }      ///< in one execute()
  [[nodiscard]] virtual std::size_t workspace_bytes() const { return 0; }  ///< beyond its buffers, as far as known
  [[nodiscard]] virtual std::string describe() const = 0;                  ///< the library's own words for the plan
  [[nodiscard]] virtual double credited_flops() const = 0;  ///< 5 n log2 n over axes and batch, 2.5 where real
};

/// A part of the input of a transform along one axis: elements low <= i < high along it, in memory of their own.
struct AxisPart {
  Index low = 0;
  Index high = 0;
  const void* data = nullptr;  ///< its first element
  Index stride = 1;            ///< between two along the axis, in elements
  Index outer_stride = 0;      ///< and along the second loop of the batch
};

class LocalFftLibrary {
 public:
  virtual ~LocalFftLibrary() = default;
  [[nodiscard]] virtual Card card() const = 0;
  [[nodiscard]] virtual std::string unavailable() const { return {}; }
  [[nodiscard]] virtual std::string version() const = 0;
  /// Whether each transform copies its data to a device and back, so that one of all data is better than one of each
  /// tile that the processor's caches hold.
  [[nodiscard]] virtual bool on_device() const { return false; }
  /// Shared libraries that make() opens, which are not loaded with the program: of each, by the name it is asked for,
  /// its file's name and what tells one build from another. They are part of the code's identity.
  [[nodiscard]] virtual std::map<std::string, std::string> libraries_loaded_later() const { return {}; }
  /// Nothing, or why it cannot do this kind of transform with this many threads; a point that asks for it is skipped.
  [[nodiscard]] virtual Reason refuses(Kind /*kind*/, int /*threads*/) const { return std::nullopt; }
  /// Nothing, or why it cannot do the problem's lengths or precision; the point is then skipped.
  [[nodiscard]] virtual Reason supports(const Problem& /*problem*/) const { return std::nullopt; }
  /// in == out is in place. Out of place the input may be overwritten. Planning may overwrite both buffers.
  /// An empty spec (a count of 0) gives a plan that does nothing. Throws InputError for what refuses() refuses,
  /// std::runtime_error when the library itself does.
  [[nodiscard]] virtual std::unique_ptr<LocalFft> make(const LocalFftSpec& spec, void* in, void* out) const = 0;
  /// As make() out of place, of one axis and a batch of adjacent columns and one loop more; execute() reads the parts,
  /// which cover the axis in its order, and overwrites `out` alone. Null where the library cannot read
  /// them itself. Times nothing.
  [[nodiscard]] virtual std::unique_ptr<LocalFft> make_from_parts(const LocalFftSpec& /*spec*/,
                                                                  const std::vector<AxisPart>& /*parts*/,
                                                                  void* /*out*/) const {
    return nullptr;
  }
  /// Whether make_from_parts() reads lines of that length.
  [[nodiscard]] virtual bool reads_parts(Index /*length*/) const { return false; }
  /// As make(), where all that it takes is remembered: null where something would have to be timed. Overwrites neither
  /// buffer.
  [[nodiscard]] virtual std::unique_ptr<LocalFft> make_from_memory(const LocalFftSpec& spec, void* in,
                                                                   void* out) const {
    return make(spec, in, out);
  }
  /// All transforms of a plan are made: gives them the memory that they share, whose bytes it returns. No
  /// LocalFft::workspace_bytes() has them.
  [[nodiscard]] virtual std::size_t share_workspace() const { return 0; }
  /// Finds out with the ranks that plan the same work how it is done best, all of them at once, and remembers it:
  /// make() then gives the same plan on each of them. Overwrites both buffers. Throws as make(), and what the peers
  /// throw.
  virtual void plan_together(const LocalFftSpec& /*spec*/, void* /*in*/, void* /*out*/,
                             PlanningPeers& /*peers*/) const {}
  /// Wisdom: text that makes later plans of this process repeat earlier ones. Throws InputError, whose message begins
  /// with `origin`, for text that the library does not accept.
  virtual void import_wisdom(const std::string& text, const std::string& origin) const = 0;
  [[nodiscard]] virtual std::string export_wisdom() const = 0;
};

using LocalFftRegistry = Registry<LocalFftLibrary>;

}  // namespace fourscore

#define FOURSCORE_REGISTER_LOCAL_FFT(Type) \
  static const bool registered_##Type = ::fourscore::LocalFftRegistry::instance().add(std::make_unique<Type>())
