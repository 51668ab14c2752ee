#include "harness/wrong_elements.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {
namespace {

std::string value_text(const std::complex<double>& value, bool real) {
  return real ? fmt::format("{:.6g}", value.real()) : fmt::format("{:.6g}{:+.6g}i", value.real(), value.imag());
}

/// The smallest box with all of them: "all of the plane (*, 5, *)", "in the block (0 to 2, 3 to 4, *)".
std::string box_text(const Extents& low, const Extents& high, const Extents& shape, std::size_t axes, Index count) {
  std::array<std::string, 3> parts;
  Index volume = 1;
  std::size_t free = 0;
  for (std::size_t a = 0; a < axes; ++a) {
    volume *= high[a] - low[a] + 1;
    if (low[a] < high[a]) ++free;
    if (low[a] == high[a])
      parts[a] = fmt::format("{}", low[a]);
    else
      parts[a] = low[a] == 0 && high[a] + 1 == shape[a] ? "*" : fmt::format("{} to {}", low[a], high[a]);
  }
  constexpr std::array<const char*, 4> kinds{"element", "line", "plane", "block"};
  return fmt::format("{} the {} ({})", count >= volume ? "all of" : "in", kinds[free],
                     fmt::join(std::span(parts).first(axes), ", "));
}

}  // namespace

void WrongElements::add(const Extents& index, const Extents& shape, const std::complex<double>& computed,
                        const std::complex<double>& expected) {
  ++count_;
  const Index linear = (index[0] * shape[1] + index[1]) * shape[2] + index[2];
  if (linear < first_) {
    first_ = linear;
    computed_ = computed;
    expected_ = expected;
  }
  for (std::size_t a = 0; a < 3; ++a) {
    low_[a] = std::min(low_[a], index[a]);
    high_[a] = std::max(high_[a], index[a]);
  }
}

std::string WrongElements::text(MPI_Comm comm, const Extents& shape, std::size_t axes, bool real) const {
  struct {
    long element;
    int rank;
  } first{first_, mpi::rank_in(comm)};
  static_assert(sizeof(long) == sizeof(Index));
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_LONG_INT, MPI_MINLOC, comm));
  std::array<double, 5> values{computed_.real(), computed_.imag(), expected_.real(), expected_.imag(),
                               static_cast<double>(mpi::rank_in(MPI_COMM_WORLD))};
  FOURSCORE_MPI(MPI_Bcast(values.data(), 5, MPI_DOUBLE, first.rank, comm));
  // Elements, wrong ones, ranks that have some, and ranks that have no others.
  std::array<Index, 4> sums{looked_at_, count_, count_ > 0 ? 1 : 0, count_ > 0 && count_ == looked_at_ ? 1 : 0};
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), 4, MPI_INT64_T, MPI_SUM, comm));
  std::array<Index, 6> box{low_[0], low_[1], low_[2], -high_[0], -high_[1], -high_[2]};
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, box.data(), 6, MPI_INT64_T, MPI_MIN, comm));

  const auto [looked_at, count, ranks, whole_ranks] = sums;
  const int rank = static_cast<int>(values[4]);
  std::string pattern;
  if (count == 1)
    pattern = "no other";
  else if (count == looked_at)
    pattern = "all";
  else if (ranks == whole_ranks)
    pattern = ranks == 1 ? fmt::format("all that rank {} holds", rank) : fmt::format("all that {} ranks hold", ranks);
  else
    pattern = box_text({box[0], box[1], box[2]}, {-box[3], -box[4], -box[5]}, shape, axes, count);
  const std::array<Index, 3> index{first.element / (shape[1] * shape[2]), first.element / shape[2] % shape[1],
                                   first.element % shape[2]};
  return fmt::format("first at ({}) on rank {}, {} in place of {}; {} of {} elements are wrong: {}",
                     fmt::join(std::span(index).first(axes), ", "), rank, value_text({values[0], values[1]}, real),
                     value_text({values[2], values[3]}, real), count, looked_at, pattern);
}

}  // namespace fourscore
