#pragma once
// The archive: where records, campaigns and the index are, and reading records back (results/README.md).

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/plain_name.hpp"

namespace fourscore {

/// A record file that cannot be used: no regular file, truncated, not a record, of a newer schema, or with a key of a
/// wrong type. The message is the reason alone.
struct UnreadableRecord : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// The archive is missing or cannot be written; the message names the folder and what the system said.
struct ArchiveError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Makes the folder, and those above it. Throws ArchiveError.
void make_folder(const std::filesystem::path& folder);

/// What the folder holds, sorted; nothing where it cannot be listed.
[[nodiscard]] std::vector<std::filesystem::path> children_of(const std::filesystem::path& folder);

/// The whole of a file that is copied or packed. Throws ArchiveError.
[[nodiscard]] std::string text_to_keep(const std::filesystem::path& file);

/// Paths of one archive; reads only, but for create_campaign(). Names of campaigns are those of folders that are there,
/// or passed require_campaign_name(); other names may come from a record or a program.
class Archive {
 public:
  enum class Access { full, read_only };
  explicit Archive(std::filesystem::path root, Access access = Access::full)
      : root_(std::move(root)), access_(access) {}

  /// For a dry run: neither the index nor anything else is written.
  [[nodiscard]] bool is_read_only() const { return access_ == Access::read_only; }

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] std::filesystem::path index_file() const { return root_ / "index.sqlite"; }
  [[nodiscard]] std::filesystem::path campaign_folder(const std::string& campaign) const;
  [[nodiscard]] std::filesystem::path records_folder(const std::string& campaign) const;
  [[nodiscard]] std::filesystem::path record_file(const std::string& campaign, const PlainName& point_id,
                                                  int launch) const;
  /// Where the local FFT library keeps its plans for one machine, when a suite asks for that.
  [[nodiscard]] std::filesystem::path wisdom_file(const PlainName& machine_hash) const;
  /// What `fourscore counters qualify` found out about a counter backend on one machine.
  [[nodiscard]] std::filesystem::path qualification_file(const PlainName& machine_hash, const PlainName& backend,
                                                         const PlainName& group) const;
  /// Relative to the root, with forward slashes: a record's name in the index and in messages.
  [[nodiscard]] std::string name_of(const std::filesystem::path& file) const;

  /// Names of campaigns with records or a campaign.json, sorted.
  [[nodiscard]] std::vector<std::string> campaigns() const;
  /// Record files of one campaign, or of all, sorted by name: whatever is called so, since read_record() says what is
  /// no regular file. Temporary files of running launches are left out. A folder that cannot be listed is returned
  /// itself, so that the reader of the files names it.
  [[nodiscard]] std::vector<std::filesystem::path> record_files(const std::string& campaign) const;
  [[nodiscard]] std::vector<std::filesystem::path> record_files() const;

  /// Throws ArchiveError when the folder does not exist.
  void require() const;
  /// Makes the folders of a campaign and writes, syncs and removes a file in them. Throws ArchiveError.
  void create_campaign(const std::string& campaign) const;

 private:
  std::filesystem::path root_;
  Access access_;
};

/// Point and launch by a record file's name, "5c1e…-007.json"; nothing for another name.
[[nodiscard]] std::optional<std::pair<std::string, int>> launch_of_file(const std::filesystem::path& file);

/// The record in a file's text. Its keys have the types that this program relies on (results/record_shape.hpp). Throws
/// UnreadableRecord.
[[nodiscard]] nlohmann::json parse_record(const std::string& text);
/// The record in a regular file. Throws UnreadableRecord.
[[nodiscard]] nlohmann::json read_record(const std::filesystem::path& file);

/// Applies function(const Item&) to all items on some threads; results in the items' order. The first exception is
/// thrown again.
template <class Item, class Function>
auto parallel_map(const std::vector<Item>& items, Function function) {
  using Result = decltype(function(items.front()));
  std::vector<std::optional<Result>> slots(items.size());
  std::atomic<std::size_t> next{0};
  std::exception_ptr error;
  std::mutex error_mutex;
  const auto work = [&] {
    for (std::size_t i = next++; i < items.size(); i = next++) {
      try {
        slots[i].emplace(function(items[i]));
      } catch (...) {
        const std::lock_guard lock(error_mutex);
        if (!error) error = std::current_exception();
        return;
      }
    }
  };
  const std::size_t threads =
      std::min<std::size_t>(items.size() / 16, std::clamp(std::thread::hardware_concurrency(), 2U, 16U));
  {
    std::vector<std::jthread> pool;
    for (std::size_t i = 1; i < threads; ++i) pool.emplace_back(work);
    work();
  }
  if (error) std::rethrow_exception(error);
  std::vector<Result> results;
  results.reserve(items.size());
  for (auto& slot : slots) results.push_back(std::move(*slot));
  return results;
}

}  // namespace fourscore
