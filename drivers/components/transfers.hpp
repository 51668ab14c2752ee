#pragma once
// Copies between the memory of the host and that of a device, or of what stands in for one.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "interfaces/device.hpp"

namespace fourscore::component {

enum class TransferDirection { to_device, to_host, both };  // "h2d", "d2h", "both"

struct TransferSpec {
  TransferDirection direction = TransferDirection::to_device;
  HostMemory memory = HostMemory::pageable;
  std::size_t bytes = 0;  ///< in each direction
};

/// Planned copies with buffers of their own.
class Transfer {
 public:
  virtual ~Transfer() = default;
  /// Each direction `iterations` times, every copy complete before the next begins; both directions go at once.
  virtual void run(std::int64_t iterations) = 0;
  /// Copies a pattern once and looks where it should be: the number of wrong bytes.
  [[nodiscard]] virtual double wrong_bytes() = 0;
};

/// A device that has memory of its own.
class TransferDevice {
 public:
  virtual ~TransferDevice() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual bool emulated() const = 0;
  /// Bytes that a buffer on the device may have now.
  [[nodiscard]] virtual double free_bytes() const = 0;
  [[nodiscard]] virtual bool has_managed_memory() const = 0;
  /// Throws std::runtime_error with the call and the library's own text where something fails.
  [[nodiscard]] virtual std::unique_ptr<Transfer> make(const TransferSpec& spec) const = 0;
};

/// Byte i of what is copied in a direction.
[[nodiscard]] inline std::byte transfer_pattern(std::size_t i, bool to_device) {
  return static_cast<std::byte>((i * 31 + (i >> 12U) + (to_device ? 7 : 0)) % 251);
}

/// The backend's device number `rank` modulo their number. Throws std::runtime_error with the backend's own text where
/// there is none.
[[nodiscard]] std::unique_ptr<TransferDevice> transfer_device(const DeviceBackend& backend, int rank);

}  // namespace fourscore::component
