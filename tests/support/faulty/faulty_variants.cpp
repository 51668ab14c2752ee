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
#include "mpi/handles.hpp"
#include "support/naive_plan.hpp"

namespace fourscore {
namespace {

using testing_support::Defect;
using testing_support::NaivePlan;

bool is_last_rank(MPI_Comm comm) { return mpi::rank_in(comm) == mpi::size_of(comm) - 1; }

/// What goes wrong on a rank.
struct Disturbance {
  std::function<void(PhaseClock& clock, void* output, int run)> after;  ///< called after each execution
  std::function<void()> alone;                                          ///< the only component
};

/// Chosen while planning.
using Disturb = std::function<Disturbance(const PlanContext&)>;

/// Says when its arrays go while an exception unwinds the stack: other ranks may still write into such arrays.
template <class Real>
class DisturbedPlan : public NaivePlan<Real> {
 public:
  DisturbedPlan(NaivePlan<Real> plan, Disturbance disturbance)
      : NaivePlan<Real>(std::move(plan)), disturbance_(std::move(disturbance)) {}
  ~DisturbedPlan() override {
    if (std::uncaught_exceptions() > 0) std::fputs("the arrays of a rank that failed are gone\n", stderr);
  }
  DisturbedPlan(const DisturbedPlan&) = delete;
  DisturbedPlan& operator=(const DisturbedPlan&) = delete;
  void execute(PhaseClock& clock) override {
    NaivePlan<Real>::execute(clock);
    if (disturbance_.after) disturbance_.after(clock, this->output(), runs_++);
  }
  std::vector<Component> components() override {
    if (!disturbance_.alone) return {};
    return {{"fft-1", Phase::fft, disturbance_.alone}};
  }

 private:
  Disturbance disturbance_;
  int runs_ = 0;
};

class NaiveVariant : public Variant {
 public:
  NaiveVariant(
      std::string name, std::string summary, Disturb disturb = [](const PlanContext&) { return Disturbance{}; },
      Defect defect = Defect::none)
      : name_(std::move(name)), summary_(std::move(summary)), disturb_(std::move(disturb)), defect_(defect) {}

  Card card() const override { return {name_, summary_, "tests/support/faulty"}; }
  VariantFacts facts() const override { return {.exchange = "none"}; }
  Reason supports(const Problem& problem, int ranks) const override {
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
    Disturbance disturbance = disturb_(context);
    const Decomposition layout = decompose(context.problem.extents(), {{mpi::size_of(context.comm), 1, 1}});
    return std::make_unique<DisturbedPlan<Real>>(
        NaivePlan<Real>(context.problem, context.comm, layout, layout, defect_), std::move(disturbance));
  }

  std::string name_;
  std::string summary_;
  Disturb disturb_;
  Defect defect_;
};

class WrongCost : public NaiveVariant {
 public:
  WrongCost() : NaiveVariant("wrong-cost", "its formula counts messages that nobody sends") {}
  Cost cost(const Problem& problem, int ranks) const override { return {problem.credited_flops(), 0, 2.0 * ranks}; }
};

class Conjugated : public Variant {
 public:
  Card card() const override { return {"conjugated", "forward and backward have changed places", "tests"}; }
  Reason supports(const Problem& problem, int ranks) const override {
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

[[noreturn]] void hang() {
  std::fputs("hanging on purpose\n", stderr);
  for (;;) ::pause();
}

[[noreturn]] void crash() {
  std::fputs("aborting on purpose\n", stderr);
  std::abort();
}

void idle(PhaseClock& clock, Phase phase, useconds_t us) {
  const Region region(clock, phase);
  ::usleep(us);
}

/// Does this after each execution.
Disturb after(const std::function<void(PhaseClock&, void*, int)>& what, bool everywhere = false) {
  return [=](const PlanContext& context) {
    return everywhere || is_last_rank(context.comm) ? Disturbance{what, nullptr} : Disturbance{};
  };
}

/// Has a component that does this when it runs alone.
Disturb alone(const std::function<void()>& what, bool everywhere = false) {
  return [=](const PlanContext& context) {
    return Disturbance{nullptr, everywhere || is_last_rank(context.comm) ? what : [] {}};
  };
}

void spoil_later(PhaseClock&, void* output, int run) {
  // Plane waves, impulse, definition: three runs come before the timing.
  if (run >= 3) static_cast<std::complex<double>*>(output)[0] += 1e3;
}

Disturbance throw_in_planning(const PlanContext& context) {
  if (is_last_rank(context.comm)) throw std::runtime_error("planned to fail");
  MPI_Barrier(context.comm);
  return {};
}

/// A limit on the size of files stops a write in the middle, as a full disk does.
Disturbance fill_the_disk(const PlanContext&) {
  const rlimit limit{1024, 1024};
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) throw std::runtime_error("setrlimit failed");
  return {};
}

Disturbance be_uneven(const PlanContext& context) {
  const bool last = is_last_rank(context.comm);
  const bool first = !last && mpi::rank_in(context.comm) == 0;
  const auto slow = [=](PhaseClock& clock, void*, int) {
    if (first) idle(clock, Phase::pack, 10'000);
    if (last) idle(clock, Phase::exchange, 20'000);
  };
  return {slow, nullptr};
}

/// Each rank sends a double to each.
Disturbance send_more(const PlanContext& context) {
  const auto send = [comm = context.comm](PhaseClock&, void*, int) {
    const std::vector<double> sent(static_cast<std::size_t>(mpi::size_of(comm)));
    std::vector<double> received(sent.size());
    MPI_Alltoall(sent.data(), 1, MPI_DOUBLE, received.data(), 1, MPI_DOUBLE, comm);
  };
  return {send, nullptr};
}

bool register_all() {
  auto& registry = VariantRegistry::instance();
  const auto add = [&](auto&&... what) {
    registry.add(std::make_unique<NaiveVariant>(std::forward<decltype(what)>(what)...));
  };
  const auto throws = [](auto&&...) { throw std::runtime_error("thrown on purpose"); };
  const auto throws_alone = [] { throw std::runtime_error("thrown alone on purpose"); };
  const Disturb none = after(nullptr);
  add("naive", "the definition of the DFT");
  add("wrong-result", "one element is off", none, Defect::one_wrong_element);
  add("wrong-later", "goes wrong while timed", after(spoil_later));
  add("aborts", "the last rank aborts", after([](auto&&...) { crash(); }));
  add("hangs", "the last rank hangs", after([](auto&&...) { hang(); }));
  add("throws-on-one-rank", "the last rank throws", after(throws));
  add("throws-in-planning", "the last rank throws while planning", throw_in_planning);
  add("fills-the-disk", "no file can grow beyond 1 KiB once it was planned", fill_the_disk);
  add("alone-throws", "its component alone throws", alone(throws_alone, true));
  add("alone-throws-on-one", "its component alone throws on the last rank", alone(throws_alone));
  add("alone-aborts", "the last rank aborts in its component alone", alone(crash));
  add("alone-hangs", "the last rank hangs in its component alone", alone(hang));
  add("restarts-its-clock", "its phases do not add up to its time",
      after([](PhaseClock& clock, void*, int) { clock.start(); }, true));
  add("uneven", "ranks that are slow in different phases", be_uneven);
  add("declares-nothing", "sends more than it says", send_more);
  registry.add(std::make_unique<WrongCost>());
  registry.add(std::make_unique<Conjugated>());
  return registry.add(std::make_unique<Unavailable>());
}

const bool registered = register_all();

}  // namespace
}  // namespace fourscore
