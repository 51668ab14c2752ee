#include "core/problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/message_of.hpp"

namespace fourscore {
namespace {

using test::message_of;
using testing::HasSubstr;

TEST(ParseShape, ReadsOneToThreeExtents) {
  EXPECT_EQ(parse_shape("128x96x100"), (std::vector<Index>{128, 96, 100}));
  EXPECT_EQ(parse_shape("7x1"), (std::vector<Index>{7, 1}));
  EXPECT_EQ(parse_shape("1"), (std::vector<Index>{1}));
}

TEST(ParseShape, RefusesWhatIsNoShapeAndNamesOptionValueAndExpectation) {
  for (const char* text :
       {"0x4x4", "128x", "x", "", "axb", "4x-4x4", "4x4x4x4", "4 x4", "4x4.0", "0x10", "+4", "4X4", "4xx4"}) {
    const std::string message = message_of([&] { (void)parse_shape(text, "--shape"); });
    EXPECT_THAT(message, HasSubstr("--shape"));
    EXPECT_THAT(message, HasSubstr(std::string("'").append(text).append("'")));
    EXPECT_THAT(message, HasSubstr("expected 1 to 3 extents"));
  }
}

TEST(ParseShape, RefusesExtentsAndProductsThatOverflow) {
  for (const char* text : {"99999999999999999999", "4294967296x4294967296x4294967296", "4294967296x4294967296",
                           "9223372036854775807x3", "288230376151711745"})
    EXPECT_THROW((void)parse_shape(text), InputError) << text;
  EXPECT_THAT(message_of([] { (void)parse_shape("4294967296x4294967296"); }), HasSubstr("overflows"));
  EXPECT_EQ(parse_shape("288230376151711744"), (std::vector<Index>{Index{1} << 58}));
}

TEST(ParseGrid, ReadsAutoAndExtents) {
  EXPECT_TRUE(parse_grid("auto").empty());
  EXPECT_EQ(parse_grid("2x4"), (std::vector<int>{2, 4}));
  EXPECT_THAT(message_of([] { (void)parse_grid("2x0", "--grid"); }), HasSubstr("--grid '2x0'"));
  EXPECT_THROW((void)parse_grid("65536x65536"), InputError);
  EXPECT_THROW((void)parse_grid("4294967296"), InputError);
}

TEST(ParseNames, EveryValueIsReadBackFromItsText) {
  for (const auto value : {Precision::double_precision, Precision::single_precision})
    EXPECT_EQ(parse_precision(to_string(value)), value);
  for (const auto value : {Direction::forward, Direction::backward})
    EXPECT_EQ(parse_direction(to_string(value)), value);
  for (const auto value : {LayoutContract::natural, LayoutContract::transposed})
    EXPECT_EQ(parse_layout(to_string(value)), value);
  for (const auto value : {Buffers::in_place, Buffers::out_of_place}) EXPECT_EQ(parse_buffers(to_string(value)), value);
  for (const auto value : {Placement::all, Placement::subset}) EXPECT_EQ(parse_placement(to_string(value)), value);
  for (const auto value : {Effort::estimate, Effort::measure, Effort::patient})
    EXPECT_EQ(parse_effort(to_string(value)), value);
  for (const auto value : {Kind::c2c, Kind::r2c})
    EXPECT_EQ(parse_kind_and_direction(to_string(value), std::nullopt).kind, value);
  EXPECT_EQ(to_string(Buffers::out_of_place), "out-of-place");
  EXPECT_EQ(to_string(Precision::single_precision), "single");
}

TEST(ParseNames, RefusalListsTheChoicesAndSuggestsTheNearest) {
  const std::string message = message_of([] { (void)parse_buffers("in_place", "--buffers"); });
  EXPECT_THAT(message, HasSubstr("--buffers 'in_place'"));
  EXPECT_THAT(message, HasSubstr("did you mean 'in-place'?"));
  EXPECT_THAT(message, HasSubstr("in-place, out-of-place"));
  EXPECT_THAT(message_of([] { (void)parse_kind_and_direction("r2r", std::nullopt); }),
              HasSubstr("one of c2c, r2c, c2r"));
}

TEST(ParseNames, C2rIsR2cBackward) {
  const auto c2r = parse_kind_and_direction("c2r", std::nullopt);
  EXPECT_EQ(c2r.kind, Kind::r2c);
  EXPECT_EQ(c2r.direction, Direction::backward);
  EXPECT_EQ(parse_kind_and_direction("c2r", "backward").direction, Direction::backward);
  EXPECT_EQ(parse_kind_and_direction("r2c", "backward").direction, Direction::backward);
  EXPECT_EQ(parse_kind_and_direction("r2c", std::nullopt).direction, Direction::forward);
  EXPECT_THAT(message_of([] { (void)parse_kind_and_direction("c2r", "forward", "--kind", "--direction"); }),
              testing::AllOf(HasSubstr("--kind 'c2r'"), HasSubstr("--direction is forward")));
}

TEST(Text, ShapesAndGridsAreReadBack) {
  EXPECT_EQ(shape_text({128, 96, 100}), "128x96x100");
  EXPECT_EQ(grid_text({}), "auto");
  EXPECT_EQ(grid_text({2, 4}), "2x4");
}

TEST(NearestName, ForgivesTyposAndNothingMore) {
  const std::vector<std::string> names{"slab", "pencil", "serial", "fftw-mpi", "pencil-overlap"};
  EXPECT_EQ(nearest_name("pencl", names), "pencil");
  EXPECT_EQ(nearest_name("slba", names), "slab");
  EXPECT_EQ(nearest_name("Pencil", names), "pencil");
  EXPECT_EQ(nearest_name("fftw_mpi", names), "fftw-mpi");
  EXPECT_EQ(nearest_name("volumetric", names), std::nullopt);
  EXPECT_EQ(nearest_name("", names), std::nullopt);
  EXPECT_EQ(nearest_name("slab", {}), std::nullopt);
}

TEST(Problem, PadsItsShapeAndCountsItsElements) {
  Problem problem;
  problem.shape = {6, 5};
  EXPECT_EQ(problem.extents(), (Extents{6, 5, 1}));
  EXPECT_EQ(problem.elements(), 30);
  EXPECT_EQ(problem.element_bytes(), 16U);
  EXPECT_DOUBLE_EQ(problem.credited_flops(), 5 * 30 * std::log2(30.0));
  problem.instances = 3;
  EXPECT_DOUBLE_EQ(problem.credited_flops(), 3 * 5 * 30 * std::log2(30.0));
  problem.instances = 1;
  problem.precision = Precision::single_precision;
  EXPECT_EQ(problem.element_bytes(), 8U);
  problem.kind = Kind::r2c;
  EXPECT_DOUBLE_EQ(problem.credited_flops(), 2.5 * 30 * std::log2(30.0));
  EXPECT_EQ(problem.input_extents(), (Extents{6, 5, 1}));
  EXPECT_EQ(problem.input_element_bytes(), 4U);
  EXPECT_EQ(problem.output_extents(), (Extents{6, 3, 1}));
  EXPECT_EQ(problem.output_element_bytes(), 8U);
  problem.direction = Direction::backward;
  EXPECT_EQ(problem.input_extents(), (Extents{6, 3, 1}));
  EXPECT_EQ(problem.output_extents(), (Extents{6, 5, 1}));
  problem.shape = {};
  EXPECT_THROW((void)problem.extents(), InputError);
}

}  // namespace
}  // namespace fourscore
