// liblikwid itself, behind the calls of likwid.hpp.

#include "hwcounters/likwid.hpp"

#ifdef FOURSCORE_LIKWID
#include <likwid.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <optional>
#endif

namespace fourscore {

#ifdef FOURSCORE_LIKWID
namespace {

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
int init_configuration_quietly() {
  const Variable no_access("LIKWID_NO_ACCESS", "1");
  const Variable path("PATH", text_of(std::getenv("PATH")) + ":/usr/sbin:/usr/local/sbin:/sbin");
  const int code = ::init_configuration();
  return code != 0 || ::get_configuration() != nullptr ? code : -ENOENT;
}

LikwidProcessor known_processor() {
  const CpuInfo_t info = ::get_cpuInfo();
  if (info == nullptr) return {};
  return {text_of(info->name), text_of(info->short_name), info->family, info->model};
}

std::vector<std::string> metrics_of(int group) {
  std::vector<std::string> names;
  for (int i = 0; i < ::perfmon_getNumberOfMetrics(group); ++i)
    names.push_back(text_of(::perfmon_getMetricName(group, i)));
  return names;
}

}  // namespace

LikwidCalls likwid_library() {
  LikwidCalls calls;
  calls.init_configuration = init_configuration_quietly;
  calls.configured_access = [] { return static_cast<LikwidAccess>(::get_configuration()->daemonMode); };
  calls.set_access = [](LikwidAccess mode) { ::HPMmode(static_cast<int>(mode)); };
  calls.topology_init = [] { return ::topology_init(); };
  calls.processor = known_processor;
  calls.perfmon_init = [](const std::vector<int>& cpus) {
    return ::perfmon_init(static_cast<int>(cpus.size()), cpus.data());
  };
  calls.add_event_set = [](const std::string& events) { return ::perfmon_addEventSet(events.c_str()); };
  calls.events_in_group = [](int group) { return ::perfmon_getNumberOfEvents(group); };
  calls.metrics_of_group = metrics_of;
  calls.setup_counters = [](int group) { return ::perfmon_setupCounters(group); };
  calls.start_counters = [] { return ::perfmon_startCounters(); };
  calls.read_counters = [] { return ::perfmon_readCounters(); };
  calls.stop_counters = [] { return ::perfmon_stopCounters(); };
  // The result of an event that LIKWID left out is no number from the start.
  calls.is_configured = [](int group, int event) {
    return event < ::perfmon_getNumberOfEvents(group) && !std::isnan(::perfmon_getResult(group, event, 0));
  };
  calls.last_result = [](int group, int event, int thread) { return ::perfmon_getLastResult(group, event, thread); };
  calls.last_metric = [](int group, int metric, int thread) { return ::perfmon_getLastMetric(group, metric, thread); };
  calls.finalize = [] { ::perfmon_finalize(); };
  calls.marker_init = [] { ::likwid_markerInit(); };
  calls.marker_register = [](const char* region) { return ::likwid_markerRegisterRegion(region); };
  calls.marker_start = [](const char* region) { return ::likwid_markerStartRegion(region); };
  calls.marker_stop = [](const char* region) { return ::likwid_markerStopRegion(region); };
  calls.marker_close = [] { ::likwid_markerClose(); };
  return calls;
}
#else
LikwidCalls likwid_library() { return {}; }
#endif

}  // namespace fourscore
