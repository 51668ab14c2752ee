#pragma once
// SHA-256, for identities and for what a record was made from.

#include <filesystem>
#include <string>
#include <string_view>

namespace fourscore {

/// 64 lower-case hex digits.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);
/// The digest of a file's content. Throws std::system_error when it cannot be read.
[[nodiscard]] std::string sha256_file(const std::filesystem::path& path);
/// The digest of a file's size and of 64 blocks of 4 KiB, spread evenly over it, as "samples-sha256:…": for libraries
/// of 100 MB that have no build id. Another build moves what follows a change, and so changes what lies in the blocks;
/// a change that keeps every other byte in its place is not seen. Throws std::system_error when it cannot be read.
[[nodiscard]] std::string sha256_of_samples(const std::filesystem::path& path);

}  // namespace fourscore
