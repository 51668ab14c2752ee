#pragma once
// A plan that computes the DFT by definition on data gathered to every rank, and can be told to go wrong in the ways
// that real programs do. Slow: for shapes of a few thousand elements.

#include <mpi.h>

#include <complex>
#include <limits>
#include <utility>
#include <vector>

#include "interfaces/plan.hpp"
#include "support/elements.hpp"
#include "support/naive_dft.hpp"

namespace fourscore::testing_support {

enum class Defect {
  none,
  wrong_sign,
  missing_scale,         // the result is divided by N
  swapped_axes,          // X[k1, k0, k2]: only for shapes with n0 == n1
  one_wrong_element,     // the first output element of the last rank that has any
  one_nan,               //
  permuted_output,       // local output reversed
  dropped_input,         // the element at the origin's neighbour is read as 0
  stale_after_first_run  // later runs leave the output as it was (out of place)
};

template <class Real>
class NaivePlan : public Plan {
 public:
  using Complex = std::complex<Real>;

  NaivePlan(const Problem& problem, MPI_Comm comm, Decomposition in, Decomposition out, Defect defect = Defect::none)
      : problem_(problem), comm_(comm), defect_(defect) {
    MPI_Comm_rank(comm, &rank_);
    const Index largest = std::max(in.memory_volume(rank_), out.memory_volume(rank_));  // reals: twice too much
    buffer_.resize(static_cast<std::size_t>(largest) + 1);
    if (problem.contract.buffers == Buffers::out_of_place) result_.resize(buffer_.size());
    PlanFacts& facts = this->declared();
    facts.input_layout = std::move(in);
    facts.output_layout = std::move(out);
    facts.input = buffer_.data();
    facts.output = (result_.empty() ? buffer_ : result_).data();
    facts.buffer_bytes = (buffer_.size() + result_.size()) * sizeof(Complex);
    facts.grid = problem.grid;
  }

  void execute(PhaseClock& clock) override {
    const Region region(clock, Phase::fft);
    if (defect_ == Defect::stale_after_first_run && runs_++ > 0) return;
    std::vector<std::complex<double>> data = gather();
    if (defect_ == Defect::dropped_input) data[data.size() > 1 ? 1 : 0] = 0;
    transform(data);
    store(data);
  }

 private:
  Index linear(const Extents& g) const {
    const Extents n = problem_.extents();
    return (g[0] * n[1] + g[1]) * n[2] + g[2];
  }

  std::vector<std::complex<double>> gather() const {
    std::vector<std::complex<double>> data(static_cast<std::size_t>(problem_.elements()));
    const test::Places place(input_layout(), rank_);
    test::for_each_element(input_layout(), rank_, [&](Index i, const Extents& global) {
      const auto at = static_cast<std::size_t>(place(i));
      std::complex<double>& value = data[static_cast<std::size_t>(linear(global))];
      if (problem_.real_input())
        value = reinterpret_cast<const Real*>(buffer_.data())[at];
      else
        value = buffer_[at];
    });
    MPI_Allreduce(MPI_IN_PLACE, data.data(), static_cast<int>(2 * data.size()), MPI_DOUBLE, MPI_SUM, comm_);
    if (problem_.real_output()) complete(data);
    return data;
  }

  /// The other half of a hermitian spectrum.
  void complete(std::vector<std::complex<double>>& data) const {
    const Extents n = problem_.extents();
    const std::size_t last = problem_.last_axis();
    for (Index x = 0; x < n[0]; ++x)
      for (Index y = 0; y < n[1]; ++y)
        for (Index z = 0; z < n[2]; ++z) {
          const Extents index{x, y, z};
          if (index[last] <= n[last] / 2) continue;
          const Extents mirror{(n[0] - x) % n[0], (n[1] - y) % n[1], (n[2] - z) % n[2]};
          data[static_cast<std::size_t>(linear(index))] = std::conj(data[static_cast<std::size_t>(linear(mirror))]);
        }
  }

  void transform(std::vector<std::complex<double>>& data) const {
    const int sign = problem_.direction == Direction::forward ? -1 : 1;
    test::naive_dft(data, problem_.extents(), defect_ == Defect::wrong_sign ? -sign : sign);
    if (defect_ == Defect::missing_scale)
      for (auto& value : data) value /= static_cast<double>(data.size());
  }

  void store(const std::vector<std::complex<double>>& data) {
    auto& target = result_.empty() ? buffer_ : result_;
    const Index size = output_layout().volume(rank_);
    const test::Places place(output_layout(), rank_);
    test::for_each_element(output_layout(), rank_, [&](Index i, Extents global) {
      if (defect_ == Defect::swapped_axes) std::swap(global[0], global[1]);
      const auto at = static_cast<std::size_t>(place(defect_ == Defect::permuted_output ? size - 1 - i : i));
      const Complex value(data[static_cast<std::size_t>(linear(global))]);
      if (problem_.real_output())
        reinterpret_cast<Real*>(target.data())[at] = value.real();
      else
        target[at] = value;
    });
    int last = 0;
    for (int r = 0; r < output_layout().ranks(); ++r)
      if (!output_layout().box(r).empty()) last = r;
    if (rank_ != last) return;
    if (defect_ == Defect::one_wrong_element) target[0] *= Real(1.01);
    if (defect_ == Defect::one_nan) target[0] = std::numeric_limits<Real>::quiet_NaN();
  }

  Problem problem_;
  MPI_Comm comm_;
  int rank_ = 0;
  Defect defect_;
  int runs_ = 0;
  std::vector<Complex> buffer_;
  std::vector<Complex> result_;
};

}  // namespace fourscore::testing_support
