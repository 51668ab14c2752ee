#include <gtest/gtest.h>

#include "hwcounters/arch.hpp"
#include "hwcounters/group.hpp"

namespace fourscore {
namespace {

std::string x86(const std::string& vendor, int family, int model, int stepping) {
  return "processor\t: 0\nvendor_id\t: " + vendor + "\ncpu family\t: " + std::to_string(family) +
         "\nmodel\t\t: " + std::to_string(model) +
         "\nmodel name\t: some name 6154\nstepping\t: " + std::to_string(stepping) +
         "\n\nprocessor\t: 1\nvendor_id\t: Other\ncpu family\t: 1\nmodel\t\t: 1\n";
}

std::string arm(const std::string& implementer, const std::string& part) {
  return "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\nCPU implementer\t: " + implementer +
         "\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: " + part + "\nCPU revision\t: 1\n";
}

TEST(Microarchitecture, OfIntel) {
  EXPECT_EQ(microarchitecture_of(x86("GenuineIntel", 6, 85, 4)), "intel-skylake-sp");
  EXPECT_EQ(microarchitecture_of(x86("GenuineIntel", 6, 85, 7)), "intel-skylake-sp") << "Cascade Lake counts alike";
  EXPECT_EQ(microarchitecture_of(x86("GenuineIntel", 6, 106, 6)), "intel-ice-lake-sp");
  EXPECT_EQ(microarchitecture_of(x86("GenuineIntel", 6, 143, 8)), "intel-sapphire-rapids");
  EXPECT_EQ(microarchitecture_of(x86("GenuineIntel", 6, 207, 2)), "intel-emerald-rapids");
  EXPECT_EQ(microarchitecture_of(x86("GenuineIntel", 6, 173, 1)), "intel-granite-rapids");
  EXPECT_EQ(microarchitecture_of(x86("GenuineIntel", 6, 158, 10)), "unknown") << "a desktop has other counters";
}

TEST(Microarchitecture, OfAmd) {
  EXPECT_EQ(microarchitecture_of(x86("AuthenticAMD", 23, 1, 2)), "unknown") << "the first Zen";
  EXPECT_EQ(microarchitecture_of(x86("AuthenticAMD", 23, 49, 0)), "amd-zen2");
  EXPECT_EQ(microarchitecture_of(x86("AuthenticAMD", 25, 1, 1)), "amd-zen3");
  EXPECT_EQ(microarchitecture_of(x86("AuthenticAMD", 25, 17, 1)), "amd-zen4");
  EXPECT_EQ(microarchitecture_of(x86("AuthenticAMD", 25, 160, 2)), "amd-zen4") << "Zen 4c";
  EXPECT_EQ(microarchitecture_of(x86("AuthenticAMD", 26, 2, 1)), "amd-zen5");
  EXPECT_EQ(microarchitecture_of(x86("AuthenticAMD", 26, 80, 1)), "unknown");
}

TEST(Microarchitecture, OfArm) {
  EXPECT_EQ(microarchitecture_of(arm("0x41", "0xd0c")), "arm-neoverse-n1");
  EXPECT_EQ(microarchitecture_of(arm("0x41", "0xd40")), "arm-neoverse-v1");
  EXPECT_EQ(microarchitecture_of(arm("0x41", "0xd4f")), "arm-neoverse-v2");
  EXPECT_EQ(microarchitecture_of(arm("0x46", "0xd0c")), "unknown") << "another implementer's part";
}

TEST(Microarchitecture, OfAnUnknownProcessor) {
  EXPECT_EQ(microarchitecture_of(""), "unknown");
  EXPECT_EQ(microarchitecture_of("vendor_id\t: GenuineIntel\ncpu family\t: six\nmodel\t\t: \n"), "unknown");
  EXPECT_FALSE(microarchitecture().empty());
}

}  // namespace
}  // namespace fourscore
