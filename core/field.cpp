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
  if (goes_back(direction)) return transform(transform(field, Direction::forward), Direction::backward);
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

SparseField random_modes(const Extents& shape, std::uint64_t seed, Symmetry symmetry) {
  SparseField field = random_field(shape, 2, 0, 0, seed);
  constexpr Index reach = 2;
  Wave& low = field.waves.front();
  for (std::size_t a = 0; a < 3; ++a) low.k[a] = modulo(low.k[a] % (2 * reach + 1) - reach, shape[a]);
  field.waves.push_back({1.0, {}});
  make_symmetric(field, symmetry);
  return field;
}

double largest_norm_of_terms(const SparseField& field) {
  double everywhere = 0;
  for (const Wave& wave : field.waves) everywhere += std::norm(wave.amplitude);
  double at_one_place = 0;
  for (const Spike& spike : field.spikes) {
    double here = 0;
    for (const Spike& other : field.spikes)
      if (other.at == spike.at) here += std::norm(other.amplitude);
    at_one_place = std::max(at_one_place, here);
  }
  return std::sqrt(everywhere + at_one_place);
}

LocalRows::LocalRows(const Decomposition& layout, int rank, const Extents& shape)
    : layout_(layout), rank_(rank), boxes_(layout.boxes(rank)), shape_(shape) {
  if (boxes_.empty()) boxes_.emplace_back();
  Index begin = 0;
  for (std::size_t box = boxes_.size(); box-- > 0;) {
    select(box);
    longest_row_ = std::max(longest_row_, count(2));
  }
  for (const Box& box : boxes_) {
    begins_.push_back(begin);
    begin += box.volume();
  }
}

void LocalRows::select(std::size_t box) {
  box_ = boxes_[box];
  begin_ = begins_.empty() ? 0 : begins_[box];
  const Extents extents = box_.extents();
  for (std::size_t position = 0; position < 3; ++position)
    axis_[position] = static_cast<std::size_t>(layout_.order[position]);
  // Padding lies behind the rows of its axis, even where they are of one element.
  std::stable_partition(axis_.begin(), axis_.end(),
                        [&](std::size_t a) { return extents[a] == 1 && !layout_.is_padded(a); });
  const Extents memory_strides = boxes_.size() == 1 ? layout_.strides(rank_) : layout_.strides_within(box_);
  for (std::size_t position = 0; position < 3; ++position) {
    const std::size_t a = axis_[position];
    count_[position] = extents[a];
    stride_[position] = a == 0 ? shape_[1] * shape_[2] : a == 1 ? shape_[2] : 1;
    memory_stride_[position] = memory_strides[a];
  }
}

void LocalRows::indices(std::size_t position, Index first, std::span<Index> out) const {
  layout_.indices(axis_[position], box_.low[axis_[position]] + first, out);
}

bool LocalRows::find_in_all(const Extents& global, Extents& local) {
  for (std::size_t box = 0; box < boxes_.size(); ++box) {
    select(box);
    if (find(global, local)) return true;
  }
  return false;
}

bool LocalRows::find(const Extents& global, Extents& local) const {
  for (std::size_t position = 0; position < 3; ++position) {
    const std::size_t a = axis_[position];
    local[position] = layout_.coordinate_of(a, global[a]) - box_.low[a];
    if (local[position] < 0 || local[position] >= count_[position]) return false;
  }
  return true;
}

RowTile::RowTile(LocalRows& rows) : rows_(&rows) {
  for (std::size_t position = 0; position < 3; ++position)
    index_[position].reserve(static_cast<std::size_t>(std::min(max_extent, rows.count(position))));
}

void RowTile::place_at(Index i, Index j) {
  low_ = {i, j, 0};
  fill_indices({1, 1, max_extent});
}

void RowTile::fill_indices(const Extents& most) {
  for (std::size_t position = 0; position < 3; ++position) {
    const Index count = std::min(most[position], rows_->count(position) - low_[position]);
    index_[position].resize(static_cast<std::size_t>(count));
    rows_->indices(position, low_[position], index_[position]);
  }
}

Index RowTile::linear(Index i, Index j) const {
  return index_[0][static_cast<std::size_t>(i)] * rows_->linear_step(0) +
         index_[1][static_cast<std::size_t>(j)] * rows_->linear_step(1);
}

Index RowTile::mirrored_linear(Index i, Index j) const {
  return rows_->mirrored_index(0, index_[0][static_cast<std::size_t>(i)]) * rows_->linear_step(0) +
         rows_->mirrored_index(1, index_[1][static_cast<std::size_t>(j)]) * rows_->linear_step(1);
}

Extents RowTile::global(Index i, Index j, Index k) const {
  const Extents local{i, j, k};
  Extents result{};
  for (std::size_t position = 0; position < 3; ++position)
    result[rows_->axis(position)] = index_[position][static_cast<std::size_t>(local[position])];
  return result;
}

/// exp(k (high B + low)) = exp(k high B) exp(k low): few sines instead of n.
void UnitRoots::assign(Index n, Index k) {
  constexpr Index longest_of_two_tables = Index{1} << 28;
  const unsigned levels = n > longest_of_two_tables ? 3 : 2;
  shift_ = 0;
  while (shift_ * levels < 62 && (Index{1} << (levels * shift_)) < n) ++shift_;
  tables_.resize(levels);
  for (unsigned level = 0; level < levels; ++level) {
    const Index step = Index{1} << (level * shift_);
    const Index entries = std::min(Index{1} << shift_, (n + step - 1) / step);
    tables_[level].resize(static_cast<std::size_t>(entries));
    // In double the angle alone, of up to 2 pi, would be wrong by several roundings of the result.
    for (Index i = 0; i < entries; ++i) {
      const auto exact = root<long double>(product_modulo(k, modulo(i * step, n), n), n);
      tables_[level][static_cast<std::size_t>(i)] = {static_cast<double>(exact.real()),
                                                     static_cast<double>(exact.imag())};
    }
  }
}

void UnitRoots::at(std::span<const Index> indices, std::span<Complex> factors) const {
  const Index mask = (Index{1} << shift_) - 1;
  const auto entry = [&](std::size_t level, Index index) {
    return tables_[level][static_cast<std::size_t>((index >> (level * shift_)) & mask)];
  };
  for (std::size_t c = 0; c < indices.size(); ++c) factors[c] = product(entry(1, indices[c]), entry(0, indices[c]));
  if (tables_.size() == 3)
    for (std::size_t c = 0; c < indices.size(); ++c) factors[c] = product(entry(2, indices[c]), factors[c]);
}

void FieldRows::assign(const SparseField& field) {
  field_ = field;
  for (std::size_t a = 0; a < 3; ++a) {
    if (roots_[a].size() < field.waves.size()) roots_[a].resize(field.waves.size());
    for (std::size_t w = 0; w < field.waves.size(); ++w) roots_[a][w].assign(field.shape[a], field.waves[w].k[a]);
  }
}

void FieldRows::enter(const RowTile& tile) {
  const LocalRows& rows = tile.rows();
  if (field_.shape != rows.shape()) throw std::logic_error("FieldRows: field and layout have different shapes");
  for (std::size_t position = 0; position < 3; ++position) {
    auto& factors = factor_[position];
    if (factors.size() < field_.waves.size()) factors.resize(field_.waves.size());
    for (std::size_t w = 0; w < field_.waves.size(); ++w) {
      factors[w].resize(tile.index(position).size());
      roots_[rows.axis(position)][w].at(tile.index(position), factors[w]);
    }
  }
  spikes_.clear();
  for (const Spike& spike : field_.spikes) {
    Extents local{};
    if (!rows.find(spike.at, local)) continue;
    bool inside = true;
    for (std::size_t position = 0; position < 3; ++position) {
      local[position] -= tile.low(position);
      inside = inside && local[position] >= 0 && local[position] < tile.count(position);
    }
    if (inside) spikes_.push_back({spike.amplitude, local});
  }
}

void FieldRows::row(Index i, Index j, std::span<Complex> out) const {
  std::fill(out.begin(), out.end(), Complex{});
  for (std::size_t w = 0; w < field_.waves.size(); ++w) {
    const Complex head = product(field_.waves[w].amplitude, product(factor_[0][w][static_cast<std::size_t>(i)],
                                                                    factor_[1][w][static_cast<std::size_t>(j)]));
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
      if (start / stride % n != 0) continue;  // NOLINT(clang-analyzer-core.DivideZero): size is 0 too where n is
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
