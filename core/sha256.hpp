#pragma once
// SHA-256, for identities and for what a record was made from.

#include <filesystem>
#include <string>
#include <string_view>

namespace fourscore {

/// 64 lower-case hex digits.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);
/// Of a file's content. Throws std::system_error when it cannot be read.
[[nodiscard]] std::string sha256_file(const std::filesystem::path& path);

}  // namespace fourscore
