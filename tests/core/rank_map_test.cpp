#include "core/rank_map.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "core/dealing.hpp"
#include "support/message_of.hpp"

namespace fourscore {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RankMapTest : public testing::Test {
 protected:
  std::string value_of(const std::string& text) {
    std::ofstream(file_) << text;
    return "file:" + file_.string();
  }
  void TearDown() override { std::filesystem::remove(file_); }
  std::filesystem::path file_ = std::filesystem::path(testing::TempDir()) / "rank_map_test.map";
};

TEST_F(RankMapTest, IsKnownByItsContent) {
  const std::string known = read_rank_map(value_of("0\n2\n\n 1\n"), "dealing");
  EXPECT_THAT(known, HasSubstr("rank_map_test.map#"));
  EXPECT_THAT(rank_map(known), ElementsAre(0, 2, 1));
  EXPECT_EQ(read_rank_map(known, "dealing"), known);
  const std::string other = read_rank_map(value_of("0\n2\n2\n"), "dealing");
  EXPECT_NE(other, known);
  EXPECT_THAT(rank_map(known), ElementsAre(0, 2, 1));
  EXPECT_THROW((void)read_rank_map(known, "dealing"), InputError);  // the file has changed since
  EXPECT_THROW((void)rank_map("file:nobody.map"), InputError);
}

TEST_F(RankMapTest, RefusesWhatIsNoRank) {
  for (const char* text : {"0\nx\n", "0\n-1\n", "0 1\n", "1.5\n", "99999999\n"})
    EXPECT_THAT(test::message_of([&] { return read_rank_map(value_of(text), "dealing"); }),
                testing::AllOf(HasSubstr("dealing"), HasSubstr("line"), HasSubstr("is no rank")));
  EXPECT_THROW((void)read_rank_map("file:/proc/nowhere", "dealing"), InputError);
}

TEST(Dealing, ListedPiecesAreThoseOfTheList) {
  const Dealing dealing = Dealing::listed({2, 0, 2, 1, 2}, 4);
  for (Index piece = 0; piece < 5; ++piece) {
    const int owner = dealing.owner(piece);
    bool found = false;
    for (Index i = 0; i < dealing.count(owner); ++i) found = found || dealing.piece(owner, i) == piece;
    EXPECT_TRUE(found) << piece;
  }
  EXPECT_THAT((std::vector{dealing.count(0), dealing.count(1), dealing.count(2), dealing.count(3)}),
              ElementsAre(1, 1, 3, 0));
  EXPECT_EQ(dealing, Dealing::listed({2, 0, 2, 1, 2}, 4));
  EXPECT_NE(dealing, Dealing::listed({2, 0, 2, 1, 1}, 4));
  EXPECT_THROW((void)Dealing::listed({0, 4}, 4), std::invalid_argument);
}

TEST(Dealing, SpreadPiecesAreFarApart) {
  for (const int ranks : {1, 2, 3, 5, 8, 13})
    for (int pieces = 1; pieces <= ranks; ++pieces) {
      const Dealing dealing{Dealing::Rule::spread, pieces, ranks};
      Index dealt = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        ASSERT_GE(dealing.count(rank), 0);
        ASSERT_LE(dealing.count(rank), 1);
        if (dealing.count(rank) == 0) continue;
        EXPECT_EQ(dealing.piece(rank, 0), dealt++);
        EXPECT_EQ(dealing.owner(dealing.piece(rank, 0)), rank);
      }
      EXPECT_EQ(dealt, pieces);
      EXPECT_EQ(dealing.owner(0), 0);
    }
}

}  // namespace
}  // namespace fourscore
