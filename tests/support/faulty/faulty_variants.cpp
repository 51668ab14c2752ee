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
//   alone-throws          right, but its component alone throws on every rank
//   alone-throws-on-one   right, but its component alone throws on the last rank
//   alone-aborts          right, but the last rank aborts in its component alone
//   alone-hangs           right, but the last rank never comes back from its component alone
//   uneven                right; rank 0 then packs for 10 ms, the last rank exchanges for 20 ms
//   restarts-its-clock    right, but begins the phases anew in its midst, so that they do not add up
//   conjugated            forward and backward have changed places, so that a round trip looks right
//   wrong-cost            right, but its formula counts messages that nobody sends

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>

#include "interfaces/variant.hpp"
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

/// Calls something after each execution. Says when its arrays go while an exception unwinds the stack: other ranks may
/// still write into such arrays.
template <class Real>
class DisturbedPlan : public NaivePlan<Real> {
 public:
  DisturbedPlan(NaivePlan<Real> plan, std::function<void(void* output, int run)> after)
      : NaivePlan<Real>(std::move(plan)), after_(std::move(after)) {}
  ~DisturbedPlan() override {
    if (std::uncaught_exceptions() > 0) std::fputs("the arrays of a rank that failed are gone\n", stderr);
  }
  DisturbedPlan(const DisturbedPlan&) = delete;
  DisturbedPlan& operator=(const DisturbedPlan&) = delete;
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

  Card card() const override { return {name_, summary_, "tests/support/faulty"}; }
  VariantFacts facts() const override { return {.exchange = "none"}; }
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

class WrongCost : public NaiveVariant {
 public:
  WrongCost() : NaiveVariant("wrong-cost", "its formula counts messages that nobody sends") {}
  Cost cost(const Problem& problem, int ranks) const override { return {problem.credited_flops(), 0, 2.0 * ranks}; }
};

class Conjugated : public Variant {
 public:
  Card card() const override { return {"conjugated", "forward and backward have changed places", "tests"}; }
  std::optional<std::string> supports(const Problem& problem, int ranks) const override {
    if (problem.contract.layout == LayoutContract::transposed) return "conjugated takes layout natural";
    return slab().supports(turned(problem), ranks);
  }
  std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    const Problem problem = turned(context.problem);
    return slab().make_plan({problem, context.comm, context.exchange, context.local_fft, context.shared});
  }
  Cost cost(const Problem& problem, int ranks) const override { return slab().cost(turned(problem), ranks); }

 private:
  static const Variant& slab() { return VariantRegistry::instance().get("slab", "variant"); }
  static Problem turned(const Problem& problem) {
    return in_direction(problem, problem.direction == Direction::forward ? Direction::backward : Direction::forward);
  }
};

class Unavailable : public NaiveVariant {
 public:
  Unavailable() : NaiveVariant("unavailable", "cannot run anywhere") {}
  std::string unavailable() const override { return "it was made so"; }
};

/// Right, with a component that goes wrong when it runs alone.
template <class Real>
class WrongAlonePlan : public NaivePlan<Real> {
 public:
  WrongAlonePlan(NaivePlan<Real> plan, std::function<void()> alone)
      : NaivePlan<Real>(std::move(plan)), alone_(std::move(alone)) {}
  std::vector<Component> components() override { return {{"fft-1", Phase::fft, alone_}}; }

 private:
  std::function<void()> alone_;
};

class WrongAlone : public NaiveVariant {
 public:
  WrongAlone(std::string name, std::string summary, bool everywhere, std::function<void()> alone)
      : NaiveVariant(std::move(name), std::move(summary)), everywhere_(everywhere), alone_(std::move(alone)) {}
  std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    int ranks = 1;
    MPI_Comm_size(context.comm, &ranks);
    const Decomposition layout = decompose(context.problem.extents(), {{ranks, 1, 1}});
    NaivePlan<double> plan(context.problem, context.comm, layout, layout);
    const bool wrong = everywhere_ || is_last_rank(context.comm);
    return std::make_unique<WrongAlonePlan<double>>(
        std::move(plan), wrong ? alone_ : [] {});
  }

 private:
  bool everywhere_;
  std::function<void()> alone_;
};

template <class Real>
class RestartingPlan : public NaivePlan<Real> {
 public:
  explicit RestartingPlan(NaivePlan<Real> plan) : NaivePlan<Real>(std::move(plan)) {}
  void execute(PhaseClock& clock) override {
    NaivePlan<Real>::execute(clock);
    clock.start();
  }
};

template <class Real>
class UnevenPlan : public NaivePlan<Real> {
 public:
  UnevenPlan(NaivePlan<Real> plan, bool first, bool last)
      : NaivePlan<Real>(std::move(plan)), first_(first), last_(last) {}
  void execute(PhaseClock& clock) override {
    NaivePlan<Real>::execute(clock);
    if (first_ && !last_) idle(clock, Phase::pack, 10'000);
    if (last_) idle(clock, Phase::exchange, 20'000);
  }

 private:
  static void idle(PhaseClock& clock, Phase phase, useconds_t us) {
    const Region region(clock, phase);
    ::usleep(us);
  }
  bool first_, last_;
};

class Uneven : public NaiveVariant {
 public:
  Uneven() : NaiveVariant("uneven", "ranks that are slow in different phases") {}
  std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    int ranks = 1;
    int rank = 0;
    MPI_Comm_size(context.comm, &ranks);
    MPI_Comm_rank(context.comm, &rank);
    const Decomposition layout = decompose(context.problem.extents(), {{ranks, 1, 1}});
    return std::make_unique<UnevenPlan<double>>(NaivePlan<double>(context.problem, context.comm, layout, layout),
                                                rank == 0, rank == ranks - 1);
  }
};

/// Right; each rank sends a double to each, and declares nothing.
class UndeclaredPlan : public NaivePlan<double> {
 public:
  explicit UndeclaredPlan(NaivePlan<double> plan, MPI_Comm comm) : NaivePlan<double>(std::move(plan)), comm_(comm) {
    int ranks = 1;
    MPI_Comm_size(comm, &ranks);
    sent_.resize(static_cast<std::size_t>(ranks));
    received_.resize(sent_.size());
  }
  void execute(PhaseClock& clock) override {
    NaivePlan<double>::execute(clock);
    MPI_Alltoall(sent_.data(), 1, MPI_DOUBLE, received_.data(), 1, MPI_DOUBLE, comm_);
  }

 private:
  MPI_Comm comm_;
  std::vector<double> sent_, received_;
};

class DeclaresNothing : public NaiveVariant {
 public:
  DeclaresNothing() : NaiveVariant("declares-nothing", "sends more than it says") {}
  std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    int ranks = 1;
    MPI_Comm_size(context.comm, &ranks);
    const Decomposition layout = decompose(context.problem.extents(), {{ranks, 1, 1}});
    return std::make_unique<UndeclaredPlan>(NaivePlan<double>(context.problem, context.comm, layout, layout),
                                            context.comm);
  }
};

class RestartsItsClock : public NaiveVariant {
 public:
  RestartsItsClock() : NaiveVariant("restarts-its-clock", "its phases do not add up to its time") {}
  std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    int ranks = 1;
    MPI_Comm_size(context.comm, &ranks);
    const Decomposition layout = decompose(context.problem.extents(), {{ranks, 1, 1}});
    return std::make_unique<RestartingPlan<double>>(NaivePlan<double>(context.problem, context.comm, layout, layout));
  }
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
  const auto throws = [] { throw std::runtime_error("thrown alone on purpose"); };
  registry.add(std::make_unique<WrongAlone>("alone-throws", "its component alone throws", true, throws));
  registry.add(std::make_unique<WrongAlone>("alone-throws-on-one", "its component alone throws on the last rank", false,
                                            throws));
  registry.add(std::make_unique<WrongAlone>("alone-aborts", "the last rank aborts in its component alone", false,
                                            [] { crash(nullptr, 0); }));
  registry.add(std::make_unique<WrongAlone>("alone-hangs", "the last rank hangs in its component alone", false,
                                            [] { hang(nullptr, 0); }));
  registry.add(std::make_unique<RestartsItsClock>());
  registry.add(std::make_unique<Uneven>());
  registry.add(std::make_unique<WrongCost>());
  registry.add(std::make_unique<DeclaresNothing>());
  registry.add(std::make_unique<Conjugated>());
  return registry.add(std::make_unique<Unavailable>());
}

const bool registered = register_all();

}  // namespace
}  // namespace fourscore
