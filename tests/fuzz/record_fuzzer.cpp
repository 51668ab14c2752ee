// The record reader and all that reads what it lets through: a record, or an UnreadableRecord. What has passed can be
// verified, indexed and exported without any exception.

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "results/archive.hpp"
#include "results/chrome_trace.hpp"
#include "results/export.hpp"
#include "results/index_columns.hpp"
#include "results/verify.hpp"

namespace {

namespace fs = std::filesystem;

/// A folder as a campaign's, removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "fourscore-fuzz-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] fs::path record() const { return path_ / "0123456789abcdef-000.json"; }

 private:
  fs::path path_;
};

}  // namespace

// libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {  // NOLINT(readability-identifier-naming)
  using namespace fourscore;
  static const Folder folder;
  const fs::path file = folder.record();
  std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    const nlohmann::json record = read_record(file);
    (void)problems_of(record, file);
    (void)index_row(record, "records/fuzzed/" + file.filename().string());
    std::ostringstream csv;
    CsvExport(csv).add(record, "records/fuzzed/" + file.filename().string());
    (void)benchmark_export({record}, "fft_bench").dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
    (void)chrome_trace({record}).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  } catch (const UnreadableRecord&) {
    return 0;
  }
  return 0;
}
