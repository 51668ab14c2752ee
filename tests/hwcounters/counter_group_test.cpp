#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "hwcounters/group.hpp"
#include "support/message_of.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Optional;

/// A backend that files of these tests are for; its name is one that is registered everywhere.
class Sample : public CounterBackend {
 public:
  [[nodiscard]] std::string name() const override { return "none"; }
  [[nodiscard]] std::string summary() const override { return "sample"; }
  [[nodiscard]] std::string default_group() const override { return "MEM"; }
  [[nodiscard]] std::map<std::string, double> constants(const CounterRequest&) const override {
    return {{"line_bytes", 64}};
  }
  [[nodiscard]] std::unique_ptr<CounterSession> open(const std::vector<EventSpec>&, const CounterRequest&) override {
    return nullptr;
  }
};

class Groups : public ::testing::Test {
 protected:
  Groups() : folder_(fs::path(::testing::TempDir()) / ("groups-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_ / "amd-zen4");
    fs::create_directories(folder_ / "any");
    request_.groups = folder_;
  }
  ~Groups() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  /// The message of loading a file with this text.
  std::string error_of(const std::string& text) {
    const fs::path file = write("any/BAD.toml", text);
    return test::message_of<CounterRequestError>([&] { return load_group(file, "none", {{"line_bytes", 64}}); });
  }
  std::string not_found(const std::string& name, const std::string& arch = "amd-zen4") {
    request_.group = name;
    return test::message_of<CounterRequestError>([&] { return find_group(backend_, request_, arch); });
  }

  fs::path folder_;
  CounterRequest request_;
  Sample backend_;
};

constexpr const char* head = "description = \"d\"\nexplanation = \"e\"\n";

std::string group_with(const std::string& events, const std::string& metrics) {
  return std::string(head) + "[none]\nevents = " + events + "\nmetrics = [\n" + metrics + "\n]\n";
}

TEST_F(Groups, AFileIsReadInItsOwnOrder) {
  const Group group =
      load_group(write("amd-zen4/MEM.toml",
                       group_with("{ writes = \"umc/wr/\", reads = \"umc/rd/\" }",
                                  "{ name = \"dram_bytes\", unit = \"bytes\", formula = \"line_bytes * (reads "
                                  "+ writes)\" }, { name = \"n\", unit = \"events\", formula = \"reads\" }")),
                 "none", {{"line_bytes", 64}});
  EXPECT_EQ(group.name, "MEM");
  EXPECT_EQ(group.arch, "amd-zen4");
  EXPECT_EQ(group.backend, "none");
  ASSERT_EQ(group.events.size(), 2U);
  EXPECT_EQ(group.events[0].name, "writes");
  EXPECT_EQ(group.events[1].code, "umc/rd/");
  EXPECT_EQ(group.metrics[1].name, "n");
  EXPECT_THAT(evaluate(group, {10, 3}, {{"line_bytes", 64}}), ElementsAre(Optional(832.0), Optional(3.0)));
}

TEST_F(Groups, WhatAnAbsentEventGoesIntoIsAbsent) {
  const Group group = load_group(
      write("any/RATIO.toml", group_with("{ a = \"a\", b = \"b\" }",
                                         "{ name = \"ratio\", unit = \"events\", formula = \"a / b\" }, { name = "
                                         "\"a\", unit = \"events\", formula = \"a\" }")),
      "none");
  EXPECT_THAT(evaluate(group, {6, 3}, {}), ElementsAre(Optional(2.0), Optional(6.0)));
  EXPECT_THAT(evaluate(group, {6, std::nullopt}, {}), ElementsAre(Eq(std::nullopt), Optional(6.0)));
  EXPECT_THAT(evaluate(group, {6, 0}, {}), ElementsAre(Eq(std::nullopt), Optional(6.0))) << "no number is absent";
  EXPECT_THROW((void)evaluate(group, {6}, {}), std::invalid_argument);
}

TEST_F(Groups, MistakesAreReportedWithFileAndLine) {
  const std::string metric = "{ name = \"n\", unit = \"bytes\", formula = \"64 * reads\" }";
  const std::string events = "{ reads = \"r\" }";
  EXPECT_EQ(error_of(group_with(events, metric)), "no error");
  EXPECT_THAT(error_of("description = \n"), HasSubstr("BAD.toml:1: "));
  EXPECT_THAT(error_of(std::string(head) + "[nonne]\n"),
              AllOf(HasSubstr("BAD.toml:3: unknown key 'nonne'"), HasSubstr("did you mean 'none'?")));
  EXPECT_THAT(error_of("description = \"d\"\n[none]\nevents = {}\n"), HasSubstr("no key 'explanation'"));
  EXPECT_THAT(error_of(head), HasSubstr("no table [none]"));
  EXPECT_THAT(error_of(std::string(head) + "[none]\nevent = { a = \"a\" }\n"), HasSubstr("did you mean 'events'?"));
  EXPECT_THAT(error_of(group_with("{}", metric)), HasSubstr("BAD.toml:4: 'events'"));
  EXPECT_THAT(error_of(group_with("{ reads = 3 }", metric)), HasSubstr("a text that is not empty"));
  EXPECT_THAT(error_of(group_with("{ \"re-ads\" = \"r\" }", metric)), HasSubstr("letters, digits and _"));
  EXPECT_THAT(error_of(group_with("{ line_bytes = \"r\" }", metric)), HasSubstr("a constant of the backend"));
  EXPECT_THAT(error_of(group_with(events, "{ name = \"n\", unit = \"byte\", formula = \"reads\" }")),
              AllOf(HasSubstr("BAD.toml:6: 'byte' is no unit"), HasSubstr("did you mean 'bytes'?")));
  EXPECT_THAT(error_of(group_with(events, "{ name = \"n\", unit = \"bytes\", formula = \"64 * read\" }")),
              AllOf(HasSubstr("BAD.toml:6: "), HasSubstr("'read'"), HasSubstr("did you mean 'reads'?")));
  EXPECT_THAT(error_of(group_with(events, "{ name = \"n\", unit = \"bytes\", formula = \"64 * (reads\" }")),
              HasSubstr(") is missing"));
  EXPECT_THAT(error_of(group_with(events, metric + ", " + metric)), HasSubstr("twice"));
  EXPECT_THAT(error_of(group_with("{ reads = \"r\", writes = \"w\" }", metric)), HasSubstr("uses event 'writes'"));
}

TEST_F(Groups, MetricsOfSeveralGroupsStandInOneFile) {
  fs::create_directories(folder_ / "metrics");
  write("metrics/lines.toml", "metrics = [{ name = \"n\", unit = \"bytes\", formula = \"64 * reads\" }]\n");
  const auto with = [](const std::string& events, const std::string& name) {
    return std::string(head) + "[none]\nevents = " + events + "\nmetrics = \"" + name + "\"\n";
  };
  const Group group = load_group(write("amd-zen4/MEM.toml", with("{ reads = \"r\" }", "lines")), "none");
  ASSERT_EQ(group.metrics.size(), 1U);
  EXPECT_THAT(evaluate(group, {3}, {}), ElementsAre(Optional(192.0)));

  EXPECT_THAT(error_of(with("{ reads = \"r\" }", "lins")),
              AllOf(HasSubstr("BAD.toml:5: 'metrics' of [none] is 'lins', did you mean 'lines'?"),
                    HasSubstr("expected a list of tables (name, unit, formula), or a name in ")));
  EXPECT_THAT(error_of(with("{ reads = \"r\" }", "../any/MEM")), HasSubstr("BAD.toml:5: 'metrics' of [none]"));
  EXPECT_THAT(error_of(with("{ reads = \"r\", writes = \"w\" }", "lines")),
              HasSubstr("BAD.toml:4: no metric of [none] uses event 'writes'"));
  EXPECT_THAT(error_of(with("{ read = \"r\" }", "lines")),
              AllOf(HasSubstr("metrics/lines.toml:1: the formula of 'n' uses 'reads', which is no event of [none] of "),
                    HasSubstr("BAD.toml, did you mean 'read'?")));
  write("metrics/lines.toml", "\nmetric = []\n");
  EXPECT_THAT(error_of(with("{ reads = \"r\" }", "lines")),
              HasSubstr("lines.toml:2: unknown key 'metric' in a file of shared metrics, did you mean 'metrics'?"));
  write("metrics/lines.toml", "");
  EXPECT_THAT(error_of(with("{ reads = \"r\" }", "lines")), HasSubstr("lines.toml: 'metrics' of [none] of "));
}

TEST_F(Groups, EventsAreDealtOutOverTheRunsThatTheirUnitNeeds) {
  const std::string text =
      "events = { a = \"r1\", b = \"r2\", c = \"r3\" }\nmetrics = [{ name = \"n\", unit = "
      "\"events\", formula = \"a + b + c\" }]\n";
  const Group group = load_group(write("any/MANY.toml", std::string(head) + "[perf]\nat_once = 2\n" + text), "perf");
  EXPECT_EQ(group.events[1].pass, 0U);
  EXPECT_EQ(group.events[2].pass, 1U);
  EXPECT_THAT(error_of(std::string(head) + "[none]\nat_once = 2\n" + text),
              HasSubstr("BAD.toml:4: backend none counts all events in one run"));
  write("any/ZERO.toml", std::string(head) + "[perf]\nat_once = 0\n" + text);
  EXPECT_THROW((void)load_group(folder_ / "any/ZERO.toml", "perf"), CounterRequestError);
}

TEST_F(Groups, AMachinesOwnFolderComesBeforeAny) {
  const std::string metric = "{ name = \"n\", unit = \"events\", formula = \"a\" }";
  write("any/MEM.toml", group_with("{ a = \"any\" }", metric));
  EXPECT_EQ(find_group(backend_, request_, "amd-zen4").events[0].code, "any");
  write("amd-zen4/MEM.toml", group_with("{ a = \"own\" }", metric));
  EXPECT_EQ(find_group(backend_, request_, "amd-zen4").events[0].code, "own");
  EXPECT_EQ(find_group(backend_, request_, "amd-zen5").events[0].code, "any");
}

TEST_F(Groups, AFileForOtherBackendsAloneIsPassedOver) {
  write("any/MEM.toml", group_with("{ a = \"any\" }", "{ name = \"n\", unit = \"events\", formula = \"a\" }"));
  write("amd-zen4/MEM.toml", std::string(head) + "[likwid]\n");
  EXPECT_EQ(find_group(backend_, request_, "amd-zen4").arch, "any");
}

TEST_F(Groups, AnUnknownGroupIsReportedWithTheNearest) {
  write("any/MEM.toml", group_with("{ a = \"any\" }", "{ name = \"n\", unit = \"events\", formula = \"a\" }"));
  EXPECT_THAT(not_found("MEN"), AllOf(HasSubstr("no event group 'MEN' for backend none on 'amd-zen4'"),
                                      HasSubstr("did you mean 'MEM'?")));
  EXPECT_THAT(not_found("../any/MEM"), HasSubstr("no event group '../any/MEM'"));
  fs::remove(folder_ / "any/MEM.toml");
  EXPECT_THAT(not_found("", "unknown"), HasSubstr("no event group for backend none on 'unknown'"));
  request_.groups = folder_ / "nowhere";
  EXPECT_THAT(not_found("MEM"), HasSubstr("which is no folder"));
}

TEST_F(Groups, OfThisInstallationAreFound) {
  request_.groups.clear();
  EXPECT_TRUE(fs::is_regular_file(groups_folder(request_) / "any/SOFTWARE.toml"));
  ::setenv("FOURSCORE_GROUPS", folder_.c_str(), 1);
  EXPECT_EQ(groups_folder(request_), folder_);
  ::setenv("FOURSCORE_GROUPS", "nowhere", 1);
  EXPECT_THROW((void)groups_folder(request_), CounterRequestError);
  ::unsetenv("FOURSCORE_GROUPS");
}

}  // namespace
}  // namespace fourscore
