// fourscore archive: archives that travel. One made of several, one file made of an archive.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/machines/archive_folder.hpp"
#include "results/index.hpp"
#include "results/merge.hpp"
#include "results/pack.hpp"
#include "results/printable.hpp"
#include "results/scrub.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct ArchiveOptions {
  std::vector<std::string> sources;
  std::vector<std::string> words;
  std::string archive;
  std::string file;
  std::string output;
  bool json = false;
};

void index_anew(const Archive& archive) {
  try {
    (void)reindex(archive);
  } catch (const IndexError& error) {
    fmt::print(stderr, "the records are safe, but the index was not written: {}\n", error.what());
  }
}

int merge(const ArchiveOptions& options) {
  std::vector<Archive> sources;
  for (const std::string& folder : options.sources)
    sources.emplace_back(fs::absolute(folder).lexically_normal(), Archive::Access::read_only);
  const Archive target(fs::absolute(options.output).lexically_normal());
  const MergeResult result = merge_archives(sources, target);
  index_anew(target);
  if (options.json) {
    json list = json::array();
    for (const auto& source : result.sources)
      list.push_back({{"archive", source.root.string()}, {"records", source.records}, {"copied", source.copied}});
    print_json({{"archive", target.root().string()}, {"sources", list}, {"kept", result.kept}});
    return exit_done;
  }
  for (const auto& source : result.sources)
    fmt::print("{}: {}, {} copied\n", printable(source.root.string()), plural(source.records, "record"), source.copied);
  for (const std::string& file : result.kept)
    fmt::print("{} differs and stays as the first archive has it\n", printable(file));
  return exit_done;
}

int tell(const Pack& pack, const fs::path& from, const fs::path& to, bool as_json) {
  if (as_json)
    print_json({{"from", from.string()},
                {"to", to.string()},
                {"files", pack.files},
                {"records", pack.records},
                {"bytes", pack.bytes}});
  else
    fmt::print("{}: {}, {} in all\n", printable(to.string()), plural(pack.records, "record"),
               plural(pack.files, "file"));
  return exit_done;
}

void require_packs() {
  if (const std::string reason = packs_unavailable(); !reason.empty()) throw EnvironmentError(reason);
}

int pack(const ArchiveOptions& options) {
  require_packs();
  const Archive archive(fs::absolute(archive_folder(options.archive)), Archive::Access::read_only);
  return tell(pack_archive(archive, options.output), archive.root(), fs::absolute(options.output), options.json);
}

int unpack(const ArchiveOptions& options) {
  require_packs();
  const Archive target(fs::absolute(options.output).lexically_normal());
  const Pack pack = unpack_archive(options.file, target);
  index_anew(target);
  return tell(pack, options.file, target.root(), options.json);
}

int scrub(const ArchiveOptions& options) {
  const Archive archive(fs::absolute(archive_folder(options.archive)), Archive::Access::read_only);
  const Archive target(fs::absolute(options.output).lexically_normal());
  const ScrubResult result = scrub_archive(archive, target, options.words);
  index_anew(target);
  if (options.json) {
    print_json({{"archive", target.root().string()},
                {"records", result.records},
                {"changed", result.changed},
                {"removed", result.removed},
                {"left_out", result.left_out}});
    return exit_done;
  }
  for (const auto& [rule, entries] : result.removed)
    for (const auto& [what, instead] : entries) fmt::print("{}: {} -> {}\n", rule, printable(what), printable(instead));
  for (const std::string& file : result.left_out) fmt::print("left out: {}\n", printable(file));
  fmt::print("{}, {} of them changed\n", plural(result.records, "record"), result.changed);
  return exit_done;
}

/// What every subcommand has beside its own options, which stand before these in its help.
void add_output(CLI::App& part, ArchiveOptions& options, const char* what, const char* type = "DIR") {
  part.add_option("-o,--output", options.output, what)->required()->type_name(type);
  add_json_option(part, options.json);
}

void add_merge(CLI::App& part, ArchiveOptions& options) {
  part.add_option("archive", options.sources, "archives to merge")->required()->type_name("DIR");
  add_output(part, options, "archive to merge into; made when missing");
}

void add_pack(CLI::App& part, ArchiveOptions& options) {
  add_archive_option(part, options.archive);
  add_output(part, options, "file to write; its ending says how: .tar.zst, .tar.gz, .tgz or .tar", "FILE");
}

void add_unpack(CLI::App& part, ArchiveOptions& options) {
  part.add_option("file", options.file, "file that pack wrote")->required()->type_name("FILE");
  add_output(part, options, "folder to make; it must not exist, or be empty");
}

void add_scrub(CLI::App& part, ArchiveOptions& options) {
  add_archive_option(part, options.archive);
  part.add_option("--word", options.words, "another private word, as an account's name; may be repeated")
      ->type_name("TEXT");
  add_output(part, options, "archive to write; it must not exist");
}

struct Part {
  const char* name;
  const char* summary;
  void (*define)(CLI::App& part, ArchiveOptions& options);
  int (*run)(const ArchiveOptions& options);
};

constexpr Part parts[] = {
    {"merge", "Make one archive of several; records keep their ids", add_merge, merge},
    {"pack", "Write an archive as one compressed file", add_pack, pack},
    {"unpack", "Make the archive that a file holds", add_unpack, unpack},
    {"scrub", "Write an archive without what is private: hosts, users, folders, jobs", add_scrub, scrub},
};

Command archive_command() {
  return {"archive", "Archives that travel: one made of several, one as one file, one without what is private",
          "  fourscore archive merge cluster-a cluster-b -o both\n"
          "  fourscore archive pack --archive both -o both.tar.zst\n"
          "  fourscore archive unpack both.tar.zst -o both\n"
          "  fourscore archive scrub --archive both -o public --word my-project\n"
          "merge writes nothing where one record_id or one name has two contents, or a record cannot be read.\n"
          "What travels: records, campaigns, comparisons and certifications; neither locks, jobs nor the index.\n",
          56, [](CLI::App& app) -> std::function<int()> {
            auto options = std::make_shared<ArchiveOptions>();
            app.require_subcommand(1);
            for (const Part& part : parts) part.define(*app.add_subcommand(part.name, part.summary), *options);
            return [options, &app] {
              const std::string chosen = app.get_subcommands().front()->get_name();
              return std::ranges::find(parts, chosen, &Part::name)->run(*options);
            };
          }};
}

FOURSCORE_REGISTER_COMMAND(archive_command);

}  // namespace
}  // namespace fourscore
