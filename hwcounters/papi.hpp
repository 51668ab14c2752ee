#pragma once
// Backend `papi`: the calls that it makes of libpapi, so that a test can put its own in their place.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hwcounters/counter.hpp"
#include "hwcounters/process_sockets.hpp"

namespace fourscore {

/// PAPI's return codes that mean something of their own to us.
namespace papi_code {
inline constexpr int ok = 0;
inline constexpr int system = -3;
inline constexpr int no_event = -7;
inline constexpr int conflict = -8;
inline constexpr int no_counters = -13;
inline constexpr int permission = -15;
inline constexpr int no_component = -17;
}  // namespace papi_code

/// A part of PAPI with events of its own.
struct PapiComponent {
  std::string name;  ///< "perf_event", "perf_event_uncore"
  bool enabled = false;
  std::string reason;  ///< PAPI's, why it is not enabled
};

/// Named after the functions of libpapi; they return its codes.
struct PapiCalls {
  std::function<int()> library_init;  ///< also an error where the library is not of the header's version
  std::function<std::string(int code)> strerror;
  std::function<std::vector<PapiComponent>()> components;  ///< by index
  std::function<int(const std::string& name, int& code)> event_name_to_code;
  std::function<int(int code)> get_event_component;  ///< its index, or an error
  /// Names of all native events, without unit masks; with an event's name, those of its unit masks.
  std::function<std::vector<std::string>(const std::string& event)> native_names;
  std::function<int(int& set)> create_eventset;
  std::function<int(int set, int code)> add_event;
  std::function<int(int set)> start;
  std::function<int(int set, long long* values)> read;
  std::function<int(int set, long long* values)> stop;
  std::function<int(int set)> cleanup_eventset;
  std::function<int(int& set)> destroy_eventset;
};

/// The calls of the library that this program was linked with. Empty functions where it was built without.
[[nodiscard]] PapiCalls papi_library();

/// The backend with these calls; `why_not` where there are none. Sockets are asked for when events are opened.
[[nodiscard]] std::unique_ptr<CounterBackend> make_papi_backend(PapiCalls calls, std::string why_not,
                                                                std::function<ProcessSockets()> sockets);

}  // namespace fourscore
