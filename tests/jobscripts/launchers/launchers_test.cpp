// The nodes that a launch takes, where its caller chooses them.

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "jobscripts/launchers/launcher.hpp"
#include "jobscripts/launchers/mpirun/mpirun.hpp"
#include "tests/support/folder_test.hpp"

namespace fourscore {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const Launcher& launcher(const std::string& name) { return *LauncherRegistry::instance().find(name); }

LaunchRequest on_two_nodes(std::vector<std::string> hosts) {
  LaunchRequest request;
  request.ranks = 4;
  request.nodes = 2;
  request.hosts = std::move(hosts);
  request.program = {"program"};
  return request;
}

LauncherOptions with_line(const std::string& line) {
  LauncherOptions options;
  options.cores = 2;
  options.machine.launcher = "template";
  options.machine.launch_line = line;
  return options;
}

/// srun is asked once what it can, so it must be there when it is.
class WithSrun : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto folder = std::filesystem::temp_directory_path() / ("launchers_test." + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    std::ofstream(folder / "srun") << "#!/bin/sh\necho none pmi2 pmix --exact\n";
    std::filesystem::permissions(folder / "srun", std::filesystem::perms::owner_all);
    const char* path = std::getenv("PATH");
    ::setenv("PATH", (folder.string() + ":" + (path == nullptr ? "" : path)).c_str(), 1);
    folder_ = folder;
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder_); }

 private:
  inline static std::filesystem::path folder_;
};

TEST_F(WithSrun, SrunTakesTheNodesThatAreNamed) {
  LauncherOptions options;
  options.cores = 2;
  EXPECT_THAT(launcher("srun").command(options, on_two_nodes({"n3", "n1"})).argv, Contains("--nodelist=n3,n1"));
  EXPECT_THAT(launcher("srun").command(options, on_two_nodes({})).argv, Not(Contains(StartsWith("--nodelist"))));
}

TEST_F(WithSrun, SrunRefusesMoreOrFewerNodesThanAreNamed) {
  EXPECT_THAT(launcher("srun").refuses({}, on_two_nodes({"n1"})).value_or(""),
              HasSubstr("1 hosts are named for 2 nodes"));
}

TEST(Template, TakesTheNodesThatAreNamedWhereItsLineHasAPlaceForThem) {
  const auto options = with_line("run --hosts={hosts} -n {ranks} {program}");
  EXPECT_EQ(launcher("template").refuses(options, on_two_nodes({"n3", "n1"})), std::nullopt);
  EXPECT_THAT(launcher("template").command(options, on_two_nodes({"n3", "n1"})).argv, Contains("--hosts=n3,n1"));
}

TEST(Template, RefusesNamedNodesWithoutAPlaceForThem) {
  const auto options = with_line("run -N {nodes} -n {ranks} {program}");
  EXPECT_THAT(launcher("template").refuses(options, on_two_nodes({"n3", "n1"})).value_or(""), HasSubstr("{hosts}"));
  EXPECT_EQ(launcher("template").refuses(options, on_two_nodes({})), std::nullopt);
}

TEST(Launchers, SayWhichNodesTheyCannotStartOn) {
  EXPECT_THAT(launcher("local").refuses({}, on_two_nodes({})).value_or(""),
              AllOf(HasSubstr("this node alone"), HasSubstr("2")));
  EXPECT_THAT(launcher("template").refuses({}, on_two_nodes({})).value_or(""), HasSubstr("machine file"));
}

/// Files that answer --version as the mpirun of each MPI does, named as a launch line has them.
class WithMpiruns : public FolderTest {
 protected:
  WithMpiruns() {
    for (const auto& [name, says] :
         {std::pair{"mpirun-o", "mpirun (Open MPI) 4.1.4"}, std::pair{"mpiexec-h", "HYDRA build details:"},
          std::pair{"mpiexec-pals", "mpiexec version 1.2"}}) {
      std::ofstream(folder_ / name) << "#!/bin/sh\necho '" << says << "'\n";
      std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
    }
  }

  /// What the launcher says of a program of that MPI, where it starts by that mpirun.
  [[nodiscard]] std::string refusal(const std::string& name, const std::string& mpirun, const std::string& mpi) const {
    const std::string path = (folder_ / mpirun).string();
    LauncherOptions options = with_line(path + " -n {ranks} {program}");
    options.mpirun = path;
    return launcher(name).refuses_mpi(options, mpi).value_or("");
  }

  [[nodiscard]] bool is_told_ob1(const std::string& mpirun) const {
    LauncherOptions options;
    options.mpirun = (folder_ / mpirun).string();
    const auto environment = launcher("local").command(options, {}).environment;
    return std::ranges::count(environment, std::pair<std::string, std::string>{"OMPI_MCA_pml", "ob1"}) == 1;
  }
};

TEST_F(WithMpiruns, AreOfTheMpiOfTheProgramOrAreRefused) {
  const std::string open_mpi = "Open MPI v4.1.4, package: Debian OpenMPI";
  for (const char* name : {"local", "netns", "template"}) {
    for (const char* of_hydra : {"MPICH Version: 4.0.2", "Intel(R) MPI Library 2021.9", "MVAPICH2 Version: 2.3.7"}) {
      EXPECT_THAT(refusal(name, "mpirun-o", of_hydra), AllOf(HasSubstr("mpirun-o' is Open MPI's"), HasSubstr(of_hydra)))
          << name;
      EXPECT_EQ(refusal(name, "mpiexec-h", of_hydra), "") << name;
    }
    EXPECT_THAT(refusal(name, "mpiexec-h", open_mpi), AllOf(HasSubstr("is MPICH's"), HasSubstr("Open MPI v4.1.4:")))
        << name;
    EXPECT_EQ(refusal(name, "mpirun-o", open_mpi), "") << name;
    for (const char* unknown : {"", "SMPI"}) EXPECT_EQ(refusal(name, "mpirun-o", unknown), "") << name;
    EXPECT_EQ(refusal(name, "mpiexec-pals", open_mpi), "") << name;
  }
  for (const char* name : {"srun", "smpi"}) EXPECT_EQ(refusal(name, "mpirun-o", "MPICH Version: 4.0.2"), "") << name;
}

/// A machine without anything that Open MPI could choose from, and a user without wishes.
class PlainMachine : public WithMpiruns {
 protected:
  PlainMachine() {
    for (const char* name : {"OMPI_MCA_pml", "OMPI_MCA_mtl"}) ::unsetenv(name);
    ::setenv("HOME", folder_.c_str(), 1);
  }
};

TEST_F(PlainMachine, LeavesOpenMpiNoChoice) {
  EXPECT_TRUE(takes_ob1(folder_));
  EXPECT_EQ(is_told_ob1("mpirun-o"), takes_ob1());
  EXPECT_FALSE(is_told_ob1("mpiexec-h"));
}

TEST_F(PlainMachine, IsNoneWithAnAdapterOrAGpu) {
  for (const char* other : {"sys/class/infiniband", "sys/class/cxi", "dev/nvidiactl", "dev/kfd"}) {
    std::filesystem::create_directories(folder_ / other);
    EXPECT_FALSE(takes_ob1(folder_)) << other;
    std::filesystem::remove(folder_ / other);
  }
}

TEST_F(PlainMachine, IsNoneWhereTheUserChose) {
  for (const char* name : {"OMPI_MCA_pml", "OMPI_MCA_mtl"}) {
    ::setenv(name, "^ucx", 1);
    EXPECT_FALSE(takes_ob1(folder_)) << name;
    EXPECT_FALSE(is_told_ob1("mpirun-o")) << name;
    ::unsetenv(name);
  }
  std::filesystem::create_directory(folder_ / ".openmpi");
  std::ofstream(folder_ / ".openmpi" / "mca-params.conf") << "pml = ^ucx\n";
  EXPECT_FALSE(takes_ob1(folder_));
}

}  // namespace
}  // namespace fourscore
