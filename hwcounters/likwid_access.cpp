// Looked at before LIKWID is asked: where it finds neither registers nor a daemon that may read them, it waits ten
// seconds and ends the process.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "core/environment.hpp"
#include "hwcounters/likwid.hpp"

namespace fourscore {
namespace fs = std::filesystem;
namespace {

constexpr const char* no_msr =
    "; load the kernel's module (modprobe msr); a virtual machine usually keeps these registers from its guests";

std::optional<fs::path> find_daemon(const LikwidSurroundings& surroundings) {
  std::vector<fs::path> folders = surroundings.path;
  for (const char* more : {"usr/sbin", "usr/local/sbin", "sbin"}) folders.push_back(surroundings.root / more);
  for (const auto& folder : folders)
    if (const fs::path file = folder / "likwid-accessD"; ::access(file.c_str(), X_OK) == 0) return file;
  return std::nullopt;
}

/// It reads the registers for us: as root's own file with the set-user-ID bit, or with a capability.
bool may_read_registers(const fs::path& daemon) {
  struct stat about {};
  if (::stat(daemon.c_str(), &about) != 0) return false;
  if (about.st_uid == 0 && (about.st_mode & S_ISUID) != 0) return true;
  std::array<char, 64> capability{};
  return ::getxattr(daemon.c_str(), "security.capability", capability.data(), capability.size()) > 0;
}

}  // namespace

LikwidSurroundings likwid_surroundings() {
  LikwidSurroundings found;
  found.path = path_folders();
  found.marker = true;
  for (const char* name : {"LIKWID_MODE", "LIKWID_FILEPATH", "LIKWID_EVENTS", "LIKWID_THREADS"})
    found.marker = found.marker && std::getenv(name) != nullptr;
  return found;
}

LikwidAccess likwid_access(const LikwidSurroundings& surroundings, const std::vector<int>& cpus) {
  for (const int cpu : cpus) {
    const fs::path file = surroundings.root / "dev/cpu" / std::to_string(cpu) / "msr";
    const int opened = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    if (opened >= 0) {
      ::close(opened);
      continue;
    }
    const int why = errno;
    if (why == ENOENT || why == ENXIO || why == ENODEV)
      throw CounterError(
          fmt::format("LIKWID needs {}, which is not there ({}){}", file.string(), std::strerror(why), no_msr));
    const auto daemon = find_daemon(surroundings);
    if (!daemon)
      throw CounterError(fmt::format(
          "LIKWID may not open {} ({}) and its access daemon likwid-accessD is not in PATH; run as root, or "
          "install the daemon",
          file.string(), std::strerror(why)));
    if (!may_read_registers(*daemon))
      throw CounterError(
          fmt::format("LIKWID may not open {} ({}), and {} may not either; as root: chown root {} && chmod u+s {}",
                      file.string(), std::strerror(why), daemon->string(), daemon->string(), daemon->string()));
    return LikwidAccess::daemon;
  }
  return LikwidAccess::direct;
}

}  // namespace fourscore
