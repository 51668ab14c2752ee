#pragma once
// What is transformed and under which contract: with the variant, the exchange and the local library this is the
// identity of a measurement point. No MPI here.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/box.hpp"
#include "core/errors.hpp"
#include "core/grid.hpp"
#include "core/nearest.hpp"
#include "core/other_work.hpp"

namespace fourscore {

/// A process grid that the variant cannot deal to the ranks. fft_bench refuses it; in a suite, which may ask for many
/// rank counts at once, the point is skipped.
struct GridError : InputError {
  using InputError::InputError;
};

enum class Precision { double_precision, single_precision };  // "double", "single"
/// r2c: real in space and, being Hermitian, half a spectrum in frequency: the last extent n becomes n/2 + 1. Forward it
/// goes from space to frequency; backward it is what others call c2r.
enum class Kind { c2c, r2c };
/// roundtrip: forward, then backward from where forward left off. It gives N times its input back. convolution: the
/// same, with the product of an operator (interfaces/pointwise_operator.hpp) and the spectrum between them.
enum class Direction { forward, backward, roundtrip, convolution };
/// Whether it ends where it began, in space.
[[nodiscard]] constexpr bool goes_back(Direction direction) {
  return direction == Direction::roundtrip || direction == Direction::convolution;
}
enum class LayoutContract { natural, transposed };
enum class Buffers { in_place, out_of_place };  // "in-place", "out-of-place"
/// Where several instances run: each over all ranks, or each on its own subset of them. One instance: all.
enum class Placement { all, subset };  // "all", "subset"
/// How several fields of one problem are transformed. together: by one plan, each message with all fields. in_turn: one
/// after another. pipelined: part by part, so that one computes while messages of another are on their way.
enum class FieldOrder { together, in_turn, pipelined };  // "together", "in-turn", "pipelined"
/// How ranks follow each other over nodes. block: node by node. cyclic: rank r is on node r mod nodes. socket: block
/// over nodes, in turn over the sockets of each. irregular: none of these, and not to be asked for.
enum class RankPlacement { block, cyclic, socket, irregular };
/// Which host of a simulated network each node is. row_major: in the order of the network. The others:
/// drivers/simulation.
enum class HostOrder { row_major, random, sub_cube, hilbert };  // "row-major", "random", "sub-cube", "hilbert"
enum class Effort { estimate, measure, patient };
/// What messages of exchanges hold. as_is: the data as it is. single: data of double precision, rounded to single. zfp:
/// data of double precision, compressed to the bits that the parameter zfp-rate says.
enum class Wire { as_is, single, zfp };  // "as-is", "single", "zfp"

/// natural: output decomposed as the input. transposed: output left as the method leaves it; backward transforms then
/// start there. Transforms are never normalised: backward(forward(x)) = N x. Out of place, the input may be
/// overwritten.
struct Contract {
  LayoutContract layout = LayoutContract::transposed;
  Buffers buffers = Buffers::in_place;
  Effort effort = Effort::measure;
  bool operator==(const Contract&) const = default;
};

/// The operator of a convolution that names none.
inline constexpr std::string_view default_operator = "scale";

/// What a point may ask for: beyond are slips of the pen.
inline constexpr int max_ranks = 1 << 24;
inline constexpr int max_threads = 4096;    ///< a rank
inline constexpr int all_ranks = 0;         ///< Problem::active_ranks, as is ...
inline constexpr int auto_ranks = -1;       ///< ... as many as the variant's cost suggests
inline constexpr int max_instances = 1024;  ///< each has communicators of its own, of which MPI has few
inline constexpr int max_fields = 64;       ///< in turn each has communicators of its own too

struct Problem {
  std::vector<Index> shape;  ///< 1 to 3 extents, slowest in memory first
  Precision precision = Precision::double_precision;
  Kind kind = Kind::c2c;
  Direction direction = Direction::forward;
  std::string operator_name{};   ///< the product of a convolution; empty: not asked for
  std::vector<int> grid;         ///< process grid; empty: chosen by the variant
  int active_ranks = all_ranks;  ///< that transform, of an instance's ranks; the others only hold data
  int threads = 1;               ///< threads per rank, for the local FFT
  int instances = 1;             ///< transforms at once
  Placement placement = Placement::all;
  int fields = 1;  ///< arrays of this shape that are transformed in each instance
  FieldOrder field_order = FieldOrder::together;
  WorkBeside other_work;  ///< each rank does it, beside all its transforms
  Contract contract;
  Wire wire = Wire::as_is;
  std::map<std::string, std::string> parameters;  ///< a variant's own options

  [[nodiscard]] Extents extents() const;            ///< shape padded with trailing ones
  [[nodiscard]] Index elements() const;             ///< product of the shape
  [[nodiscard]] std::size_t element_bytes() const;  ///< size of a complex element: 16 or 8
  /// 5 N log2 N, for r2c 2.5 N log2 N; there and once back, of all fields and instances.
  [[nodiscard]] double credited_flops() const;

  [[nodiscard]] std::size_t last_axis() const { return shape.size() - 1; }  ///< the one that r2c halves
  [[nodiscard]] Extents complex_extents() const;                            ///< extents() of the complex data
  [[nodiscard]] bool real_input() const { return kind == Kind::r2c && direction != Direction::backward; }
  [[nodiscard]] bool real_output() const { return kind == Kind::r2c && direction != Direction::forward; }
  [[nodiscard]] Extents input_extents() const { return real_input() ? extents() : complex_extents(); }
  [[nodiscard]] Extents output_extents() const { return real_output() ? extents() : complex_extents(); }
  [[nodiscard]] std::size_t input_element_bytes() const { return element_bytes() / (real_input() ? 2 : 1); }
  [[nodiscard]] std::size_t output_element_bytes() const { return element_bytes() / (real_output() ? 2 : 1); }
  bool operator==(const Problem&) const = default;
};
/// One half of a round trip: the problem in a direction of its own. The halves of a convolution have its operator's
/// name, and nothing else has in these directions.
[[nodiscard]] Problem in_direction(const Problem& problem, Direction direction);

/// One of its fields.
[[nodiscard]] Problem one_field(const Problem& problem);
/// One field has no order: equal work is one point.
void normalise_fields(Problem& problem);

/// In the place of an exchange, or of a grid: the launch tries them all, and takes the fastest.
inline constexpr std::string_view tuned_word = "tuned";

/// A Problem with who solves it: one point of a suite. Or, where `component` names a program of drivers/components, a
/// component alone: then ranks and problem.parameters say what is measured, and nothing else counts.
struct Point {
  std::string component;
  std::string variant;
  /// "none" for variants that take none; empty: the variant's default, not yet resolved; tuned_word.
  std::string exchange{};
  std::string local_fft = "fftw";
  int ranks = 1;
  int nodes = 1;  ///< that the ranks are on
  RankPlacement placement_of_ranks = RankPlacement::block;
  std::string platform = "none";  ///< the simulated machine; "none": the ranks run on real ones
  HostOrder host_order = HostOrder::row_major;
  Problem problem;
  bool grid_is_tuned = false;  ///< problem.grid, then empty, is chosen by measurement
  bool operator==(const Point&) const = default;
};

[[nodiscard]] inline bool is_tuned(const Point& point) { return point.exchange == tuned_word || point.grid_is_tuned; }

/// Ranks on the node that has most of them.
[[nodiscard]] int ranks_per_node(const Point& point);
/// On one node, and with one rank on each, cyclic is block: equal launches are one point.
void normalise_placement(Point& point);

/// Parsers throw InputError naming `what` (an option or key), the value and what is expected; shapes are checked
/// for zero extents and for products beyond 2^62 bytes.
[[nodiscard]] std::vector<Index> parse_shape(std::string_view text, std::string_view what = "shape");
[[nodiscard]] std::vector<int> parse_grid(std::string_view text, std::string_view what = "grid");  // "auto" -> empty
[[nodiscard]] Precision parse_precision(std::string_view text, std::string_view what = "precision");
/// A kind, or "c2r", another name of r2c backward. `direction`: what was asked for, if anything; else forward, but for
/// c2r. Throws InputError also where the two contradict each other.
struct KindAndDirection {
  Kind kind = Kind::c2c;
  Direction direction = Direction::forward;
};
[[nodiscard]] KindAndDirection parse_kind_and_direction(std::string_view kind,
                                                        std::optional<std::string_view> direction,
                                                        std::string_view kind_what = "kind",
                                                        std::string_view direction_what = "direction");
[[nodiscard]] Direction parse_direction(std::string_view text, std::string_view what = "direction");
[[nodiscard]] LayoutContract parse_layout(std::string_view text, std::string_view what = "layout");
[[nodiscard]] Buffers parse_buffers(std::string_view text, std::string_view what = "buffers");
[[nodiscard]] Placement parse_placement(std::string_view text, std::string_view what = "placement");
[[nodiscard]] FieldOrder parse_field_order(std::string_view text, std::string_view what = "field_order");
[[nodiscard]] WorkLoad parse_work_load(std::string_view text, std::string_view what = "other_work_load");
[[nodiscard]] WorkPlace parse_work_place(std::string_view text, std::string_view what = "other_work_place");
[[nodiscard]] RankPlacement parse_rank_placement(std::string_view text, std::string_view what = "placement_of_ranks");
[[nodiscard]] HostOrder parse_host_order(std::string_view text, std::string_view what = "host_order");
[[nodiscard]] Effort parse_effort(std::string_view text, std::string_view what = "planner");
[[nodiscard]] Wire parse_wire(std::string_view text, std::string_view what = "wire");

[[nodiscard]] std::string to_string(Precision);
[[nodiscard]] std::string to_string(Kind);
[[nodiscard]] std::string to_string(Direction);
[[nodiscard]] std::string to_string(LayoutContract);
[[nodiscard]] std::string to_string(Buffers);
[[nodiscard]] std::string to_string(Placement);
[[nodiscard]] std::string to_string(FieldOrder);
[[nodiscard]] std::string to_string(WorkLoad);
[[nodiscard]] std::string to_string(WorkPlace);
[[nodiscard]] std::string to_string(RankPlacement);
[[nodiscard]] std::string to_string(HostOrder);
[[nodiscard]] std::string to_string(Effort);
[[nodiscard]] std::string to_string(Wire);
/// "128x96x100"
[[nodiscard]] std::string shape_text(const std::vector<Index>& shape);
[[nodiscard]] std::string grid_text(const std::vector<int>& grid);  // "auto" when empty

}  // namespace fourscore
