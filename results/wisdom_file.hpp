#pragma once
// A file of wisdom: plans of local FFT libraries that are kept from launch to launch. What one library of one version
// remembers on one kind of machine is a section of its own, and who writes hands on all sections of others.

#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

namespace fourscore {

/// Text that is no file of wisdom; the message is the reason alone.
struct NoWisdomFile : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct WisdomFile {
  std::map<std::string, std::string> sections;  ///< text of a library, by whom it is of: one line, chosen by the caller
  std::string damage;                           ///< what of the file cannot be used, and why; empty: nothing
};

/// What the text of a file holds. A section that is cut off or changed is damage, as is an empty file and one of an
/// older fourscore: they are left out. Throws NoWisdomFile where the first line is of something else.
[[nodiscard]] WisdomFile parse_wisdom_file(const std::string& text);
[[nodiscard]] std::string wisdom_file_text(const std::map<std::string, std::string>& sections);

/// Reads the file as it is now, lets `change` make of its sections what is to be there, and puts the result in its
/// place: a reader sees the old file or the new one. Writers on one node, and on others where the file system has
/// locks, wait for each other, so that none undoes what another added. No file is one without sections. Throws
/// UnreadableFile, NoWisdomFile and OutputFailed.
void update_wisdom_file(const std::filesystem::path& file,
                        const std::function<void(std::map<std::string, std::string>&)>& change);

}  // namespace fourscore
