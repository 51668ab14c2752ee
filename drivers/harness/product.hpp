#pragma once
// The product of a convolution on one rank: its part of the spectrum, times the factors of an operator.

#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

#include "core/decomposition.hpp"
#include "harness/row_threads.hpp"
#include "interfaces/pointwise_operator.hpp"

namespace fourscore {

/// Nothing, or why there is no product of the problem's operator and a spectrum.
[[nodiscard]] Reason supports_product(const Problem& problem);
/// The operator of a problem that is a convolution. Throws InputError for an unknown one.
[[nodiscard]] const PointwiseOperator& operator_of(const Problem& problem);

/// By rows, in the order in memory, shared out over the threads of the problem; on a simulated machine, where work is
/// charged, by the one that calls it. A rank has tables of the wave numbers of what it holds
/// along each axis.
class Product {
 public:
  /// Extents beyond are refused, and not only because of the tables: nobody convolves them.
  static constexpr Index max_extent = Index{1} << 20;

  Product(const PointwiseOperator& pointwise, const Problem& problem, const Decomposition& spectrum, int rank);

  [[nodiscard]] int fields() const { return fields_; }
  /// The product for field `field`, from the spectrum at `from` to `to`, which may be the same or apart.
  void multiply(int field, const void* from, void* to);
  /// Read and written for all fields, at the least.
  [[nodiscard]] Index min_bytes() const { return 2 * fields_ * bytes_; }
  [[nodiscard]] std::size_t table_bytes() const { return table_bytes_; }

 private:
  struct BoxRows {
    Extents counts{};
    Index begin = 0;  ///< in memory, in elements
    Extents strides{};
    std::vector<std::unique_ptr<RowFactors>> factors;  ///< by field
  };
  /// The rows that a thread has of a box.
  void multiply_share(const BoxRows& rows, int field, const void* from, void* to, int thread);
  template <class Real>
  void multiply_rows(const BoxRows& rows, const Range& share, const RowFactors& factors, std::span<double> row,
                     const std::complex<Real>* from, std::complex<Real>* to) const;

  int fields_;
  bool imaginary_;
  Precision precision_;
  Index bytes_;
  std::size_t table_bytes_ = 0;
  std::vector<BoxRows> boxes_;
  RowThreads threads_;
  std::vector<std::vector<double>> row_;  ///< the factors of the row in hand, by thread
};

}  // namespace fourscore
