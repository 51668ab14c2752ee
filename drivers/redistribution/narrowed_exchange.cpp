#include "redistribution/narrowed_exchange.hpp"

#include <complex>

#include "kernels/narrowing.hpp"
#include "mpi/handles.hpp"

namespace fourscore {

namespace {

using Narrow = std::complex<float>;

/// The inner exchange runs on narrowed arrays, the first of them in the spare, so that the source is free for what
/// comes next.
ExchangeSpec narrowed(const ExchangeSpec& spec) {
  return {spec.from,   spec.to,        spec.comm,    sizeof(Narrow), spec.spare,
          spec.source, spec.plan_comm, spec.problem, spec.staging};
}

class NarrowedExchange : public Exchange {
 public:
  NarrowedExchange(const ExchangeMethod& inner, const ExchangeSpec& spec) : inner_(inner.make(narrowed(spec))) {
    const int me = mpi::rank_in(spec.comm);
    const bool stays = inner_->lands_in_source();
    Buffer& landed = stays ? spec.spare : spec.source;
    Buffer& result = stays ? spec.source : spec.spare;
    const auto before = static_cast<std::size_t>(2 * spec.from.memory_volume(me));
    const auto after = static_cast<std::size_t>(2 * spec.to.memory_volume(me));
    source_ = {static_cast<const double*>(spec.source.data()), before};
    narrowed_ = static_cast<float*>(spec.spare.data());
    landed_ = {static_cast<const float*>(landed.data()), after};
    result_ = static_cast<double*>(result.data());
    ExchangeFacts& facts = declared();
    facts = inner_->facts();
    facts.lands_in_source = stays;
    facts.packs = facts.packs || before > 0;
    facts.unpacks = facts.unpacks || after > 0;
    // A number is read as double and written as single, or the reverse.
    facts.bytes_packed += static_cast<Index>(before * (sizeof(double) + sizeof(float)) / 2);
    facts.bytes_unpacked += static_cast<Index>(after * (sizeof(double) + sizeof(float)) / 2);
    facts.min_bytes = min_bytes_of_exchange(facts.volume, static_cast<Index>(after * sizeof(float)));
  }

  void pack() override {
    narrow(source_, narrowed_);
    inner_->pack();
  }
  void start() override { inner_->start(); }
  void finish() override { inner_->finish(); }
  void unpack() override {
    inner_->unpack();
    widen(landed_, result_);
  }
  void run(PhaseClock& clock) override {
    narrow_timed(clock);
    inner_->run(clock);
    widen_timed(clock);
  }
  void begin(PhaseClock& clock) override {
    narrow_timed(clock);
    inner_->begin(clock);
  }
  void end(PhaseClock& clock) override {
    inner_->end(clock);
    widen_timed(clock);
  }
  [[nodiscard]] std::vector<WorkPart> parts() override { return inner_->parts(); }
  [[nodiscard]] DeviceWork device_work() const override { return inner_->device_work(); }

 private:
  void narrow_timed(PhaseClock& clock) const {
    const Region region(clock, Phase::pack);
    narrow(source_, narrowed_);
  }
  void widen_timed(PhaseClock& clock) const {
    const Region region(clock, Phase::unpack);
    widen(landed_, result_);
  }

  std::unique_ptr<Exchange> inner_;
  std::span<const double> source_;
  float* narrowed_ = nullptr;
  std::span<const float> landed_;
  double* result_ = nullptr;
};

}  // namespace

std::size_t NarrowedMethod::staging_bytes(const ExchangeSpec& spec) const {
  return inner().staging_bytes(sends_nothing(spec) ? spec : narrowed(spec));
}

std::unique_ptr<Exchange> NarrowedMethod::make(const ExchangeSpec& spec) const {
  if (sends_nothing(spec)) return inner().make(spec);
  return std::make_unique<NarrowedExchange>(inner(), spec);
}

}  // namespace fourscore
