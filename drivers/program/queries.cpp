#include "program/queries.hpp"

#include <string>

#include "core/record.hpp"
#include "harness/provenance.hpp"
#include "hwcounters/counter.hpp"
#include "interfaces/pointwise_operator.hpp"
#include "program/candidates.hpp"
#include "program/plugins.hpp"
#include "program/resolve.hpp"

namespace fourscore::bench {
namespace {

using nlohmann::json;

template <class T>
json entry_json(const T& entry) {
  const Card card = entry.card();
  const std::string reason = entry.unavailable();
  return {{"name", card.name},
          {"summary", card.summary},
          {"citation", card.citation},
          {"available", reason.empty()},
          {"reason", reason}};
}

template <class T>
json entries_json(const Registry<T>& registry, const auto& decorate) {
  json entries = json::array();
  for (const std::string& name : registry.names()) {
    const T& entry = *registry.find(name);
    json value = entry_json(entry);
    decorate(entry, value);
    entries.push_back(std::move(value));
  }
  return entries;
}

json counters_json() {
  json backends = json::array();
  for (const std::string& name : CounterRegistry::instance().names()) {
    const std::string reason = counter_backend(name).unavailable();
    backends.push_back({{"name", name}, {"available", reason.empty()}, {"reason", reason}});
  }
  return backends;
}

}  // namespace

json list_entries() {
  return {{"variants", entries_json(VariantRegistry::instance(),
                                    [](const Variant& variant, json& value) {
                                      const VariantFacts facts = variant.facts();
                                      value["takes_exchange"] = variant.takes_exchange();
                                      value["default_exchange"] = facts.exchange;
                                      value["parameters"] = parameters_json(facts.parameters);
                                      value["kinds"] = json::array();
                                      for (const Kind kind : facts.kinds) value["kinds"].push_back(to_string(kind));
                                    })},
          {"exchanges", entries_json(ExchangeRegistry::instance(),
                                     [](const ExchangeMethod& exchange, json& value) {
                                       value["parameters"] = parameters_json(exchange.parameters());
                                     })},
          {"operators", entries_json(OperatorRegistry::instance(), [](const PointwiseOperator&, json&) {})},
          {"counters", counters_json()},
          {"local_ffts", entries_json(LocalFftRegistry::instance(), [](const LocalFftLibrary& library, json& value) {
             if (library.unavailable().empty()) value["version"] = library.version();
           })}};
}

LocalLibraries local_libraries() {
  LocalLibraries libraries{.loaded_later = libraries_of_plugins()};
  for (const std::string& name : LocalFftRegistry::instance().names()) {
    const LocalFftLibrary& library = *LocalFftRegistry::instance().find(name);
    libraries.loaded_later.merge(library.libraries_loaded_later());
    if (name == "fftw" && library.unavailable().empty()) libraries.fftw = library.version();
  }
  return libraries;
}

json describe_identity() {
  json answer = hashed_identity(machine_identity(), code_identity(local_libraries()));
  answer["program"] = own_program().string();
  return answer;
}

json about_point(const Point& point) {
  check_platform(point);
  const auto [resolved, refusal, candidates] = resolve_choice(point);
  const GridRoom room = room_of_grid(resolved);
  return {{"point_id", point_id(resolved.asked())},
          {"point", point_json(resolved.asked())},
          {"grid", {{"entries", room.entries}, {"ranks", room.ranks}}},
          {"supported", !refusal},
          {"reason", refusal ? refusal->reason : ""}};
}

}  // namespace fourscore::bench
