#include "program/queries.hpp"

#include <istream>
#include <ostream>
#include <string>

#include "core/record.hpp"
#include "harness/provenance.hpp"
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

json answer(const std::string& line) {
  try {
    const ResolvedPoint resolved = resolve_point(point_from_json(json::parse(line)));
    return {{"point_id", point_id(resolved.point)},
            {"point", point_json(resolved.point)},
            {"supported", !resolved.skip},
            {"reason", resolved.skip.value_or("")},
            {"error", false}};
  } catch (const json::parse_error& error) {
    return {{"supported", false}, {"reason", std::string("not JSON: ") + error.what()}, {"error", true}};
  } catch (const PointError& error) {
    return {{"supported", false}, {"reason", error.what()}, {"error", true}, {"key", error.key}};
  } catch (const InputError& error) {
    return {{"supported", false}, {"reason", error.what()}, {"error", true}};
  }
}

}  // namespace

json list_entries() {
  return {{"variants", entries_json(VariantRegistry::instance(),
                                    [](const Variant& variant, json& value) {
                                      value["takes_exchange"] = variant.takes_exchange();
                                      value["parameters"] = names_of(variant.parameters());
                                      value["kinds"] = json::array();
                                      for (const Kind kind : variant.kinds()) value["kinds"].push_back(to_string(kind));
                                    })},
          {"exchanges", entries_json(ExchangeRegistry::instance(),
                                     [](const ExchangeMethod& exchange, json& value) {
                                       value["parameters"] = names_of(exchange.parameters());
                                     })},
          {"local_ffts", entries_json(LocalFftRegistry::instance(), [](const LocalFftLibrary& library, json& value) {
             if (library.unavailable().empty()) value["version"] = library.version();
           })}};
}

std::string fftw_version() {
  const LocalFftLibrary* library = LocalFftRegistry::instance().find("fftw");
  return library == nullptr || !library->unavailable().empty() ? "" : library->version();
}

json describe_identity() { return hashed_identity(machine_identity(), code_identity(fftw_version())); }

void check_points(std::istream& in, std::ostream& out) {
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) out << answer(line).dump(-1, ' ', false, json::error_handler_t::replace) << "\n" << std::flush;
}

}  // namespace fourscore::bench
