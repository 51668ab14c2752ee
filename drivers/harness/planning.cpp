#include "harness/planning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <stdexcept>

#include "interfaces/exchange.hpp"
#include "kernels/first_touch.hpp"
#include "mpi/broadcast.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {
namespace {

/// Groups may come long after each other: one may have more to time than another.
constexpr double patience_s = 60;

class NotPlanned : public LocalFft {
 public:
  void execute() override { throw std::logic_error("a local transform that is still to be planned was executed"); }
  void execute_at(void* /*in*/, void* /*out*/) override { execute(); }
  [[nodiscard]] std::string describe() const override { return "to be planned"; }
  [[nodiscard]] double credited_flops() const override { return 0; }
};

std::size_t offset_of(const void* place) { return reinterpret_cast<std::uintptr_t>(place) % WantedPlan::alignment; }

/// The same exactly for what is planned alike.
std::string name_of(const WantedPlan& wanted) {
  const LocalFftSpec& spec = wanted.spec;
  std::string name =
      fmt::format("{} {} {} {} threads {} real {} single {} at {} {}", static_cast<int>(spec.precision),
                  static_cast<int>(spec.direction), static_cast<int>(spec.effort), wanted.in_place ? "in" : "out",
                  spec.threads, spec.real_length, spec.single_plan, wanted.in_offset, wanted.out_offset);
  for (const auto* loops : {&spec.axes, &spec.batch}) {
    name += loops == &spec.axes ? " axes" : " batch";
    for (const Loop& loop : *loops) name += fmt::format(" {}:{}:{}", loop.count, loop.in_stride, loop.out_stride);
  }
  return name;
}

/// The bytes from the first element to behind the last.
std::size_t span_bytes(const LocalFftSpec& spec, Index Loop::*stride) {
  Index last = 0;
  for (const auto* loops : {&spec.axes, &spec.batch})
    for (const Loop& loop : *loops) last += (loop.count - 1) * (loop.*stride);
  return static_cast<std::size_t>(last + 1) * (spec.precision == Precision::double_precision ? 16 : 8);
}

/// The ranks of the same name; none for a rank without one. Colors are half of a hash each: the chance that two names
/// share both is one in 2^62, and their ranks would then notice at the first step.
mpi::Communicator ranks_of_one_name(MPI_Comm comm, const std::string& name) {
  const std::uint64_t hash = std::hash<std::string>{}(name);
  const auto color = [](std::uint64_t bits) { return static_cast<int>(bits & 0x7fffffffU); };
  const int me = mpi::rank_in(comm);
  const mpi::Communicator half = mpi::split(comm, name.empty() ? MPI_UNDEFINED : color(hash), me);
  return name.empty() ? mpi::Communicator() : mpi::split(half.get(), color(hash >> 31U), me);
}

/// In buffers of its own, of the size and alignment that the plan's have.
void plan_one(const LocalFftLibrary& library, const WantedPlan& wanted, PlanningPeers& peers) {
  const FirstTouchThreads touch(wanted.spec.threads);
  const auto in = ordinary_buffer(span_bytes(wanted.spec, &Loop::in_stride) + wanted.in_offset);
  const auto out =
      wanted.in_place ? nullptr : ordinary_buffer(span_bytes(wanted.spec, &Loop::out_stride) + wanted.out_offset);
  const auto place = [](Buffer& buffer, std::size_t offset) { return static_cast<std::byte*>(buffer.data()) + offset; };
  std::byte* const from = place(*in, wanted.in_offset);
  library.plan_together(wanted.spec, from, out ? place(*out, wanted.out_offset) : from, peers);
  peers.agree("the end of the plan", [] {}, {});
}

}  // namespace

std::unique_ptr<LocalFft> NotingLibrary::make(const LocalFftSpec& spec, void* in, void* out) const {
  if (spec.effort == Effort::estimate) return library_.make(spec, in, out);
  if (auto remembered = library_.make_from_memory(spec, in, out)) return remembered;
  WantedPlan wanted{spec, in == out, offset_of(in), offset_of(out)};
  std::string name = name_of(wanted);
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(names_, name) == names_.end()) {
    names_.push_back(std::move(name));
    wanted_.push_back(std::move(wanted));
  }
  return std::make_unique<NotPlanned>();
}

/// One reduction: whether a rank failed, the step as its hash and as the negative of that, so that the largest of both
/// tell whether all are equal, and the values.
void MpiPeers::meet(const std::string& step, bool failed, std::span<double> values) {
  if (values.size() > most_values) throw std::logic_error("too many values to agree on");
  constexpr std::uint64_t exact_in_a_double = (std::uint64_t{1} << 52U) - 1;
  std::array<double, 3 + most_values> block{};
  const auto hash = static_cast<double>(std::hash<std::string>{}(step)&exact_in_a_double);
  block[0] = failed ? 1 : 0;
  block[1] = hash;
  block[2] = -hash;
  std::ranges::copy(values, block.begin() + 3);
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, block.data(), static_cast<int>(block.size()), MPI_DOUBLE, MPI_MAX, comm_));
  ended_ = block[0] != 0 || block[1] != -block[2];
  if (block[0] != 0) throw PlanningStopped("planning failed on another rank");
  if (ended_) throw std::logic_error(fmt::format("ranks that plan the same are at different steps; here: {}", step));
  std::copy_n(block.begin() + 3, values.size(), values.begin());
}

void MpiPeers::agree(const std::string& step, const std::function<void()>& work, std::span<double> values) {
  try {
    work();
  } catch (...) {
    leave();
    throw;
  }
  meet(step, false, values);
}

void MpiPeers::leave() {
  if (ended_) return;
  try {
    meet("", true, {});
  } catch (const PlanningStopped&) {
  }
}

std::string MpiPeers::of_first(const std::string& text) {
  meet("a text of the first", false, {});
  return mpi::broadcast_text(comm_, 0, text);
}

bool MpiPeers::is_first() const { return mpi::rank_in(comm_) == 0; }

bool MpiPeers::alone() const { return mpi::size_of(comm_) == 1; }

void plan_together(MPI_Comm comm, Agreement& agreement, const LocalFftLibrary& library,
                   const std::vector<WantedPlan>& wanted) {
  auto most = static_cast<unsigned>(wanted.size());
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UNSIGNED, MPI_MAX, comm));
  for (std::size_t i = 0; i < most; ++i) {
    const bool mine = i < wanted.size();
    mpi::Communicator group;
    agreement.run([&] { group = ranks_of_one_name(comm, mine ? name_of(wanted[i]) : ""); });
    agreement.run(
        [&] {
          if (!mine) return;
          MpiPeers peers(group.get());
          try {
            plan_one(library, wanted[i], peers);
          } catch (const PlanningStopped&) {  // that rank tells why
          } catch (...) {
            peers.leave();
            throw;
          }
        },
        patience_s);
  }
}

}  // namespace fourscore
