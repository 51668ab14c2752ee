// Variants that misbehave in one way each, on top of the definition of the DFT:
//   naive                 right, slow
//   wrong-result          one element is off by a hundredth
//   wrong-later           right until it has run as often as the checks before the timing run it
//   aborts                the last rank calls abort() while executing
//   hangs                 the last rank never comes back from executing
//   throws-on-one-rank    the last rank throws while executing
//   throws-in-planning    the last rank throws while planning, the others wait for it in a barrier
//   fills-the-disk        right, but no file can grow beyond 1 KiB once it was planned
//   unavailable           cannot run anywhere

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>

#include "core/variant.hpp"
#include "support/naive_plan.hpp"

namespace fourscore {
namespace {

using testing_support::Defect;
using testing_support::NaivePlan;

bool is_last_rank(MPI_Comm comm) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  return rank == size - 1;
}

/// Calls something before each execution.
template <class Real>
class DisturbedPlan : public NaivePlan<Real> {
 public:
  DisturbedPlan(NaivePlan<Real> plan, std::function<void(void* output, int run)> after)
      : NaivePlan<Real>(std::move(plan)), after_(std::move(after)) {}
  void execute(PhaseClock& clock) override {
    NaivePlan<Real>::execute(clock);
    after_(this->output(), runs_++);
  }

 private:
  std::function<void(void*, int)> after_;
  int runs_ = 0;
};

class NaiveVariant : public Variant {
 public:
  NaiveVariant(std::string name, std::string summary, Defect defect = Defect::none,
               std::function<void(void*, int)> disturbance = nullptr)
      : name_(std::move(name)), summary_(std::move(summary)), defect_(defect), disturbance_(std::move(disturbance)) {}

  Card card() const override { return {name_, summary_, "tests/faulty"}; }
  bool takes_exchange() const override { return false; }
  std::optional<std::string> supports(const Problem& problem, int ranks) const override {
    if (problem.elements() > 4096) return "the naive transform stops at 4096 elements";
    if (ranks > problem.shape.front()) return "more ranks than planes";
    return std::nullopt;
  }
  std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    return context.problem.precision == Precision::double_precision ? make<double>(context) : make<float>(context);
  }
  Cost cost(const Problem& problem, int) const override { return {problem.credited_flops(), 0, 0}; }

 private:
  template <class Real>
  std::unique_ptr<Plan> make(const PlanContext& context) const {
    int ranks = 1;
    MPI_Comm_size(context.comm, &ranks);
    const Decomposition layout = decompose(context.problem.extents(), {{ranks, 1, 1}});
    NaivePlan<Real> plan(context.problem, context.comm, layout, layout, defect_);
    if (!disturbance_) return std::make_unique<NaivePlan<Real>>(std::move(plan));
    const bool disturbs = is_last_rank(context.comm);
    return std::make_unique<DisturbedPlan<Real>>(std::move(plan), [disturbs, this](void* output, int run) {
      if (disturbs) disturbance_(output, run);
    });
  }

  std::string name_;
  std::string summary_;
  Defect defect_;
  std::function<void(void*, int)> disturbance_;
};

class ThrowsInPlanning : public NaiveVariant {
 public:
  ThrowsInPlanning() : NaiveVariant("throws-in-planning", "the last rank throws while planning") {}
  std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    if (is_last_rank(context.comm)) throw std::runtime_error("planned to fail");
    MPI_Barrier(context.comm);
    return NaiveVariant::make_plan(context);
  }
};

/// A limit on the size of files stops a write in the middle, as a full disk does.
class FillsTheDisk : public NaiveVariant {
 public:
  FillsTheDisk() : NaiveVariant("fills-the-disk", "no file can grow beyond 1 KiB once it was planned") {}
  std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    const rlimit limit{1024, 1024};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) throw std::runtime_error("setrlimit failed");
    return NaiveVariant::make_plan(context);
  }
};

class Unavailable : public NaiveVariant {
 public:
  Unavailable() : NaiveVariant("unavailable", "cannot run anywhere") {}
  std::string unavailable() const override { return "it was made so"; }
};

[[noreturn]] void hang(void*, int) {
  std::fputs("hanging on purpose\n", stderr);
  for (;;) ::pause();
}

[[noreturn]] void crash(void*, int) {
  std::fputs("aborting on purpose\n", stderr);
  std::abort();
}

void spoil_later(void* output, int run) {
  // Plane waves, impulse, definition: three runs come before the timing.
  if (run >= 3) static_cast<std::complex<double>*>(output)[0] += 1e3;
}

bool register_all() {
  auto& registry = VariantRegistry::instance();
  registry.add(std::make_unique<NaiveVariant>("naive", "the definition of the DFT"));
  registry.add(std::make_unique<NaiveVariant>("wrong-result", "one element is off", Defect::one_wrong_element));
  registry.add(std::make_unique<NaiveVariant>("wrong-later", "goes wrong while timed", Defect::none, spoil_later));
  registry.add(std::make_unique<NaiveVariant>("aborts", "the last rank aborts", Defect::none, crash));
  registry.add(std::make_unique<NaiveVariant>("hangs", "the last rank hangs", Defect::none, hang));
  registry.add(std::make_unique<NaiveVariant>("throws-on-one-rank", "the last rank throws", Defect::none,
                                              [](void*, int) { throw std::runtime_error("thrown on purpose"); }));
  registry.add(std::make_unique<ThrowsInPlanning>());
  registry.add(std::make_unique<FillsTheDisk>());
  return registry.add(std::make_unique<Unavailable>());
}

const bool registered = register_all();

}  // namespace
}  // namespace fourscore
