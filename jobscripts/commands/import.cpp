// fourscore import: take records that were measured outside a campaign into the archive.

#include <fmt/format.h>

#include "core/text.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/machines/archive_folder.hpp"
#include "results/import_records.hpp"
#include "results/index.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct ImportOptions {
  std::vector<std::string> files;
  std::string campaign;
  std::string archive;
  bool vouch = false;
  bool json = false;
};

int import_files(const ImportOptions& options) {
  const Archive archive(fs::absolute(archive_folder(options.archive)));
  const ImportResult result =
      import_records(archive, {options.files.begin(), options.files.end()}, options.campaign, options.vouch);
  std::vector<fs::path> files;
  for (const auto& [from, to] : result.imported) files.push_back(to);
  try {
    if (!files.empty()) add_to_index(archive, files);
  } catch (const IndexError& error) {
    fmt::print(stderr, "the records are safe, but the index was not written: {}\n", error.what());
  }
  if (options.json) {
    json imported = json::array();
    json already = json::array();
    for (const auto& [from, to] : result.imported)
      imported.push_back({{"from", from.string()}, {"file", archive.name_of(to)}});
    for (const fs::path& file : result.already_there) already.push_back(file.string());
    print_json({{"campaign", result.campaign}, {"imported", imported}, {"already_there", already}});
    return exit_done;
  }
  for (const fs::path& file : result.already_there) fmt::print("{} is there already\n", printable(file.string()));
  fmt::print("{} imported into campaign {}{}\n", plural(files.size(), "record"), printable(result.campaign),
             files.empty() || options.vouch ? "" : ", flagged foreign: no ranking takes them without --vouch");
  return exit_done;
}

Command import_command() {
  return {"import", "Take records that fft_bench or a component program wrote into the archive",
          "  mpirun -n 4 fft_bench --variant pencil --shape SHAPE --record a.json\n"
          "  fourscore import a.json b.json --vouch\n"
          "  fourscore import run-*.json --campaign two-nodes\n"
          "All files are looked at first: when one cannot be used nothing is imported. The files stay as they are.\n",
          55, with_options<ImportOptions>(import_files, [](CLI::App& app, ImportOptions& options) {
            app.add_option("file", options.files, "records, as --record wrote them")->required()->type_name("FILE");
            app.add_option("--campaign", options.campaign,
                           "campaign to import into (default: imported-<8 digits of machine and program>)")
                ->type_name("NAME");
            app.add_flag(
                "--vouch", options.vouch,
                "you know that fft_bench or a component program wrote these files; without it they are flagged "
                "foreign, and no ranking takes them");
            add_archive_option(app, options.archive);
            add_json_option(app, options.json);
          })};
}

FOURSCORE_REGISTER_COMMAND(import_command);

}  // namespace
}  // namespace fourscore
