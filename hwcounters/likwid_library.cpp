// liblikwid itself, behind the calls of likwid.hpp.

#include "hwcounters/likwid.hpp"

#ifdef FOURSCORE_LIKWID
#include <dlfcn.h>
#include <fmt/format.h>
#include <likwid.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#endif

namespace fourscore {

#ifdef FOURSCORE_LIKWID
namespace {

void* opened(const std::string& file) {
  void* const handle = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) throw CounterError(fmt::format("LIKWID cannot be loaded: {}; configure anew", ::dlerror()));
  return handle;
}

template <class Function>
Function* function_of(void* library, const char* name) {
  void* const found = ::dlsym(library, name);
  if (found == nullptr) throw CounterError(fmt::format("LIKWID cannot be used: {}; configure anew", ::dlerror()));
  return reinterpret_cast<Function*>(found);
}

struct Functions {
  explicit Functions(const std::string& file) : library(opened(file)) {}

  void* library;
#define FOURSCORE_OF_LIKWID(name) decltype(&::name) name = function_of<decltype(::name)>(library, #name)
  FOURSCORE_OF_LIKWID(HPMmode);
  FOURSCORE_OF_LIKWID(get_configuration);
  FOURSCORE_OF_LIKWID(get_cpuInfo);
  FOURSCORE_OF_LIKWID(init_configuration);
  FOURSCORE_OF_LIKWID(likwid_markerClose);
  FOURSCORE_OF_LIKWID(likwid_markerInit);
  FOURSCORE_OF_LIKWID(likwid_markerRegisterRegion);
  FOURSCORE_OF_LIKWID(likwid_markerStartRegion);
  FOURSCORE_OF_LIKWID(likwid_markerStopRegion);
  FOURSCORE_OF_LIKWID(perfmon_addEventSet);
  FOURSCORE_OF_LIKWID(perfmon_finalize);
  FOURSCORE_OF_LIKWID(perfmon_getLastMetric);
  FOURSCORE_OF_LIKWID(perfmon_getLastResult);
  FOURSCORE_OF_LIKWID(perfmon_getMetricName);
  FOURSCORE_OF_LIKWID(perfmon_getNumberOfEvents);
  FOURSCORE_OF_LIKWID(perfmon_getNumberOfMetrics);
  FOURSCORE_OF_LIKWID(perfmon_getResult);
  FOURSCORE_OF_LIKWID(perfmon_init);
  FOURSCORE_OF_LIKWID(perfmon_readCounters);
  FOURSCORE_OF_LIKWID(perfmon_setupCounters);
  FOURSCORE_OF_LIKWID(perfmon_startCounters);
  FOURSCORE_OF_LIKWID(perfmon_stopCounters);
  FOURSCORE_OF_LIKWID(topology_init);
#undef FOURSCORE_OF_LIKWID
};

/// Opens the library when it is first asked for something: its tables of events take 10 ms of each start of a program,
/// counted or not.
class LateFunctions {
 public:
  explicit LateFunctions(std::string file) : file_(std::move(file)) {}
  const Functions* operator->() {
    if (!functions_) functions_.emplace(file_);
    return &*functions_;
  }

 private:
  std::string file_;
  std::optional<Functions> functions_;
};

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

/// While it exists, an environment variable has another value.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// LIKWID ends the process when it finds no access daemon in PATH, unless it is told that it needs none, as its own
/// tools do. A user's PATH often lacks the daemon's folder.
int init_configuration_quietly(LateFunctions& likwid) {
  const Variable no_access("LIKWID_NO_ACCESS", "1");
  const Variable path("PATH", text_of(std::getenv("PATH")) + ":/usr/sbin:/usr/local/sbin:/sbin");
  const int code = likwid->init_configuration();
  return code != 0 || likwid->get_configuration() != nullptr ? code : -ENOENT;
}

LikwidProcessor known_processor(LateFunctions& likwid) {
  const CpuInfo_t info = likwid->get_cpuInfo();
  if (info == nullptr) return {};
  return {text_of(info->name), text_of(info->short_name), info->family, info->model};
}

std::vector<std::string> metrics_of(LateFunctions& likwid, int group) {
  std::vector<std::string> names;
  for (int i = 0; i < likwid->perfmon_getNumberOfMetrics(group); ++i)
    names.push_back(text_of(likwid->perfmon_getMetricName(group, i)));
  return names;
}

}  // namespace

std::string likwid_file() { return FOURSCORE_LIKWID_FILE; }

LikwidCalls likwid_library(const std::string& file) {
  const auto likwid = std::make_shared<LateFunctions>(file);
  LikwidCalls calls;
  calls.init_configuration = [likwid] { return init_configuration_quietly(*likwid); };
  calls.configured_access = [likwid] { return static_cast<LikwidAccess>((*likwid)->get_configuration()->daemonMode); };
  calls.set_access = [likwid](LikwidAccess mode) { (*likwid)->HPMmode(static_cast<int>(mode)); };
  calls.topology_init = [likwid] { return (*likwid)->topology_init(); };
  calls.processor = [likwid] { return known_processor(*likwid); };
  calls.perfmon_init = [likwid](const std::vector<int>& cpus) {
    return (*likwid)->perfmon_init(static_cast<int>(cpus.size()), cpus.data());
  };
  calls.add_event_set = [likwid](const std::string& events) { return (*likwid)->perfmon_addEventSet(events.c_str()); };
  calls.events_in_group = [likwid](int group) { return (*likwid)->perfmon_getNumberOfEvents(group); };
  calls.metrics_of_group = [likwid](int group) { return metrics_of(*likwid, group); };
  calls.setup_counters = [likwid](int group) { return (*likwid)->perfmon_setupCounters(group); };
  calls.start_counters = [likwid] { return (*likwid)->perfmon_startCounters(); };
  calls.read_counters = [likwid] { return (*likwid)->perfmon_readCounters(); };
  calls.stop_counters = [likwid] { return (*likwid)->perfmon_stopCounters(); };
  // The result of an event that LIKWID left out is no number from the start.
  calls.is_configured = [likwid](int group, int event) {
    return event < (*likwid)->perfmon_getNumberOfEvents(group) &&
           !std::isnan((*likwid)->perfmon_getResult(group, event, 0));
  };
  calls.last_result = [likwid](int group, int event, int thread) {
    return (*likwid)->perfmon_getLastResult(group, event, thread);
  };
  calls.last_metric = [likwid](int group, int metric, int thread) {
    return (*likwid)->perfmon_getLastMetric(group, metric, thread);
  };
  calls.finalize = [likwid] { (*likwid)->perfmon_finalize(); };
  calls.marker_init = [likwid] { (*likwid)->likwid_markerInit(); };
  calls.marker_register = [likwid](const char* region) { return (*likwid)->likwid_markerRegisterRegion(region); };
  calls.marker_start = [likwid](const char* region) { return (*likwid)->likwid_markerStartRegion(region); };
  calls.marker_stop = [likwid](const char* region) { return (*likwid)->likwid_markerStopRegion(region); };
  calls.marker_close = [likwid] { (*likwid)->likwid_markerClose(); };
  return calls;
}
#else
std::string likwid_file() { return {}; }
LikwidCalls likwid_library(const std::string& /*file*/) { return {}; }
#endif

}  // namespace fourscore
