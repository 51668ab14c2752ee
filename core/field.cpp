#include "core/field.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace fourscore {
namespace {

using Complex = std::complex<double>;

Index volume_of(const Extents& shape) { return shape[0] * shape[1] * shape[2]; }

Index modulo(Index value, Index n) {
  const Index rest = value % n;
  return rest < 0 ? rest + n : rest;
}

/// a * b without the NaN recovery of operator*, which no vectoriser gets through.
template <class Real>
std::complex<Real> product(const std::complex<Real>& a, const std::complex<Real>& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

Index product_modulo(Index a, Index b, Index n) {
  // An axis may have more than 2^31 elements, whose products need 128 bits.
  __extension__ using Wide = __int128;
  return static_cast<Index>(static_cast<Wide>(a) * b % n);
}

template <class Real>
std::complex<Real> root(Index numerator, Index n) {
  const Real angle = 2 * std::numbers::pi_v<Real> * static_cast<Real>(numerator) / static_cast<Real>(n);
  return {std::cos(angle), std::sin(angle)};
}

Extents mirrored(const Extents& index, const Extents& shape) {
  Extents result{};
  for (std::size_t a = 0; a < 3; ++a) result[a] = modulo(-index[a], shape[a]);
  return result;
}

void make_symmetric(SparseField& field, Symmetry symmetry) {
  if (symmetry == Symmetry::none) return;
  const bool real = symmetry == Symmetry::real;
  for (std::size_t i = 0, count = real ? field.waves.size() : 0; i < count; ++i)
    field.waves.push_back({std::conj(field.waves[i].amplitude), mirrored(field.waves[i].k, field.shape)});
  for (std::size_t i = 0, count = real ? 0 : field.spikes.size(); i < count; ++i)
    field.spikes.push_back({std::conj(field.spikes[i].amplitude), mirrored(field.spikes[i].at, field.shape)});
  if (real)
    for (Spike& spike : field.spikes) spike.amplitude = std::abs(spike.amplitude);
  else
    for (Wave& wave : field.waves) wave.amplitude = std::abs(wave.amplitude);
}

}  // namespace

SparseField transform(const SparseField& field, Direction direction) {
  const Index sign = direction == Direction::forward ? -1 : 1;
  const auto size = static_cast<double>(volume_of(field.shape));
  const auto signed_index = [&](const Extents& index, Index factor) {
    Extents result{};
    for (std::size_t a = 0; a < 3; ++a) result[a] = modulo(factor * index[a], field.shape[a]);
    return result;
  };
  SparseField result;
  result.shape = field.shape;
  for (const Wave& wave : field.waves) result.spikes.push_back({size * wave.amplitude, signed_index(wave.k, -sign)});
  for (const Spike& spike : field.spikes) result.waves.push_back({spike.amplitude, signed_index(spike.at, sign)});
  return result;
}

SparseField random_field(const Extents& shape, int waves, int spikes, double spike_amplitude, std::uint64_t seed,
                         Symmetry symmetry) {
  std::uint64_t state = mix(seed);
  const auto next = [&] { return state = mix(state); };
  const auto index = [&] {
    Extents result{};
    for (std::size_t a = 0; a < 3; ++a) result[a] = static_cast<Index>(next() % static_cast<std::uint64_t>(shape[a]));
    return result;
  };
  const auto phase = [&] {
    return std::polar(1.0, 2 * std::numbers::pi * 0x1p-53 * static_cast<double>(next() >> 11U));
  };
  SparseField field;
  field.shape = shape;
  for (int i = 0; i < waves; ++i) field.waves.push_back({phase(), index()});
  for (int i = 0; i < spikes; ++i) field.spikes.push_back({spike_amplitude * phase(), index()});
  make_symmetric(field, symmetry);
  return field;
}

LocalRows::LocalRows(const Decomposition& layout, int rank, const Extents& shape) : shape_(shape) {
  const Box& box = layout.boxes.at(static_cast<std::size_t>(rank));
  const Extents extents = box.extents();
  for (std::size_t position = 0; position < 3; ++position)
    axis_[position] = static_cast<std::size_t>(layout.order[position]);
  // Padding lies behind the rows of its axis, even where they are of one element.
  const auto is_padded = [&](std::size_t a) { return !layout.padding.empty() && a == layout.padded_axis; };
  std::stable_partition(axis_.begin(), axis_.end(), [&](std::size_t a) { return extents[a] == 1 && !is_padded(a); });
  const Extents memory_strides = layout.strides(rank);
  for (std::size_t position = 0; position < 3; ++position) {
    const std::size_t a = axis_[position];
    stride_[position] = a == 0 ? shape_[1] * shape_[2] : a == 1 ? shape_[2] : 1;
    memory_stride_[position] = memory_strides[a];
    const auto& map = layout.axis_map[a];
    for (Index c = box.low[a]; c < box.high[a]; ++c)
      index_[position].push_back(map.empty() ? c : map.at(static_cast<std::size_t>(c)));
  }
}

Index LocalRows::linear(Index i, Index j) const {
  return index_[0][static_cast<std::size_t>(i)] * stride_[0] + index_[1][static_cast<std::size_t>(j)] * stride_[1];
}

Index LocalRows::mirrored_linear(Index i, Index j) const {
  return mirrored_index(0, index_[0][static_cast<std::size_t>(i)]) * stride_[0] +
         mirrored_index(1, index_[1][static_cast<std::size_t>(j)]) * stride_[1];
}

bool LocalRows::find(const Extents& global, Extents& local) const {
  for (std::size_t position = 0; position < 3; ++position) {
    const auto& index = index_[position];
    const auto it = std::find(index.begin(), index.end(), global[axis_[position]]);
    if (it == index.end()) return false;
    local[position] = it - index.begin();
  }
  return true;
}

void unit_roots(Index n, Index k, std::span<const Index> indices, std::span<Complex> factors,
                std::vector<Complex>& coarse, std::vector<Complex>& fine) {
  // exp(k (high B + low)) = exp(k high B) exp(k low): sqrt(n) sines instead of n.
  unsigned shift = 0;
  while ((Index{1} << (2 * shift)) < n) ++shift;
  const Index block = Index{1} << shift;
  const auto blocks = static_cast<std::size_t>((n + block - 1) / block);
  coarse.resize(std::max(coarse.size(), blocks));
  fine.resize(std::max(fine.size(), static_cast<std::size_t>(block)));
  for (std::size_t i = 0; i < blocks; ++i)
    coarse[i] = root<double>(product_modulo(k, modulo(static_cast<Index>(i) * block, n), n), n);
  for (std::size_t i = 0; i < static_cast<std::size_t>(block); ++i)
    fine[i] = root<double>(product_modulo(k, modulo(static_cast<Index>(i), n), n), n);
  for (std::size_t c = 0; c < indices.size(); ++c)
    factors[c] = product(coarse[static_cast<std::size_t>(indices[c] >> shift)],
                         fine[static_cast<std::size_t>(indices[c] & (block - 1))]);
}

void FieldRows::assign(const SparseField& field) {
  if (field.shape != rows_.shape()) throw std::logic_error("FieldRows: field and layout have different shapes");
  waves_ = field.waves.size();
  amplitude_.clear();
  for (const Wave& wave : field.waves) amplitude_.push_back(wave.amplitude);
  for (std::size_t position = 0; position < 3; ++position) {
    auto& factors = factor_[position];
    if (factors.size() < waves_) factors.resize(waves_);
    const std::size_t axis = rows_.axis(position);
    for (std::size_t w = 0; w < waves_; ++w) {
      factors[w].resize(rows_.index(position).size());
      unit_roots(field.shape[axis], field.waves[w].k[axis], rows_.index(position), factors[w], coarse_, fine_);
    }
  }
  spikes_.clear();
  for (const Spike& spike : field.spikes) {
    Extents local{};
    if (rows_.find(spike.at, local)) spikes_.push_back({spike.amplitude, local});
  }
}

void FieldRows::row(Index i, Index j, std::span<Complex> out) const {
  std::fill(out.begin(), out.end(), Complex{});
  for (std::size_t w = 0; w < waves_; ++w) {
    const Complex head = product(
        amplitude_[w], product(factor_[0][w][static_cast<std::size_t>(i)], factor_[1][w][static_cast<std::size_t>(j)]));
    const Complex* tail = factor_[2][w].data();
    for (std::size_t k = 0; k < out.size(); ++k) out[k] += product(head, tail[k]);
  }
  for (const LocalSpike& spike : spikes_)
    if (spike.at[0] == i && spike.at[1] == j) out[static_cast<std::size_t>(spike.at[2])] += spike.amplitude;
}

std::vector<Complex> naive_noise_dft(const Extents& shape, Direction direction, std::uint64_t seed, Symmetry symmetry) {
  using Wide = std::complex<long double>;
  const Index sign = direction == Direction::forward ? -1 : 1;
  const auto size = static_cast<std::size_t>(volume_of(shape));
  std::vector<Wide> data(size);
  std::size_t element = 0;
  for (Index x = 0; x < shape[0]; ++x)
    for (Index y = 0; y < shape[1]; ++y)
      for (Index z = 0; z < shape[2]; ++z, ++element) {
        const Extents opposite = mirrored({x, y, z}, shape);
        const Index mirror = (opposite[0] * shape[1] + opposite[1]) * shape[2] + opposite[2];
        data[element] = noise(seed, static_cast<Index>(element), mirror, symmetry);
      }
  std::size_t stride = 1;
  for (std::size_t a = 3; a-- > 0;) {
    const auto n = static_cast<std::size_t>(shape[a]);
    std::vector<Wide> roots(n), line(n);
    for (std::size_t m = 0; m < n; ++m) roots[m] = root<long double>(sign * static_cast<Index>(m), shape[a]);
    for (std::size_t start = 0; start < size; ++start) {
      if (start / stride % n != 0) continue;
      for (std::size_t j = 0; j < n; ++j) line[j] = data[start + j * stride];
      for (std::size_t k = 0; k < n; ++k) {
        Wide sum{};
        for (std::size_t j = 0, m = 0; j < n; ++j, m = m + k < n ? m + k : m + k - n) sum += product(line[j], roots[m]);
        data[start + k * stride] = sum;
      }
    }
    stride *= n;
  }
  std::vector<Complex> result(size);
  std::transform(data.begin(), data.end(), result.begin(),
                 [](const Wide& z) { return Complex(static_cast<double>(z.real()), static_cast<double>(z.imag())); });
  return result;
}

}  // namespace fourscore
