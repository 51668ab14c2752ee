#include "results/own_checks.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/record.hpp"

namespace fourscore {
using nlohmann::json;

Reason why_not_relied_on(const json& record) {
  if (const json status = record.value("/verdict/status"_json_pointer, json()); status != "ok")
    return fmt::format("its status is {}; expected \"ok\"", status.dump());
  if (const json by = record.value("verified_by", json(by_harness)); by != by_harness)
    return fmt::format("its verified_by is {}; expected \"{}\"", by.dump(), by_harness);
  if (const json by = record.value("/verification/checked_by"_json_pointer, json()); !by.is_null())
    return fmt::format("it relies on the checks of record {} itself", by.dump());
  return {};
}

Reason why_not_relied_on(const json& record, const std::string& point_id, const json& provenance,
                         const std::string& check) {
  if (auto reason = why_not_relied_on(record)) return reason;
  const std::array<std::pair<const char*, json>, 4> expected{
      std::pair{"/point_id", json(point_id)},
      {"/provenance/code_hash", provenance.value("code_hash", json())},
      {"/provenance/machine_hash", provenance.value("machine_hash", json())},
      {"/sampling/check", json(check)}};
  for (const auto& [pointer, value] : expected)
    if (const json said = record.value(json::json_pointer(pointer), json()); said != value || said.is_null())
      return fmt::format("its {} is {}; expected {}", std::string(pointer).substr(std::string(pointer).rfind('/') + 1),
                         said.dump(), value.dump());
  return {};
}

}  // namespace fourscore
