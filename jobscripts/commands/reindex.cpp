// fourscore reindex: build the SQLite index anew from the records.

#include <fmt/format.h>

#include "jobscripts/commands/campaigns.hpp"
#include "jobscripts/commands/command.hpp"
#include "results/index.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

int reindex_archive(const CampaignsOptions& options) {
  const Archive archive = open_archive(options.archive);
  const ReindexResult result = reindex(archive);
  if (options.json) {
    json unreadable = json::array();
    for (const auto& [file, reason] : result.unreadable) unreadable.push_back({{"file", file}, {"reason", reason}});
    print_json({{"records", result.records}, {"unreadable", unreadable}, {"seconds", result.seconds}});
    return exit_done;
  }
  for (const auto& [file, reason] : result.unreadable)
    fmt::print(stderr, "unreadable: {}: {}\n", printable(file), printable(reason));
  fmt::print("{} records indexed in {:.2f} s, {} unreadable\n", result.records, result.seconds,
             result.unreadable.size());
  return exit_done;
}

Command reindex_command() {
  return {"reindex", "Rebuild the index from the records",
          "  fourscore reindex --archive results-2026\n"
          "Files that cannot be read are named, kept in the table `unreadable`, and passed over.\n",
          50, with_options<CampaignsOptions>(reindex_archive, [](CLI::App& app, CampaignsOptions& options) {
            add_archive_option(app, options.archive);
            add_json_option(app, options.json);
          })};
}

FOURSCORE_REGISTER_COMMAND(reindex_command);

}  // namespace
}  // namespace fourscore
