#include "harness/product.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/field.hpp"
#include "harness/simulated.hpp"
#include "interfaces/truncation.hpp"

namespace fourscore {
namespace {

ModeRows mode_rows(const LocalRows& rows, const Problem& problem) {
  ModeRows modes;
  modes.shape = problem.extents();
  for (std::size_t position = 0; position < 3; ++position) {
    modes.axis[position] = rows.axis(position);
    auto& k = modes.k[position];
    k.resize(static_cast<std::size_t>(rows.count(position)));
    rows.indices(position, 0, k);
    for (Index& index : k) index = wave_number_at(problem, rows.shape(), modes.axis[position], index);
  }
  return modes;
}

}  // namespace

Reason supports_product(const Problem& problem) {
  for (const Index extent : problem.shape)
    if (extent > Product::max_extent)
      return fmt::format("direction convolution takes extents of at most {}; shape {} has {}", Product::max_extent,
                         shape_text(problem.shape), extent);
  return operator_of(problem).supports(problem);
}

const PointwiseOperator& operator_of(const Problem& problem) {
  return OperatorRegistry::instance().get(
      problem.operator_name.empty() ? std::string(default_operator) : problem.operator_name, "operator");
}

Product::Product(const PointwiseOperator& pointwise, const Problem& problem, const Decomposition& spectrum, int rank)
    : fields_(pointwise.fields(problem)),
      imaginary_(pointwise.is_imaginary()),
      precision_(problem.precision),
      bytes_(spectrum.volume(rank) * static_cast<Index>(problem.element_bytes())),
      threads_(simulated_machine() == nullptr ? problem.threads : 1) {
  LocalRows rows(spectrum, rank);
  row_.assign(static_cast<std::size_t>(threads_.count()),
              std::vector<double>(static_cast<std::size_t>(rows.longest_row())));
  for (std::size_t box = 0; box < rows.boxes(); ++box) {
    rows.select(box);
    const Index begin = rows.offset(0, 0, 0);
    BoxRows& here = boxes_.emplace_back();
    here.counts = {rows.count(0), rows.count(1), rows.count(2)};
    here.begin = begin;
    here.strides = {rows.offset(1, 0, 0) - begin, rows.offset(0, 1, 0) - begin, 1};
    const ModeRows modes = mode_rows(rows, problem);
    for (int field = 0; field < fields_; ++field) here.factors.push_back(pointwise.factors(modes, field));
    table_bytes_ += sizeof(double) * static_cast<std::size_t>(here.counts[0] + here.counts[1] + here.counts[2]);
  }
}

void Product::multiply(int field, const void* from, void* to) {
  threads_.run([&](int thread) {
    for (const BoxRows& rows : boxes_) multiply_share(rows, field, from, to, thread);
  });
}

void Product::multiply_share(const BoxRows& rows, int field, const void* from, void* to, int thread) {
  const Range share = block_range(rows.counts[0] * rows.counts[1], threads_.count(), thread);
  const RowFactors& factors = *rows.factors[static_cast<std::size_t>(field)];
  const std::span<double> row(row_[static_cast<std::size_t>(thread)].data(), static_cast<std::size_t>(rows.counts[2]));
  if (precision_ == Precision::double_precision)
    multiply_rows(rows, share, factors, row, static_cast<const std::complex<double>*>(from),
                  static_cast<std::complex<double>*>(to));
  else
    multiply_rows(rows, share, factors, row, static_cast<const std::complex<float>*>(from),
                  static_cast<std::complex<float>*>(to));
}

template <class Real>
void Product::multiply_rows(const BoxRows& rows, const Range& share, const RowFactors& factors, std::span<double> row,
                            const std::complex<Real>* from, std::complex<Real>* to) const {
  for (Index number = share.low; number < share.high; ++number) {
    const Index i = number / rows.counts[1], j = number % rows.counts[1];
    const Index offset = rows.begin + i * rows.strides[0] + j * rows.strides[1];
    const std::complex<Real>* const in = from + offset;
    std::complex<Real>* const out = to + offset;
    factors.row(static_cast<std::size_t>(i), static_cast<std::size_t>(j), row);
    for (std::size_t m = 0; m < row.size(); ++m) {
      const Real factor = static_cast<Real>(row[m]);
      const std::complex<Real> scaled(in[m].real() * factor, in[m].imag() * factor);
      out[m] = imaginary_ ? std::complex<Real>(-scaled.imag(), scaled.real()) : scaled;
    }
  }
}

}  // namespace fourscore
