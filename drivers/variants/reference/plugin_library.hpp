#pragma once
// A shared library that implements interfaces/fourscore.h.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "interfaces/fourscore.h"

namespace fourscore {

class PluginLibrary {
 public:
  struct Functions {
    decltype(&fourscore_plugin_version) version = nullptr;
    decltype(&fourscore_describe) describe = nullptr;
    decltype(&fourscore_supports) supports = nullptr;
    decltype(&fourscore_create) create = nullptr;
    decltype(&fourscore_boxes) boxes = nullptr;
    decltype(&fourscore_buffers) buffers = nullptr;
    decltype(&fourscore_execute) execute = nullptr;
    decltype(&fourscore_destroy) destroy = nullptr;
    decltype(&fourscore_last_error) last_error = nullptr;
    decltype(&fourscore_set_phases) set_phases = nullptr;  ///< may be missing
    decltype(&fourscore_cost) cost = nullptr;              ///< may be missing
  };

  /// Opens the file, which is never closed again. Throws InputError for one that cannot be loaded, lacks a function, or
  /// is of another version, and for transforms whose description cannot be used.
  explicit PluginLibrary(const std::filesystem::path& file);

  [[nodiscard]] const Functions& functions() const { return functions_; }
  [[nodiscard]] const std::vector<fourscore_transform_t>& transforms() const { return transforms_; }
  /// "plugin libmine.so: fourscore_create: WHAT".
  [[nodiscard]] std::string about(std::string_view function, const std::string& what) const;
  /// What last_error says, in one line.
  [[nodiscard]] std::string last_error() const;
  /// Throws InputError about the function where it did not return 0.
  void require(int returned, std::string_view function) const;

 private:
  void read_transforms();

  std::string name_;
  Functions functions_;
  std::vector<fourscore_transform_t> transforms_;
};

}  // namespace fourscore
