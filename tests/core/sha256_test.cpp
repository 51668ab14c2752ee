#include "core/sha256.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "support/message_of.hpp"

namespace fourscore {
namespace {

// FIPS 180-2, appendix B.
TEST(Sha256, AgreesWithThePublishedVectors) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, OfAFileIsThatOfItsContent) {
  const auto path = std::filesystem::path(testing::TempDir()) / "fourscore-sha256-test";
  const std::string content(200'000, 'x');
  std::ofstream(path, std::ios::binary) << content;
  EXPECT_EQ(sha256_file(path), sha256_hex(content));
  std::filesystem::remove(path);
}

TEST(Sha256, OfAFileThatIsNotThereIsAnErrorThatNamesIt) {
  EXPECT_THAT(test::message_of<std::system_error>([] { return sha256_file("/proc/nowhere/at-all"); }),
              testing::HasSubstr("/proc/nowhere/at-all"));
}

std::string samples_of(const std::string& content) {
  const auto path = std::filesystem::path(testing::TempDir()) / "fourscore-sha256-samples-test";
  std::ofstream(path, std::ios::binary) << content;
  const std::string hash = sha256_of_samples(path);
  std::filesystem::remove(path);
  return hash;
}

TEST(Sha256, OfSamplesSeesTheEndsTheSizeAndWhateverMovesTheRest) {
  std::string content;
  for (int i = 0; i < 200'000; ++i) content += static_cast<char>('a' + i * 7 % 26 + i / 4096);
  const std::string hash = samples_of(content);
  EXPECT_EQ(hash.substr(0, 15), "samples-sha256:");
  EXPECT_EQ(hash.size(), 15 + 64);
  EXPECT_EQ(samples_of(content), hash);
  for (const std::size_t place : {std::size_t{0}, content.size() - 1}) {
    std::string changed = content;
    changed[place] ^= 1;
    EXPECT_NE(samples_of(changed), hash) << place;
  }
  std::string longer = content;
  longer.insert(5000, "x");
  EXPECT_NE(samples_of(longer), hash);
  std::string moved = longer;
  moved.pop_back();  // the same size
  EXPECT_NE(samples_of(moved), hash);
  EXPECT_NE(samples_of(std::string(10, 'a')), samples_of(std::string(11, 'a')));  // shorter than a block
  EXPECT_THROW((void)sha256_of_samples("/proc/nowhere/at-all"), std::system_error);
}

}  // namespace
}  // namespace fourscore
