#include "harness/environment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>
#include <vector>

namespace fourscore {
namespace {

TEST(EnvironmentOfARecord, HoldsSettingsByTheirNames) {
  for (const char* name : {"OMP_NUM_THREADS", "OMPI_MCA_btl", "UCX_TLS", "FI_PROVIDER", "SLURM_CPU_BIND",
                           "MPIR_CVAR_CH4_NETMOD", "I_MPI_FABRICS", "MKL_NUM_THREADS", "HWLOC_SYNTHETIC"})
    EXPECT_TRUE(is_kept_variable(name)) << name;
}

/// Whatever a site calls its own variables, and in whatever case.
TEST(EnvironmentOfARecord, HoldsNothingElseHoweverItIsCalled) {
  std::vector<std::string> names{"PATH", "HOME", "SLURM_JWT", "omp_num_threads", "Omp_Num_Threads", ""};
  for (const std::string prefix : {"", "OMP_", "SLURM_", "OMPI_MCA_", "OMPI_MCA_btl_", "UCX_", "FI_", "I_MPI_", "MKL_",
                                   "FFTW", "MPICH_", "MPIR_CVAR_", "FOURSCORE_", "HWLOC_"})
    for (const std::string word : {"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS",
                                   "AUTH", "APIKEY", "API_KEY", "KEY", "JWT", "COOKIE", "PROXY", "URL", "USER"}) {
      std::string lower = word;
      std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
      names.push_back(prefix + word);
      names.push_back(prefix + lower);
      names.push_back(prefix + "MY_" + lower);
    }
  for (const std::string& name : names) EXPECT_FALSE(is_kept_variable(name)) << name;
}

TEST(EnvironmentOfARecord, LeavesOutWhoAnAddressBelongsTo) {
  EXPECT_EQ(kept_value("close"), "close");
  EXPECT_EQ(kept_value("https://host/path"), "https://host/path");
  for (const char* value : {"https://me:do-not-tell@host:80/x", "me:do-not-tell@host", "http://a:do-not/tell@host",
                            "ssh://do-not-tell@one,https://me:do-not-tell@two"})
    EXPECT_EQ(kept_value(value).find("tell"), std::string::npos) << value;
  EXPECT_EQ(kept_value("https://me:do-not-tell@host:80/x"), "***@host:80/x");
}

TEST(EnvironmentOfARecord, IsThatOfThisProcess) {
  ::setenv("OMP_PLACES", "cores", 1);
  ::setenv("UCX_TLS", "tcp://me:do-not-tell@host", 1);
  ::setenv("SLURM_MY_PASSPHRASE", "do-not-tell", 1);
  const nlohmann::json kept = environment_that_matters();
  EXPECT_EQ(kept.at("OMP_PLACES"), "cores");
  EXPECT_EQ(kept.at("UCX_TLS"), "***@host");
  EXPECT_EQ(kept.dump().find("do-not-tell"), std::string::npos);
  EXPECT_FALSE(kept.contains("PATH"));
}

}  // namespace
}  // namespace fourscore
