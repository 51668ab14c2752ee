#include "jobscripts/laboratory/places.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "core/errors.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/base/process.hpp"
#include "jobscripts/laboratory/processes.hpp"

namespace fourscore {
namespace fs = std::filesystem;

namespace {

const std::array<fs::path, 2> own_folders{"/tmp", "/dev/shm"};

bool is_below(const fs::path& path, const fs::path& folder) {
  return path != folder && std::ranges::mismatch(folder, path).in1 == folder.end();
}

bool is_below_own(const fs::path& path) {
  return std::ranges::any_of(own_folders, [&](const fs::path& own) { return is_below(path, own); });
}

void mount_new(const char* type, const fs::path& on, unsigned long flags, const char* options = nullptr) {
  require_system(::mount(type, on.c_str(), type, flags, options) == 0, fmt::format("a {} on {}", type, on.string()));
}

void mount_again(const fs::path& what, const fs::path& on) {
  require_system(::mount(what.c_str(), on.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0,
                 fmt::format("{} bound to {}", what.string(), on.string()));
}

/// A folder that something is mounted above, and that is to be seen all the same.
class KeptFolder {
 public:
  explicit KeptFolder(fs::path path) : path_(std::move(path)), file_(::open(path_.c_str(), O_PATH | O_CLOEXEC)) {
    require_system(file_.get() >= 0, path_.string());
  }
  void show() const {
    fs::create_directories(path_);
    mount_again(fmt::format("/proc/self/fd/{}", file_.get()), path_);
  }

 private:
  fs::path path_;
  Descriptor file_;
};

/// An empty folder in memory, in which the shared folders below it are seen.
void mount_own(const fs::path& folder, const std::vector<fs::path>& shared) {
  std::vector<KeptFolder> kept;
  for (const fs::path& path : shared)
    if (is_below(path, folder)) kept.emplace_back(path);
  if (!fs::is_directory(folder))
    throw EnvironmentError(
        fmt::format("{} is not there, and each host of a laboratory has its own; expected a folder: `mkdir {}` as root",
                    folder.string(), folder.string()));
  mount_new("tmpfs", folder, MS_NOSUID | MS_NODEV, "mode=1777");
  for (const KeptFolder& one : kept) one.show();
}

/// They show the processes and the network of the namespaces that they are mounted in.
void mount_system() {
  mount_new("proc", "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC);
  const fs::path limits = "/sys/fs/cgroup";
  std::vector<KeptFolder> kept;
  if (fs::exists(limits)) kept.emplace_back(limits);
  mount_new("sysfs", "/sys", MS_NOSUID | MS_NODEV | MS_NOEXEC);
  for (const KeptFolder& one : kept) one.show();
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) throw EnvironmentError(fmt::format("{} cannot be written", path.string()));
}

/// As Open MPI, MPICH and people call it.
void write_ssh(const fs::path& path) {
  const std::string program = (own_folder() / "fourscore").string();
  write_file(path, fmt::format("#!/bin/sh\nexec {} \"$@\"\n", shown_command({program, "laboratory", "--enter", "--"})));
  fs::permissions(path, fs::perms{0755});
}

/// The folder that holds the command's program, where it is named by a path.
fs::path folder_of_program(const std::string& word) {
  std::error_code error;
  return word.find('/') == std::string::npos ? fs::path() : fs::canonical(word, error).parent_path();
}

}  // namespace

std::vector<fs::path> folders_named_by(const std::vector<std::string>& words) {
  std::vector<fs::path> folders;
  for (const auto& word : words)
    for (const fs::path& own : own_folders) {
      const fs::path path = fs::path(word).lexically_normal();
      if (!is_below(path, own)) continue;
      // All of it: a file that is written is renamed from one folder into another.
      const fs::path folder = own / *path.lexically_relative(own).begin();
      if (fs::is_directory(folder) && std::ranges::find(folders, folder) == folders.end()) folders.push_back(folder);
    }
  return folders;
}

std::vector<fs::path> shared_folders(const LaboratoryRequest& request) {
  std::vector<fs::path> folders;
  for (const fs::path& given : request.shared) {
    std::error_code error;
    const fs::path path = fs::canonical(given, error);
    if (error || !fs::is_directory(path))
      throw InputError(
          fmt::format("--share is '{}': {}; expected a folder", given.string(), error ? error.message() : "no folder"));
    if (std::ranges::find(own_folders, path) != own_folders.end())
      throw InputError(
          fmt::format("--share is '{}', of which each host has its own; expected a folder below it", given.string()));
    folders.push_back(path);
  }
  folders.push_back(fs::current_path());
  folders.push_back(own_folder());
  folders.push_back(folder_of_program(request.command.front()));
  std::erase_if(folders, [](const fs::path& path) { return !is_below_own(path); });
  std::ranges::sort(folders);
  std::vector<fs::path> outermost;
  for (const fs::path& path : folders)
    if (outermost.empty() || (path != outermost.back() && !is_below(path, outermost.back()))) outermost.push_back(path);
  return outermost;
}

void mount_for_front(const std::vector<fs::path>& shared, const std::string& addresses) {
  require_system(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "mounts of its own");
  mount_system();
  mount_own("/dev/shm", shared);
  for (const fs::path& folder : {LaboratoryPlaces::hosts(), LaboratoryPlaces::programs(), LaboratoryPlaces::scratch()})
    fs::create_directories(folder);
  write_ssh(LaboratoryPlaces::programs() / "ssh");
  const fs::path names = fs::path(LaboratoryPlaces::folder) / "names";
  write_file(names, addresses);
  mount_again(names, "/etc/hosts");
}

void mount_for_host(const std::vector<fs::path>& shared) {
  mount_system();
  std::vector<fs::path> seen = shared;
  seen.emplace_back(LaboratoryPlaces::folder);  // Open MPI's daemons want the ssh that mpirun has
  for (const fs::path& folder : own_folders) mount_own(folder, seen);
}

}  // namespace fourscore
