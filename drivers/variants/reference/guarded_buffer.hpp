#pragma once
// Memory for code that is not ours: what writes beyond it is found out.

#include <cstddef>
#include <memory>

#include "interfaces/exchange.hpp"

namespace fourscore {

/// As ordinary_buffer(), between two pages that nobody may touch. Bytes that are left before the second one hold a
/// pattern.
class GuardedBuffer : public Buffer {
 public:
  explicit GuardedBuffer(std::size_t bytes);
  ~GuardedBuffer() override;
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  [[nodiscard]] void* data() const override { return data_; }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }
  /// Whether the pattern is as it was.
  [[nodiscard]] bool is_intact() const;

 private:
  std::size_t bytes_;
  std::size_t rest_ = 0;  ///< bytes with the pattern
  void* mapping_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::byte* data_ = nullptr;
};

}  // namespace fourscore
