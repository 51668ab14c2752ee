#pragma once
// Planning of local transforms by all ranks at once. What a plan asks of the local FFT library is noted while the plan
// is made; ranks that ask for the same then find out together how it is done best; the plan is made again from that.

#include <mpi.h>

#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "harness/agreement.hpp"
#include "interfaces/local_fft.hpp"
#include "interfaces/planning_peers.hpp"

namespace fourscore {

/// A transform that is to be planned together.
struct WantedPlan {
  LocalFftSpec spec;
  bool in_place = true;
  std::size_t in_offset = 0, out_offset = 0;  ///< where the buffers begin, in bytes from a multiple of `alignment`
  static constexpr std::size_t alignment = 64;
};

/// A library that makes the transforms it remembers and notes the others. A noted transform only describes itself, and
/// throws std::logic_error when it is executed. Transforms planned by estimate are made as always.
class NotingLibrary : public LocalFftLibrary {
 public:
  explicit NotingLibrary(const LocalFftLibrary& library) : library_(library) {}
  [[nodiscard]] Card card() const override { return library_.card(); }
  [[nodiscard]] std::string version() const override { return library_.version(); }
  [[nodiscard]] bool on_device() const override { return library_.on_device(); }
  [[nodiscard]] std::unique_ptr<LocalFft> make(const LocalFftSpec& spec, void* in, void* out) const override;
  /// Times nothing.
  [[nodiscard]] std::unique_ptr<LocalFft> make_from_parts(const LocalFftSpec& spec, const std::vector<AxisPart>& parts,
                                                          void* out) const override {
    return library_.make_from_parts(spec, parts, out);
  }
  [[nodiscard]] bool reads_parts(Index length) const override { return library_.reads_parts(length); }
  void import_wisdom(const std::string& text, const std::string& origin) const override {
    library_.import_wisdom(text, origin);
  }
  [[nodiscard]] std::string export_wisdom() const override { return library_.export_wisdom(); }

  /// Each once, in the order in which they were asked for.
  [[nodiscard]] const std::vector<WantedPlan>& wanted() const { return wanted_; }

 private:
  const LocalFftLibrary& library_;
  mutable std::mutex mutex_;  ///< variants of several threads may plan in them
  mutable std::vector<WantedPlan> wanted_;
  mutable std::vector<std::string> names_;
};

/// Peers over a communicator. One that fails outside of the calls of PlanningPeers has to leave().
class MpiPeers : public PlanningPeers {
 public:
  explicit MpiPeers(MPI_Comm comm) : comm_(comm) {}
  void agree(const std::string& step, const std::function<void()>& work, std::span<double> values) override;
  [[nodiscard]] std::string of_first(const std::string& text) override;
  [[nodiscard]] bool is_first() const override;
  [[nodiscard]] bool alone() const override;
  /// Tells the others, in their next call, that this rank does not come. Nothing where one of them failed before.
  void leave();

 private:
  void meet(const std::string& step, bool failed, std::span<double> values);

  MPI_Comm comm_;
  bool ended_ = false;  ///< a rank failed, and all know
};

/// Collective over comm. The ranks may want different plans, and different numbers of them: the first of every rank
/// come first, and those that want the same do it as peers. Where a rank fails, LeaveTogether with its message.
void plan_together(MPI_Comm comm, Agreement& agreement, const LocalFftLibrary& library,
                   const std::vector<WantedPlan>& wanted);

}  // namespace fourscore
