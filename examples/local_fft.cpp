// The smallest local FFT library: each transform by its definition, in n^2 steps for a length n. It shows what a
// library is asked for; for complex data alone.

#include "interfaces/local_fft.hpp"

#include <cmath>
#include <complex>
#include <numbers>
#include <optional>
#include <vector>

namespace {

using namespace fourscore;

/// Calls visit(in offset, out offset) for every element of the loops but number `without`.
template <class Visit>
void for_each(const std::vector<Loop>& loops, std::size_t without, const Visit& visit, std::size_t at = 0, Index in = 0,
              Index out = 0) {
  if (at == loops.size()) return visit(in, out);
  const Loop& loop = loops[at];
  const Index count = at == without ? 1 : loop.count;
  for (Index i = 0; i < count; ++i)
    for_each(loops, without, visit, at + 1, in + i * loop.in_stride, out + i * loop.out_stride);
}

template <class Real>
class ByDefinition : public LocalFft {
 public:
  using Complex = std::complex<Real>;

  ByDefinition(const LocalFftSpec& spec, void* in, void* out) : axes_(spec.axes.size()), in_(in), out_(out) {
    loops_ = spec.axes;
    loops_.insert(loops_.end(), spec.batch.begin(), spec.batch.end());
    sign_ = spec.direction == Direction::forward ? -1 : 1;
    Index longest = 0;
    for (const Loop& loop : loops_) longest = std::max(longest, loop.count);
    line_.resize(static_cast<std::size_t>(longest));
    double elements = 1;
    for (const Loop& loop : loops_) elements *= static_cast<double>(loop.count);
    for (const Loop& axis : spec.axes)
      if (axis.count > 0) flops_ += 5 * elements * std::log2(static_cast<double>(axis.count));
  }

  void execute() override { execute_at(in_, out_); }
  void execute_at(void* in, void* out) override {
    const auto* from = static_cast<const Complex*>(in);
    auto* to = static_cast<Complex*>(out);
    if (in != out) for_each(loops_, loops_.size(), [&](Index i, Index o) { to[o] = from[i]; });
    for (std::size_t axis = 0; axis < axes_; ++axis)
      for_each(loops_, axis, [&](Index, Index start) { transform(to + start, loops_[axis]); });
  }
  std::string describe() const override { return "by its definition"; }
  double credited_flops() const override { return flops_; }

 private:
  void transform(Complex* data, const Loop& axis) {
    const double step = sign_ * 2 * std::numbers::pi / static_cast<double>(axis.count);
    for (Index k = 0; k < axis.count; ++k) {
      std::complex<double> sum = 0;
      for (Index j = 0; j < axis.count; ++j)
        sum += std::complex<double>(data[j * axis.out_stride]) *
               std::polar(1.0, step * static_cast<double>(j * k % axis.count));
      line_[static_cast<std::size_t>(k)] = Complex(sum);
    }
    for (Index k = 0; k < axis.count; ++k) data[k * axis.out_stride] = line_[static_cast<std::size_t>(k)];
  }

  std::vector<Loop> loops_;
  std::size_t axes_;
  void* in_;
  void* out_;
  double sign_;
  double flops_ = 0;
  std::vector<Complex> line_;
};

class Definition : public LocalFftLibrary {
 public:
  Card card() const override { return {"definition", "each transform by its definition", "an example"}; }
  std::string version() const override { return "1"; }
  Reason refuses(Kind kind, int threads) const override {
    if (kind == Kind::r2c) return "local FFT 'definition' takes complex data";
    if (threads > 1) return "local FFT 'definition' has one thread";
    return std::nullopt;
  }
  std::unique_ptr<LocalFft> make(const LocalFftSpec& spec, void* in, void* out) const override {
    if (auto reason = refuses(spec.real_length > 0 ? Kind::r2c : Kind::c2c, spec.threads)) throw InputError(*reason);
    if (spec.precision == Precision::single_precision) return std::make_unique<ByDefinition<float>>(spec, in, out);
    return std::make_unique<ByDefinition<double>>(spec, in, out);
  }
  void import_wisdom(const std::string&, const std::string&) const override {}  // it plans nothing
  std::string export_wisdom() const override { return {}; }
};

FOURSCORE_REGISTER_LOCAL_FFT(Definition);

}  // namespace
