#include "core/installed.hpp"

#include <system_error>

#include "core/path_kind.hpp"

namespace fourscore {
namespace fs = std::filesystem;

namespace {

/// share/fourscore of the nearest folder above this program that has one: bin/ and libexec/fourscore/simulator/ are in
/// the same prefix.
fs::path share_of_prefix() {
  fs::path prefix = own_folder().parent_path();
  for (int up = 0; up < 3; ++up, prefix = prefix.parent_path())
    if (names_folder(prefix / "share/fourscore")) return prefix / "share/fourscore";
  return {};
}

}  // namespace

fs::path own_folder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::current_path() : self.parent_path();
}

fs::path installed_folder(const std::string& name) {
  const fs::path share = share_of_prefix();
  std::error_code error;
  fs::path folder =
      share.empty() ? fs::path() : fs::canonical(share / name, error);  // a link's target is what users know
  return !error && names_folder(folder) ? folder : fs::path();
}

std::string installed_place(const std::string& name) {
  const fs::path share = share_of_prefix();
  return ((share.empty() ? own_folder().parent_path() / "share/fourscore" : share) / name).string();
}

fs::path configured_place(const std::string& name) {
  std::error_code error;
  const fs::path place = fs::read_symlink(share_of_prefix() / name, error);
  return error ? fs::path() : place;
}

}  // namespace fourscore
