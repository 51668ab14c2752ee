#pragma once
// Where a program finds what came with it. No program holds a path of the tree that it was built in or from: a build
// tree has the folders of an installation (links, cmake/FourscoreInstalled.cmake), so that both can be moved.

#include <filesystem>
#include <string>

namespace fourscore {

/// The folder of this program's file.
[[nodiscard]] std::filesystem::path own_folder();

/// share/fourscore/`name` of the prefix that this program is in: suites, machines, platforms, groups, analysis. Empty
/// where it is not there.
[[nodiscard]] std::filesystem::path installed_folder(const std::string& name);

/// Where installed_folder() looks, for a message.
[[nodiscard]] std::string installed_place(const std::string& name);

/// A file or folder of this machine that was found when the program was configured, and is named by a link of the build
/// tree alone: "python", "mkl". Empty where there is none, as in an installation.
[[nodiscard]] std::filesystem::path configured_place(const std::string& name);

}  // namespace fourscore
