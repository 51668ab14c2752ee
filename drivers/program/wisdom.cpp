#include "program/wisdom.hpp"

#include <fmt/format.h>

#include "core/sha256.hpp"
#include "harness/gather.hpp"
#include "results/output_file.hpp"
#include "results/regular_file.hpp"

namespace fourscore::bench {

std::string load_wisdom(MPI_Comm comm, Agreement& agreement, const LocalFftLibrary& library,
                        const std::filesystem::path& file) {
  std::string text;
  agreement.run_on_root([&] {
    std::error_code error;
    if (!std::filesystem::exists(file, error)) return;
    // A device may have no end, and a FIFO no writer.
    if (!std::filesystem::is_regular_file(file, error))
      throw InputError(fmt::format("wisdom file {} cannot be used: it is no regular file; expected one, or a new name",
                                   file.string()));
    try {
      text = read_regular_file(file).text;
    } catch (const std::runtime_error& problem) {
      throw InputError(fmt::format("wisdom file {} cannot be used: {}", file.string(), problem.what()));
    }
    if (text.empty()) throw InputError(fmt::format("wisdom file {} cannot be used: it is empty", file.string()));
  });
  text = broadcast_text(comm, 0, std::move(text));
  if (text.empty()) return {};
  agreement.run([&] { library.import_wisdom(text, "wisdom file " + file.string()); });
  return sha256_hex(text);
}

void save_wisdom(Agreement& agreement, const LocalFftLibrary& library, const std::filesystem::path& file) {
  agreement.run_on_root([&] {
    try {
      OutputFile whole(file);
      whole.stream() << library.export_wisdom();
      whole.commit();
    } catch (const OutputFailed& error) {
      throw InputError(fmt::format("{}; expected a place for the wisdom file that can be written", error.what()));
    }
  });
}

}  // namespace fourscore::bench
