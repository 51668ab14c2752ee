#pragma once
// Decompositions: which rank holds which elements, for any rank, by arithmetic. No MPI here.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/box.hpp"
#include "core/dealing.hpp"
#include "core/digit_order.hpp"
#include "core/grid.hpp"

namespace fourscore {

/// How one axis is cut by dimensions of a process grid, each of which cuts one axis. Levels are nested, outermost
/// first: a level cuts what the levels before it left in blocks (block_range), one for each coordinate in its
/// dimensions taken together, the first of them slowest. No level: every rank has the whole axis.
struct AxisCut {
  using Level = std::vector<std::size_t>;
  std::vector<Level> levels{};
  /// The first level deals so many blocks of the axis, as whole blocks; 0: it deals single indices.
  Index pieces = 0;
  /// The only level gives each rank a part of these digits, in place of a block.
  std::optional<DigitOrder> dealt{};
  /// The index at each coordinate; nothing: the coordinate itself.
  std::optional<DigitOrder> order{};
  bool operator==(const AxisCut&) const = default;
};

struct RedistributionGroup;

/// What a rank holds of some box.
struct Overlap {
  int rank = 0;
  Box box;
  bool operator==(const Overlap&) const = default;
};

/// Elements of one global array held by each rank: rank r holds box(r) densely, stored with axis order[0] slowest and
/// order[2] fastest; where pieces are dealt (dealt()) it holds several boxes, one after another. Boxes are in
/// coordinates, which are global indices but for axes with an order of their own. Real data that shares its place with
/// complex data is the one exception to dense: rows along the padded axis, fastest in memory but for axes of one
/// element, are followed by padding(rank) elements that mean nothing.
///
/// A rule of a few numbers, whatever the number of ranks and of elements. Only what a foreign library dealt by a rule
/// of its own is a list of boxes (of_boxes).
class Decomposition {
 public:
  Extents shape{1, 1, 1};
  std::array<int, 3> order{0, 1, 2};
  std::string name{};  ///< for people: "z-pencils 2x2"

  /// One rank with everything.
  Decomposition() = default;
  /// grid: extents; a rank is the row-major number of its coordinates. Throws std::invalid_argument unless every
  /// dimension of more than one rank cuts exactly one axis, and orders and dealt digits have as many elements as their
  /// axis.
  Decomposition(const Extents& shape, std::vector<int> grid, std::array<AxisCut, 3> cuts, std::string name);
  /// The same with an order of its own along an axis.
  [[nodiscard]] Decomposition permuted(std::size_t axis, DigitOrder order) const;
  /// The same of several arrays, which lie in one another: each index of `axis` is there `fields` times, once of each
  /// array, and always with one rank. `axis` has no order and no dealt digits of its own, and no list of boxes.
  [[nodiscard]] Decomposition with_fields(std::size_t axis, Index fields) const;
  [[nodiscard]] static Decomposition of_boxes(const Extents& shape, std::vector<Box> boxes, std::string name = {});
  /// The boxes of `pieces`, whose ranks are numbers of pieces here, dealt to the ranks of `dealing`: a rank holds those
  /// of its pieces that are not empty, in ascending order. Throws std::invalid_argument where the numbers of pieces
  /// differ, and for real data with padding.
  [[nodiscard]] static Decomposition dealt(const Decomposition& pieces, const Dealing& dealing, std::string name);

  [[nodiscard]] int ranks() const;
  /// Throws std::logic_error for a rank that holds several.
  [[nodiscard]] Box box(int rank) const;
  /// All that the rank holds, in the order in memory: box(rank), or the pieces dealt to it that are not empty.
  [[nodiscard]] std::vector<Box> boxes(int rank) const;
  [[nodiscard]] Index volume(int rank) const;  ///< elements that the rank holds
  /// The ranks that hold elements of `box`, ascending, and once for each box in which a rank does. Their number says
  /// what it costs.
  [[nodiscard]] std::vector<Overlap> overlaps(const Box& box) const;
  /// The rank that holds the element of this global index.
  [[nodiscard]] int owner(const Extents& index) const;

  /// Element strides of rank's local array along axes 0, 1, 2.
  [[nodiscard]] Extents strides(int rank) const;
  /// The same within one box, stored densely.
  [[nodiscard]] Extents strides_within(const Box& box) const;
  /// Global index of local element number `offset` (0 <= offset < volume(rank)), in memory order.
  [[nodiscard]] Extents global_index(int rank, Index offset) const;
  /// Global indices along an axis of the coordinates from `first` on.
  void indices(std::size_t axis, Index first, std::span<Index> out) const;
  [[nodiscard]] Index coordinate_of(std::size_t axis, Index index) const;
  /// Where local element number `offset` lies: `offset` itself, but for padding before it.
  [[nodiscard]] Index place(int rank, Index offset) const;
  /// Elements of rank's local array, padding among them.
  [[nodiscard]] Index memory_volume(int rank) const;
  [[nodiscard]] Index max_volume() const;  ///< largest volume over ranks
  [[nodiscard]] Index idle_ranks() const;  ///< that hold nothing

  [[nodiscard]] bool is_padded(std::size_t axis) const { return real_axis_ == axis; }
  [[nodiscard]] Index padding(int rank) const;
  [[nodiscard]] bool permutes() const;  ///< some axis has an order of its own

  /// Whether each rank's box is the same, by equal rules or equal lists. May say no for different rules that give
  /// equal boxes.
  [[nodiscard]] bool same_boxes(const Decomposition& other) const;
  [[nodiscard]] bool same_indices(const Decomposition& other) const;  ///< along every axis
  bool operator==(const Decomposition& other) const;

 private:
  friend Decomposition real_in_place_of(const Decomposition& complex, std::size_t axis, Index n);
  friend RedistributionGroup redistribution_group(const Decomposition& from, const Decomposition& to, int rank);
  struct Stretch {
    int rank = 0;  ///< what these coordinates add to the rank
    Range range;
  };
  void drop_single_dimensions();
  void check() const;
  [[nodiscard]] std::vector<int> coordinates(int rank) const;
  [[nodiscard]] int rank_stride(std::size_t dimension) const;
  [[nodiscard]] Index cut_extent(std::size_t axis) const;
  [[nodiscard]] int parts(const AxisCut::Level& level) const;
  [[nodiscard]] Range part_of(std::size_t axis, std::size_t level, const Range& whole, int part) const;
  [[nodiscard]] int part_with(std::size_t axis, std::size_t level, const Range& whole, Index coordinate) const;
  [[nodiscard]] Range range(std::size_t axis, const std::vector<int>& coordinates) const;
  [[nodiscard]] Index parts_with_elements(std::size_t axis, std::size_t level, Index size) const;
  void add_stretches(std::size_t axis, std::size_t level, const Range& whole, const Range& wanted, int rank,
                     std::vector<Stretch>& list) const;
  [[nodiscard]] Box complex_box(int rank) const;
  [[nodiscard]] Extents strides_of(const Extents& extents, Index padding) const;

  std::vector<int> grid_;
  static constexpr int any_coordinate = -1;
  std::vector<int> fixed_;  ///< the coordinate along each dimension that all ranks here share, or any_coordinate
  std::array<AxisCut, 3> cuts_;
  std::array<Index, 3> fields_{1, 1, 1};           ///< along each axis, what is cut as one index
  std::shared_ptr<const std::vector<Box>> boxes_;  ///< in place of all these
  std::shared_ptr<const Decomposition> pieces_;    ///< what is dealt, in place of all these
  Dealing dealing_;                                ///< how pieces_ are dealt
  std::optional<std::size_t> real_axis_;           ///< the boxes are then those of the complex data
};

/// Deal `shape` to a grid: axis a is cut in grid.extents[a] blocks (block_range). Boxes may be empty.
[[nodiscard]] Decomposition decompose(const Extents& shape, const Grid& grid);

/// The real data, n elements along `axis`, that lies in the place of complex data: two reals to a complex element.
/// Where `axis` is cut the cuts are the same; reals beyond n are padding. `axis` is the fastest of `complex` in memory,
/// but for axes of one element, and complex.shape[axis] is n / 2 + 1.
[[nodiscard]] Decomposition real_in_place_of(const Decomposition& complex, std::size_t axis, Index n);

/// The ranks among which elements move on the way from one decomposition to another: those that share all coordinates
/// which no such move changes. Both decompositions are then of these ranks alone, in ascending order.
struct RedistributionGroup {
  Decomposition from;
  Decomposition to;
  int first = 0;   ///< the lowest of the ranks: no other group has it
  int member = 0;  ///< the number of the asking rank within the group
};
/// The group of `rank`. With decompositions that have not the same process grid all ranks are one group.
[[nodiscard]] RedistributionGroup redistribution_group(const Decomposition& from, const Decomposition& to, int rank);

}  // namespace fourscore
