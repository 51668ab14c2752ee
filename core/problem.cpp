#include "core/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "core/did_you_mean.hpp"

namespace fourscore {

namespace {

/// Element size of double precision: a shape is refused when it could not be held in either precision.
constexpr Index largest_element_bytes = 16;
constexpr Index max_elements = (Index{1} << 62) / largest_element_bytes;

[[noreturn]] void refuse(std::string_view what, std::string_view text, std::string_view expected) {
  throw InputError(fmt::format("{} '{}': {}", what, text, expected));
}

/// Positive integers joined by 'x', at most three.
std::vector<Index> parse_factors(std::string_view text, std::string_view what, std::string_view expected) {
  std::vector<Index> result;
  std::string_view rest = text;
  while (true) {
    const std::size_t cut = rest.find('x');
    const std::string_view part = rest.substr(0, cut);
    Index value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error == std::errc::result_out_of_range)
      refuse(what, text, fmt::format("the extent {} is too large; expected {}", part, expected));
    if (error != std::errc{} || end != part.data() + part.size())
      refuse(what, text, fmt::format("'{}' is not a positive integer; expected {}", part, expected));
    if (value <= 0) refuse(what, text, fmt::format("the extent {} is below 1; expected {}", part, expected));
    result.push_back(value);
    if (cut == std::string_view::npos) break;
    rest.remove_prefix(cut + 1);
  }
  if (result.size() > 3) refuse(what, text, fmt::format("{} extents; expected {}", result.size(), expected));
  return result;
}

template <class T, std::size_t N>
using Names = std::array<std::pair<std::string_view, T>, N>;

constexpr Names<Precision, 2> precisions{
    {{"double", Precision::double_precision}, {"single", Precision::single_precision}}};
constexpr Names<Kind, 2> kinds{{{"c2c", Kind::c2c}, {"r2c", Kind::r2c}}};
/// As asked for: with whether the name itself says backward.
constexpr Names<std::pair<Kind, bool>, 3> asked_kinds{
    {{"c2c", {Kind::c2c, false}}, {"r2c", {Kind::r2c, false}}, {"c2r", {Kind::r2c, true}}}};
constexpr Names<Direction, 4> directions{{{"forward", Direction::forward},
                                          {"backward", Direction::backward},
                                          {"roundtrip", Direction::roundtrip},
                                          {"convolution", Direction::convolution}}};
constexpr Names<LayoutContract, 2> layouts{
    {{"natural", LayoutContract::natural}, {"transposed", LayoutContract::transposed}}};
constexpr Names<Buffers, 2> buffer_names{{{"in-place", Buffers::in_place}, {"out-of-place", Buffers::out_of_place}}};
constexpr Names<Placement, 2> placement_names{{{"all", Placement::all}, {"subset", Placement::subset}}};
constexpr Names<FieldOrder, 3> field_orders{
    {{"together", FieldOrder::together}, {"in-turn", FieldOrder::in_turn}, {"pipelined", FieldOrder::pipelined}}};
constexpr Names<WorkLoad, 2> work_loads{{{"compute", WorkLoad::compute}, {"memory", WorkLoad::memory}}};
constexpr Names<WorkPlace, 2> work_places{{{"between", WorkPlace::between}, {"during", WorkPlace::during}}};
constexpr Names<RankPlacement, 4> rank_placements{{{"block", RankPlacement::block},
                                                   {"cyclic", RankPlacement::cyclic},
                                                   {"socket", RankPlacement::socket},
                                                   {"irregular", RankPlacement::irregular}}};
constexpr Names<HostOrder, 4> host_orders{{{"row-major", HostOrder::row_major},
                                           {"random", HostOrder::random},
                                           {"sub-cube", HostOrder::sub_cube},
                                           {"hilbert", HostOrder::hilbert}}};
constexpr Names<Effort, 3> efforts{
    {{"estimate", Effort::estimate}, {"measure", Effort::measure}, {"patient", Effort::patient}}};

constexpr Names<Wire, 3> wires{{{"as-is", Wire::as_is}, {"single", Wire::single}, {"zfp", Wire::zfp}}};

template <class T, std::size_t N>
T parse_name(const Names<T, N>& names, std::string_view text, std::string_view what) {
  std::string expected;
  std::vector<std::string> candidates;
  for (const auto& [name, value] : names) {
    if (name == text) return value;
    expected += fmt::format("{}{}", expected.empty() ? "" : ", ", name);
    candidates.emplace_back(name);
  }
  throw InputError(fmt::format("{} '{}'{}: expected {}{}", what, text, did_you_mean(text, candidates),
                               N > 1 ? "one of " : "", expected));
}

template <class T, std::size_t N>
std::string name_of(const Names<T, N>& names, T value) {
  for (const auto& [name, known] : names)
    if (known == value) return std::string(name);
  throw std::logic_error("an enumerator without a name");
}

template <class T>
std::string joined(const std::vector<T>& factors) {
  return fmt::format("{}", fmt::join(factors, "x"));
}

}  // namespace

Extents Problem::extents() const {
  if (shape.empty() || shape.size() > 3)
    throw InputError(fmt::format("shape has {} extents; expected 1 to 3", shape.size()));
  Extents result{1, 1, 1};
  std::ranges::copy(shape, result.begin());
  return result;
}

Index Problem::elements() const {
  const Extents e = extents();
  return e[0] * e[1] * e[2];
}

std::size_t Problem::element_bytes() const { return precision == Precision::double_precision ? 16 : 8; }

double Problem::credited_flops() const {
  const auto n = static_cast<double>(elements());
  const int transforms = instances * fields * (goes_back(direction) ? 2 : 1);
  return transforms * (kind == Kind::r2c ? 2.5 : 5.0) * n * std::log2(n);
}

Problem in_direction(const Problem& problem, Direction direction) {
  Problem result = problem;
  result.direction = direction;
  return result;
}

Problem one_field(const Problem& problem) {
  Problem one = problem;
  one.fields = 1;
  normalise_fields(one);
  return one;
}

void normalise_fields(Problem& problem) {
  if (problem.fields == 1) problem.field_order = FieldOrder::together;
}

Extents Problem::complex_extents() const {
  Extents result = extents();
  if (kind == Kind::r2c) result[last_axis()] = result[last_axis()] / 2 + 1;
  return result;
}

std::vector<Index> parse_shape(std::string_view text, std::string_view what) {
  auto shape = parse_factors(text, what, "1 to 3 extents of at least 1 joined by x, as 128x96x100");
  Index product = 1;
  for (const Index extent : shape) {
    if (extent > max_elements / product)
      refuse(what, text,
             fmt::format("the product overflows; expected at most 2^62 bytes, that is {} elements", max_elements));
    product *= extent;
  }
  return shape;
}

std::vector<int> parse_grid(std::string_view text, std::string_view what) {
  if (text == "auto") return {};
  const std::string_view expected = "auto, or 1 to 3 extents of at least 1 joined by x, as 2x4";
  std::vector<int> grid;
  Index product = 1;
  for (const Index extent : parse_factors(text, what, expected)) {
    if (extent > std::numeric_limits<int>::max() / product)
      refuse(what, text, fmt::format("more ranks than MPI can count; expected {}", expected));
    product *= extent;
    grid.push_back(static_cast<int>(extent));
  }
  return grid;
}

Precision parse_precision(std::string_view text, std::string_view what) { return parse_name(precisions, text, what); }
Direction parse_direction(std::string_view text, std::string_view what) { return parse_name(directions, text, what); }
LayoutContract parse_layout(std::string_view text, std::string_view what) { return parse_name(layouts, text, what); }
Buffers parse_buffers(std::string_view text, std::string_view what) { return parse_name(buffer_names, text, what); }
Placement parse_placement(std::string_view text, std::string_view what) {
  return parse_name(placement_names, text, what);
}
FieldOrder parse_field_order(std::string_view text, std::string_view what) {
  return parse_name(field_orders, text, what);
}
WorkLoad parse_work_load(std::string_view text, std::string_view what) { return parse_name(work_loads, text, what); }
WorkPlace parse_work_place(std::string_view text, std::string_view what) { return parse_name(work_places, text, what); }
RankPlacement parse_rank_placement(std::string_view text, std::string_view what) {
  return parse_name(rank_placements, text, what);
}
HostOrder parse_host_order(std::string_view text, std::string_view what) { return parse_name(host_orders, text, what); }
Effort parse_effort(std::string_view text, std::string_view what) { return parse_name(efforts, text, what); }
Wire parse_wire(std::string_view text, std::string_view what) { return parse_name(wires, text, what); }

KindAndDirection parse_kind_and_direction(std::string_view kind, std::optional<std::string_view> direction,
                                          std::string_view kind_what, std::string_view direction_what) {
  const auto [asked, backward] = parse_name(asked_kinds, kind, kind_what);
  KindAndDirection result{asked, backward ? Direction::backward : Direction::forward};
  if (!direction) return result;
  result.direction = parse_direction(*direction, direction_what);
  if (backward && result.direction != Direction::backward)
    refuse(kind_what, kind,
           fmt::format("it is r2c backward, but {} is {}; expected r2c, or {} backward", direction_what, *direction,
                       direction_what));
  return result;
}

std::string to_string(Precision value) { return name_of(precisions, value); }
std::string to_string(Kind value) { return name_of(kinds, value); }
std::string to_string(Direction value) { return name_of(directions, value); }
std::string to_string(LayoutContract value) { return name_of(layouts, value); }
std::string to_string(Buffers value) { return name_of(buffer_names, value); }
std::string to_string(Placement value) { return name_of(placement_names, value); }
std::string to_string(FieldOrder value) { return name_of(field_orders, value); }
std::string to_string(WorkLoad value) { return name_of(work_loads, value); }
std::string to_string(WorkPlace value) { return name_of(work_places, value); }
std::string to_string(RankPlacement value) { return name_of(rank_placements, value); }
std::string to_string(HostOrder value) { return name_of(host_orders, value); }
std::string to_string(Effort value) { return name_of(efforts, value); }
std::string to_string(Wire value) { return name_of(wires, value); }

void normalise_placement(Point& point) {
  if (point.placement_of_ranks == RankPlacement::cyclic && (point.nodes == 1 || point.nodes == point.ranks))
    point.placement_of_ranks = RankPlacement::block;
}

int ranks_per_node(const Point& point) { return (point.ranks + point.nodes - 1) / point.nodes; }

std::string shape_text(const std::vector<Index>& shape) { return joined(shape); }
std::string grid_text(const std::vector<int>& grid) { return grid.empty() ? "auto" : joined(grid); }

}  // namespace fourscore
