#pragma once
// The interface to an accelerator that has memory of its own: memory, copies, transforms and the order among them. What
// is queued runs later, in the order of its queue; only synchronise() waits.

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/registry.hpp"
#include "interfaces/exchange.hpp"
#include "interfaces/local_fft.hpp"
#include "kernels/copy.hpp"

namespace fourscore {

/// The host's memory in a copy. managed: memory that the device's driver moves by itself, its pages kept on the host.
enum class HostMemory { pageable, pinned, managed };
/// Throws InputError naming `what` for another text.
[[nodiscard]] HostMemory parse_host_memory(const std::string& text, const std::string& what);

/// `rows` rows of `row_bytes` bytes. Pitches are in bytes, from the start of one row to that of the next.
struct RowCopy {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::size_t row_bytes = 0;
  Index rows = 1;
  std::size_t to_pitch = 0;
  std::size_t from_pitch = 0;
};
enum class CopyWay { to_device, to_host };

/// A strided copy within the device's memory, as a CopyPlan has it.
struct BoxCopy {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::size_t run_bytes = 0;  ///< contiguous on both sides, a multiple of 8
  std::array<CopyPlan::Loop, 3> loops{};
};

class Mark;

/// A stream of work on a device.
class Queue {
 public:
  virtual ~Queue() = default;
  virtual void copy(const RowCopy& copy, CopyWay way) = 0;
  /// The moment in the device's time at which all that is queued before is done.
  virtual void record(Mark& mark) = 0;
  /// What is queued from here on begins after the mark's moment, on whatever queue of the device it was recorded.
  virtual void wait_for(const Mark& mark) = 0;
  virtual void synchronise() = 0;
  /// What libraries for this kind of device take for it, as a cudaStream_t. Null: they take none.
  [[nodiscard]] virtual void* native() const { return nullptr; }
};

/// A moment of a device's clock.
class Mark {
 public:
  virtual ~Mark() = default;
  virtual void synchronise() = 0;  ///< returns once the moment has come
  [[nodiscard]] virtual bool has_passed() = 0;
  /// Both recorded and passed.
  [[nodiscard]] virtual std::int64_t ns_since(const Mark& earlier) const = 0;
};

/// A transform on data in the device's memory, bound to its addresses.
class DeviceFft {
 public:
  virtual ~DeviceFft() = default;
  virtual void enqueue(Queue& queue) = 0;
  [[nodiscard]] virtual std::string describe() const = 0;
  [[nodiscard]] virtual std::size_t workspace_bytes() const { return 0; }  ///< its own, beside the data
  /// Bytes of the device that it fills while it runs. Transforms that never run at the same time may have the same.
  [[nodiscard]] virtual std::size_t work_area_bytes() const { return 0; }
  /// Once, before the first enqueue(). Null: it takes none.
  virtual void use_work_area(void* /*area*/) {}
};

/// Copies within the device's memory that run together.
class DeviceCopies {
 public:
  virtual ~DeviceCopies() = default;
  virtual void enqueue(Queue& queue) = 0;
};

/// Kernels that were recorded and are queued as one.
class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;
  virtual void enqueue(Queue& queue) = 0;
};

/// A message between the memory of two devices.
struct DeviceMessage {
  std::byte* data = nullptr;
  std::size_t bytes = 0;  ///< more than 0
  int rank = 0;           ///< on the other side
};

/// The messages of a device's own library among the ranks of a communicator. Destroyed on all of them.
class DeviceMessages {
 public:
  virtual ~DeviceMessages() = default;
  /// All together: none waits for another. Each is queued by the ranks on both of its sides.
  virtual void enqueue(Queue& queue, std::span<const DeviceMessage> sends, std::span<const DeviceMessage> receives) = 0;
};

/// Memory of the host that is page-locked while this lives.
class Pinned {
 public:
  virtual ~Pinned() = default;
};

/// One device, used by one thread. All calls throw std::runtime_error with the failed call and the library's own text.
class Device {
 public:
  virtual ~Device() = default;
  [[nodiscard]] virtual double free_bytes() const = 0;  ///< that may be allocated now
  [[nodiscard]] virtual bool has_managed_memory() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Buffer> allocate(std::size_t bytes) = 0;  ///< on the device
  /// The same of memory that neighbours read: Buffer::peer() is where a rank of this node has its own in this process.
  /// Collective over comm, as is the buffer's destruction; what fails on one rank fails on all.
  [[nodiscard]] virtual std::unique_ptr<Buffer> allocate_among(MPI_Comm /*comm*/, std::size_t /*bytes*/) {
    throw std::runtime_error("a device whose memory no other process can open");
  }
  [[nodiscard]] virtual std::size_t bytes_among(std::size_t bytes) const { return bytes; }  ///< that it then takes
  [[nodiscard]] virtual std::unique_ptr<Buffer> allocate_host(HostMemory kind, std::size_t bytes) = 0;
  [[nodiscard]] virtual std::unique_ptr<Pinned> pin(void* data, std::size_t bytes) = 0;
  [[nodiscard]] virtual std::unique_ptr<Queue> make_queue() = 0;
  [[nodiscard]] virtual std::unique_ptr<Mark> make_mark() = 0;
  /// As LocalFftLibrary::make(), of addresses in the device's memory.
  [[nodiscard]] virtual std::unique_ptr<DeviceFft> make_fft(const LocalFftSpec& spec, void* in, void* out) = 0;
  /// DeviceFft::work_area_bytes() of a transform that is not made.
  [[nodiscard]] virtual std::size_t work_area_bytes(const LocalFftSpec& /*spec*/) { return 0; }
  [[nodiscard]] virtual std::unique_ptr<DeviceCopies> make_copies(const std::vector<BoxCopy>& copies) = 0;
  /// Records the copies within the device's memory and the transforms that `enqueue` puts into a queue; none of them
  /// runs. Null: the device cannot, and they are queued one by one.
  [[nodiscard]] virtual std::unique_ptr<DeviceGraph> record(const std::function<void(Queue&)>& /*enqueue*/) {
    return nullptr;
  }
  /// Where DeviceBackend::messages_unavailable() says nothing. Collective.
  [[nodiscard]] virtual std::unique_ptr<DeviceMessages> make_messages(MPI_Comm /*comm*/) {
    throw std::runtime_error("a device without a library of messages");
  }
  /// What it is, and does not change: part of a machine's identity.
  [[nodiscard]] virtual nlohmann::json identity() const = 0;
  /// Clocks, power and temperature now, as far as they can be read.
  [[nodiscard]] virtual nlohmann::json state() const = 0;
};

/// One kind of device: a file of drivers/devices.
class DeviceBackend {
 public:
  virtual ~DeviceBackend() = default;
  [[nodiscard]] virtual Card card() const = 0;
  /// Nothing, or why none can be used, with the library's own text.
  [[nodiscard]] virtual std::string unavailable() const = 0;
  [[nodiscard]] virtual bool emulated() const = 0;
  /// The local FFT library (LocalFftRegistry) that stands for its transforms in a point.
  [[nodiscard]] virtual std::string local_fft() const = 0;
  /// How many of this node's devices the process sees; 0: none. Nothing: as many as are asked for.
  [[nodiscard]] virtual std::optional<int> count() const = 0;
  /// One text for each of them, the same in two processes of the node exactly where both mean the same device: a
  /// scheduler may show each process devices of its own. Empty: not known, and all see the same. Throws nothing.
  [[nodiscard]] virtual std::vector<std::string> addresses() const { return {}; }
  /// `host_fft`: of the stand-in's transforms.
  [[nodiscard]] virtual std::unique_ptr<Device> make_device(int number, const LocalFftLibrary& host_fft) const = 0;
  /// Whether the MPI in use takes addresses in the device's memory, as far as it can be asked.
  [[nodiscard]] virtual bool mpi_takes_its_memory() const = 0;
  /// Whether other processes of the node can open its memory (Device::allocate_among()).
  [[nodiscard]] virtual bool shares_memory() const { return false; }
  /// Nothing, or why no library sends messages from its memory (Device::make_messages()).
  [[nodiscard]] virtual std::string messages_unavailable() const {
    return "device '" + card().name + "' has no library of messages";
  }
  /// Name and version of that library.
  [[nodiscard]] virtual std::string messages_version() const { return {}; }
  /// Versions of driver, runtime and FFT library.
  [[nodiscard]] virtual nlohmann::json versions() const = 0;
};

using DeviceRegistry = Registry<DeviceBackend>;

/// What a choice among devices may be: auto, and the names of all backends.
[[nodiscard]] std::vector<std::string> device_choices();
/// Names the backend that auto means, in the environment.
inline constexpr const char* device_variable = "FOURSCORE_DEVICE";
/// The backend of one of them. auto: what FOURSCORE_DEVICE names; without it the first real one that can be used, else
/// the first that stands in for one. Throws InputError where there is none.
[[nodiscard]] const DeviceBackend& chosen_device(const std::string& choice);

}  // namespace fourscore

#define FOURSCORE_REGISTER_DEVICE(Type) \
  static const bool registered_##Type = ::fourscore::DeviceRegistry::instance().add(std::make_unique<Type>())
