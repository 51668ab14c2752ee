// libpapi itself, behind the calls of papi.hpp.

#include "hwcounters/papi.hpp"

#ifdef FOURSCORE_PAPI
#include <papi.h>

#include <array>
#endif

namespace fourscore {

#ifdef FOURSCORE_PAPI
namespace {

static_assert(papi_code::ok == PAPI_OK && papi_code::system == PAPI_ESYS && papi_code::no_event == PAPI_ENOEVNT &&
              papi_code::conflict == PAPI_ECNFLCT && papi_code::no_counters == PAPI_ENOCNTR &&
              papi_code::permission == PAPI_EPERM && papi_code::no_component == PAPI_ENOCMP);

int library_init() {
  const int result = PAPI_library_init(PAPI_VER_CURRENT);
  if (result == PAPI_VER_CURRENT) return PAPI_OK;
  return result < 0 ? result : PAPI_EINVAL;  // above 0: a library of another version than the header's
}

std::string error_text(int code) {
  const char* text = PAPI_strerror(code);
  return text == nullptr ? "unknown error" : text;
}

std::vector<PapiComponent> components() {
  std::vector<PapiComponent> all;
  for (int i = 0; i < PAPI_num_components(); ++i) {
    const PAPI_component_info_t* info = PAPI_get_component_info(i);
    if (info == nullptr)
      all.push_back({});
    else
      // A component may put off its start until its first event is asked for; then it is not known to be of no use.
      all.push_back(
          {info->name, info->disabled == PAPI_OK || info->disabled == PAPI_EDELAY_INIT, info->disabled_reason});
  }
  return all;
}

void append_names(int component, int first, int modifier, std::vector<std::string>& names) {
  int code = first;
  std::array<char, PAPI_HUGE_STR_LEN> name{};
  if (modifier == PAPI_ENUM_EVENTS && PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, component) != PAPI_OK) return;
  if (modifier != PAPI_ENUM_EVENTS && PAPI_enum_cmp_event(&code, modifier, component) != PAPI_OK) return;
  do {
    if (PAPI_event_code_to_name(code, name.data()) == PAPI_OK) names.emplace_back(name.data());
  } while (PAPI_enum_cmp_event(&code, modifier, component) == PAPI_OK);
}

std::vector<std::string> native_names(const std::string& event) {
  std::vector<std::string> names;
  if (event.empty()) {
    for (int i = 0; i < PAPI_num_components(); ++i) append_names(i, PAPI_NATIVE_MASK, PAPI_ENUM_EVENTS, names);
    return names;
  }
  int code = 0;
  if (PAPI_event_name_to_code(event.c_str(), &code) == PAPI_OK)
    append_names(PAPI_get_event_component(code), code, PAPI_NTV_ENUM_UMASKS, names);
  return names;
}

}  // namespace

PapiCalls papi_library() {
  PapiCalls calls;
  calls.library_init = library_init;
  calls.strerror = error_text;
  calls.components = components;
  calls.event_name_to_code = [](const std::string& name, int& code) {
    return PAPI_event_name_to_code(name.c_str(), &code);
  };
  calls.get_event_component = [](int code) { return PAPI_get_event_component(code); };
  calls.native_names = native_names;
  calls.create_eventset = [](int& set) {
    set = PAPI_NULL;
    return PAPI_create_eventset(&set);
  };
  calls.add_event = [](int set, int code) { return PAPI_add_event(set, code); };
  calls.start = [](int set) { return PAPI_start(set); };
  calls.read = [](int set, long long* values) { return PAPI_read(set, values); };
  calls.stop = [](int set, long long* values) { return PAPI_stop(set, values); };
  calls.cleanup_eventset = [](int set) { return PAPI_cleanup_eventset(set); };
  calls.destroy_eventset = [](int& set) { return PAPI_destroy_eventset(&set); };
  return calls;
}
#else
PapiCalls papi_library() { return {}; }
#endif

}  // namespace fourscore
