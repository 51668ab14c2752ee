#pragma once
// What the hosts of a laboratory have of the file system: all of it but /tmp and /dev/shm, of which each has its own.

#include <filesystem>
#include <string>
#include <vector>

#include "jobscripts/laboratory/laboratory.hpp"

namespace fourscore {

/// Where a command in a laboratory finds what it needs of it; each laboratory has a /dev/shm of its own.
struct LaboratoryPlaces {
  static constexpr const char* folder = "/dev/shm/fourscore-laboratory";
  /// Links by name of host to the folder of its first process in /proc.
  [[nodiscard]] static std::filesystem::path hosts() { return std::filesystem::path(folder) / "hosts"; }
  /// Holds `ssh`, which enters a host.
  [[nodiscard]] static std::filesystem::path programs() { return std::filesystem::path(folder) / "bin"; }
  /// The command's TMPDIR: the hosts see it, and it ends with the laboratory.
  [[nodiscard]] static std::filesystem::path scratch() { return std::filesystem::path(folder) / "tmp"; }
};

/// The folders below /tmp and /dev/shm that all hosts are to see: those of the request, the working directory, those of
/// this program and of the command's. Throws InputError for what is no folder, or what each host has its own of.
[[nodiscard]] std::vector<std::filesystem::path> shared_folders(const LaboratoryRequest& request);

/// In a process with mount, PID and network namespaces of its own: /proc, /sys and /dev/shm are theirs, the names of
/// the hosts have their addresses, and LaboratoryPlaces are there. Throws EnvironmentError.
void mount_for_front(const std::vector<std::filesystem::path>& shared, const std::string& addresses);

/// In a process of the front's that has such namespaces: /proc, /sys, /dev/shm and /tmp.
void mount_for_host(const std::vector<std::filesystem::path>& shared);

}  // namespace fourscore
