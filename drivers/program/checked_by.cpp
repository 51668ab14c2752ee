#include "program/checked_by.hpp"

#include <fmt/format.h>

#include "core/record.hpp"
#include "mpi/broadcast.hpp"
#include "results/archive.hpp"
#include "results/own_checks.hpp"

namespace fourscore::bench {
namespace {

using nlohmann::json;

/// Nothing where the record is of what was chosen here.
Reason another_choice(const json& record, const json& tuning) {
  for (const char* key : {"exchange", "grid"}) {
    const json chosen = tuning.is_null() ? json() : tuning.value(key, json());
    const json said = record.value(json::json_pointer("/resolved/tuning/" + std::string(key)), json());
    if (said != chosen) return fmt::format("it was tuned to {} {}; expected {}", key, said.dump(), chosen.dump());
  }
  return {};
}

}  // namespace

std::string rely_on_earlier_checks(const Launch& launch, Options& options, const ResolvedPoint& resolved,
                                   const json& tuning, const json& provenance) {
  if (!options.checked_by) return {};
  std::string note, id;
  launch.agreement.run_on_root([&] {
    const std::string file = options.checked_by->string();
    try {
      const json record = read_record(file);
      auto reason = why_not_relied_on(record, point_id(resolved.asked()), provenance, options.settings.check);
      if (!reason) reason = another_choice(record, tuning);
      if (reason)
        note = fmt::format("checked in full: {} cannot stand for it, because {}", file, *reason);
      else
        id = record.at("record_id");
    } catch (const UnreadableRecord& error) {
      throw InputError(fmt::format("--checked-by {}: {}; expected an earlier record of the point", file, error.what()));
    }
  });
  options.relied_on = mpi::broadcast_text(launch.comm, 0, std::move(id));
  if (!options.relied_on.empty()) options.extent = CheckExtent::waves;
  return note;
}

}  // namespace fourscore::bench
