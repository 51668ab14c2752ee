#pragma once
// NVIDIA's management library, opened when it is first asked for something. Its C interface is stable, and its header
// is no part of the CUDA toolkit's runtime.

#include <string>

namespace fourscore {

class NvmlLibrary {
 public:
  using Device = void*;
  static constexpr int success = 0;

  static const NvmlLibrary& instance();
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  /// Why it cannot be used; empty where it can.
  [[nodiscard]] const std::string& unavailable() const { return unavailable_; }
  /// Null where it cannot be used, or has no function of that name.
  template <class Function>
  [[nodiscard]] Function function(const char* name) const {
    return reinterpret_cast<Function>(symbol(name));
  }
  /// The library's own words for what a function returned.
  [[nodiscard]] std::string error_text(int result) const;

 private:
  NvmlLibrary();
  [[nodiscard]] void* symbol(const char* name) const;

  void* library_ = nullptr;
  int (*shutdown_)() = nullptr;
  std::string unavailable_;
};

}  // namespace fourscore
