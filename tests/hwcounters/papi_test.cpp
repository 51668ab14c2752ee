#include "hwcounters/papi.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/message_of.hpp"

namespace fourscore {
namespace {

using test::message_of;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A library whose counters advance by their event's code at every read, and which fails where a test says so.
class FakePapi {
 public:
  std::map<std::string, int> codes{{"PAPI_TOT_INS", 1}, {"perf::TASK-CLOCK", 2}};
  std::map<int, int> component_of{};  ///< 0 unless here
  std::vector<PapiComponent> components{{"perf_event", true, ""}, {"perf_event_uncore", true, ""}};
  std::string fails;  ///< the call that fails
  int with = papi_code::ok;
  std::map<int, std::vector<int>> sets;
  std::set<int> running;
  int made = 0;
  int reads = 0;

  [[nodiscard]] std::unique_ptr<CounterBackend> backend(ProcessSockets sockets = {{0}, {{0, 1}}, false},
                                                        const std::string& why_not = "") {
    PapiCalls calls;
    calls.library_init = [this] { return result("library_init"); };
    calls.strerror = [](int code) { return "text of " + std::to_string(code); };
    calls.components = [this] { return components; };
    calls.event_name_to_code = [this](const std::string& name, int& code) {
      const auto found = codes.find(name);
      if (found == codes.end()) return papi_code::no_event;
      code = found->second;
      return result("event_name_to_code");
    };
    calls.get_event_component = [this](int code) {
      const int failed = result("get_event_component");
      return failed != papi_code::ok ? failed : component_of.contains(code) ? component_of[code] : 0;
    };
    calls.native_names = [this](const std::string& event) {
      std::vector<std::string> names;
      for (const auto& [name, code] : codes)
        if (name.starts_with(event) && name != event)
          names.push_back(event.empty() ? name.substr(0, name.find(":RD")) : name);
      return names;
    };
    calls.create_eventset = [this](int& set) {
      set = ++made;
      if (const int code = result("create_eventset"); code != papi_code::ok) return code;
      sets[set] = {};
      return papi_code::ok;
    };
    calls.add_event = [this](int set, int code) {
      if (const int failed = result("add_event"); failed != papi_code::ok) return failed;
      sets.at(set).push_back(code);
      return papi_code::ok;
    };
    calls.start = [this](int set) {
      if (const int code = result("start"); code != papi_code::ok) return code;
      running.insert(set);
      reads = 0;
      return papi_code::ok;
    };
    calls.read = [this](int set, long long* values) { return fill(set, values, "read"); };
    calls.stop = [this](int set, long long* values) {
      running.erase(set);
      return fill(set, values, "stop");
    };
    calls.cleanup_eventset = [](int) { return papi_code::ok; };
    calls.destroy_eventset = [this](int& set) {
      sets.erase(set);
      return papi_code::ok;
    };
    return make_papi_backend(calls, why_not, [sockets] { return sockets; });
  }

 private:
  int result(const std::string& call) const { return call == fails ? with : papi_code::ok; }
  int fill(int set, long long* values, const std::string& call) {
    if (const int code = result(call); code != papi_code::ok) return code;
    if (sets.begin()->first == set) ++reads;
    for (std::size_t i = 0; i < sets.at(set).size(); ++i) values[i] = static_cast<long long>(sets[set][i]) * reads;
    return papi_code::ok;
  }
};

const std::vector<EventSpec> two_events{{"instructions", "PAPI_TOT_INS"}, {"clock", "perf::TASK-CLOCK"}};

TEST(Papi, SharesCountsOutOverBuckets) {
  FakePapi papi;
  const auto backend = papi.backend();
  const auto session = backend->open(two_events, {});
  EXPECT_EQ(session->scope(), CounterScope::thread);
  for (int again = 0; again < 2; ++again) {
    session->start(0, 3);
    session->switch_to(2);
    session->switch_to(0);
    session->stop();
    const auto counts = session->counts();
    ASSERT_EQ(counts.size(), 3U);
    EXPECT_EQ(counts[0], (std::vector<EventCount>{2.0, 4.0}));
    EXPECT_EQ(counts[1], (std::vector<EventCount>{0.0, 0.0}));
    EXPECT_EQ(counts[2], (std::vector<EventCount>{1.0, 2.0}));
  }
  EXPECT_FALSE(session->multiplexed());
}

TEST(Papi, CountsMemoryControllersOfASocketThroughOneOfItsProcessors) {
  FakePapi papi;
  for (const char* unit : {"0", "2"})
    for (const char* cpu : {"", ":cpu=4"}) {
      const int code = 10 + static_cast<int>(papi.codes.size());
      papi.codes[std::string("skx_unc_imc") + unit + "::UNC_M_CAS_COUNT:RD" + cpu] = code;
      papi.component_of[code] = 1;
    }
  const auto backend = papi.backend({{5}, {{4, 5}}, false});
  const auto session = backend->open({{"reads", "skx_unc_imc*::UNC_M_CAS_COUNT:RD"}}, {});
  EXPECT_EQ(session->scope(), CounterScope::socket);
  const int first = papi.codes.at("skx_unc_imc0::UNC_M_CAS_COUNT:RD:cpu=4");
  const int second = papi.codes.at("skx_unc_imc2::UNC_M_CAS_COUNT:RD:cpu=4");
  ASSERT_EQ(papi.sets.size(), 1U);
  EXPECT_THAT(papi.sets.begin()->second, testing::UnorderedElementsAre(first, second));
  session->start(0, 1);
  session->stop();
  EXPECT_EQ(session->counts().front().front(), EventCount(first + second));
}

TEST(Papi, IsOfTheNodeWhereTheProcessMayRunOnSeveralSockets) {
  FakePapi papi;
  for (const char* cpu : {"", ":cpu=0", ":cpu=4"}) {
    const int code = 10 + static_cast<int>(papi.codes.size());
    papi.codes[std::string("skx_unc_imc0::UNC_M_CAS_COUNT:RD") + cpu] = code;
    papi.component_of[code] = 1;
  }
  const auto backend = papi.backend({{0, 4}, {{0, 1}, {4, 5}}, false});
  const auto session =
      backend->open({{"reads", "skx_unc_imc0::UNC_M_CAS_COUNT:RD"}, {"instructions", "PAPI_TOT_INS"}}, {});
  EXPECT_EQ(session->scope(), CounterScope::node);
  EXPECT_EQ(papi.sets.size(), 2U) << "components are kept apart";
  session->start(0, 1);
  session->stop();
  EXPECT_EQ(session->counts().front().size(), 2U);
}

TEST(Papi, AnUnknownEventIsTheUsersErrorAndNamesTheNearest) {
  FakePapi papi;
  papi.codes["skx_unc_imc0::UNC_M_CAS_COUNT"] = 9;
  papi.codes["skx_unc_imc0::UNC_M_CAS_COUNT:RD"] = 7;
  const auto backend = papi.backend();
  EXPECT_THAT(message_of<CounterRequestError>([&] {
                return backend->open({{"i", "PAPI_TOT_INX"}}, {});
              }),
              AllOf(HasSubstr("'PAPI_TOT_INX' (i)"), HasSubstr("nearest: PAPI_TOT_INS")));
  EXPECT_THAT(message_of<CounterRequestError>([&] {
                return backend->open({{"r", "skx_unc_imc0::UNC_M_CAS_COUNT:RX"}}, {});
              }),
              HasSubstr("nearest: skx_unc_imc0::UNC_M_CAS_COUNT:RD"));
  EXPECT_THAT(message_of<CounterRequestError>([&] {
                return backend->open({{"r", "zzz*::QQQ"}}, {});
              }),
              HasSubstr("zzz0::QQQ"));
  EXPECT_TRUE(papi.sets.empty());
}

TEST(Papi, AnEventOfADisabledComponentIsTheMachinesError) {
  FakePapi papi;
  papi.components[1] = {"perf_event_uncore", false, "Insufficient permissions for uncore access."};
  const auto backend = papi.backend();
  EXPECT_EQ(backend->unavailable(), "");
  EXPECT_THAT(message_of<CounterError>([&] {
                return backend->open({{"r", "skx_unc_imc0::UNC_M_CAS_COUNT:RD"}}, {});
              }),
              HasSubstr("perf_event_uncore is disabled: Insufficient permissions"));
}

struct Failure {
  const char* call;
  int code;
  const char* says;
};

class PapiFails : public testing::TestWithParam<Failure> {};

TEST_P(PapiFails, WithTheCallItsTextAndWhatToDo) {
  FakePapi papi;
  papi.fails = GetParam().call;
  papi.with = GetParam().code;
  const auto backend = papi.backend();
  const std::string message = message_of<CounterError>([&] {
    const auto session = backend->open(two_events, {});
    session->start(0, 2);
    session->switch_to(1);
    session->stop();
    (void)session->counts();
  });
  EXPECT_THAT(message, AllOf(HasSubstr("PAPI_" + papi.fails), HasSubstr("text of " + std::to_string(papi.with)),
                             HasSubstr(GetParam().says)));
  EXPECT_TRUE(papi.sets.empty()) << "what was made is given back";
  EXPECT_TRUE(papi.running.empty());
}

INSTANTIATE_TEST_SUITE_P(EachCall, PapiFails,
                         testing::Values(Failure{"library_init", papi_code::system, "the system said"},
                                         Failure{"event_name_to_code", papi_code::no_component, "PAPI_TOT_INS"},
                                         Failure{"get_event_component", papi_code::no_component, "PAPI_TOT_INS"},
                                         Failure{"create_eventset", papi_code::no_counters, "virtual machine"},
                                         Failure{"add_event", papi_code::conflict, "nmi_watchdog"},
                                         Failure{"add_event", papi_code::permission, "perf_event_paranoid"},
                                         Failure{"add_event", papi_code::no_event, "a virtual machine"},
                                         Failure{"start", papi_code::conflict, "does not multiplex"},
                                         Failure{"read", papi_code::system, "the system said"},
                                         Failure{"stop", papi_code::system, "said"}),
                         [](const auto& param) {
                           return std::string(param.param.call) + std::to_string(-param.param.code);
                         });

TEST(Papi, SaysWhyItCannotCountHere) {
  FakePapi papi;
  EXPECT_EQ(papi.backend({}, "built without PAPI")->unavailable(), "built without PAPI");
  EXPECT_THAT(message_of<CounterError>([&] { (void)papi.backend({}, "built without PAPI")->open(two_events, {}); }),
              HasSubstr("built without PAPI"));
  papi.components = {{"perf_event", false, "No uncore PMUs or events found"}, {"perf_event_uncore", false, ""}};
  EXPECT_THAT(papi.backend()->unavailable(),
              AllOf(HasSubstr("perf_event: No uncore"), HasSubstr("perf_event_uncore: disabled")));
  papi.components[0].enabled = true;
  EXPECT_EQ(papi.backend()->unavailable(), "");
  papi.components = {{"coretemp", true, ""}};
  EXPECT_THAT(papi.backend()->unavailable(), HasSubstr("no component perf_event"));
}

// What follows asks the library that this program is linked with.

class RealPapi : public testing::Test {
 protected:
  void SetUp() override {
    if (!papi_library().library_init) GTEST_SKIP() << "built without PAPI";
    if (const std::string reason = backend().unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  }
  static CounterBackend& backend() { return counter_backend("papi"); }
};

TEST(RealPapiLibrary, IsLinkedAndInitialised) {
  if (!papi_library().library_init) GTEST_SKIP() << "built without PAPI";
  EXPECT_EQ(papi_library().library_init(), papi_code::ok);
  EXPECT_THAT(papi_library().strerror(papi_code::conflict), Not(testing::IsEmpty()));
  std::vector<std::string> names;
  for (const auto& component : papi_library().components()) names.push_back(component.name);
  EXPECT_THAT(names, testing::IsSupersetOf({"perf_event", "perf_event_uncore"}));
}

TEST_F(RealPapi, CountsSoftwareEvents) {
  const auto session = backend().open({{"clock", "perf::TASK-CLOCK"}, {"faults", "perf::PAGE-FAULTS"}}, {});
  session->start(0, 2);
  session->switch_to(1);
  constexpr std::size_t pages = 64;
  constexpr std::size_t page = 4096;
  auto* memory = static_cast<volatile char*>(std::aligned_alloc(page, pages * page));
  ASSERT_NE(memory, nullptr);
  for (std::size_t i = 0; i < pages; ++i) memory[i * page] = 1;
  session->stop();
  std::free(const_cast<char*>(memory));
  const auto counts = session->counts();
  ASSERT_TRUE(counts[1][0] && counts[1][1]);
  EXPECT_GT(*counts[1][0], 0);
  EXPECT_GE(*counts[1][1], 1) << "memory that was never touched";
}

TEST_F(RealPapi, NamesEventsNearAMisspeltOne) {
  EXPECT_THAT(message_of<CounterRequestError>([] {
                return backend().open({{"clock", "perf::TASK-CLOCKS"}}, {});
              }),
              HasSubstr("perf::TASK-CLOCK"));
}

}  // namespace
}  // namespace fourscore
