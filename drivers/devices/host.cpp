// The host's memory in the place of a device's: every copy is made and every transform computed, by the host, when it
// is queued. So all that does not depend on a device's speed is tested where there is none. Its times say nothing of a
// bus, and its records are flagged `emulated`.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/text.hpp"
#include "interfaces/device.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "redistribution/shared_buffer.hpp"

namespace fourscore {
namespace {

constexpr const char* variable = "FOURSCORE_STAND_IN";

/// What a test asks the stand-in to lack, or to fail at: `devices=2,memory=1000000,managed=no,fail-at=7`.
struct Faults {
  std::optional<int> devices{};
  bool own_devices = false;  ///< no other process sees them
  double memory_bytes = std::numeric_limits<double>::infinity();
  bool managed = true;
  bool old_driver = false;
  std::int64_t fail_at = 0;  ///< the number of the queued operation that fails, from 1 on; 0: none
};

double number_in(std::string_view text, std::string_view entry) {
  const auto value = number_from<double>(text);
  if (!value || *value < 0)
    throw InputError(fmt::format("{} has '{}'; expected a number of at least 0", variable, entry));
  return *value;
}

Faults read_faults() {
  Faults faults;
  const char* const text = std::getenv(variable);
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    const auto value = [&](std::string_view name) { return entry.substr(name.size()); };
    if (entry.starts_with("devices="))
      faults.devices = static_cast<int>(number_in(value("devices="), entry));
    else if (entry == "seen=alone")
      faults.own_devices = true;
    else if (entry.starts_with("memory="))
      faults.memory_bytes = number_in(value("memory="), entry);
    else if (entry == "managed=no")
      faults.managed = false;
    else if (entry == "driver=old")
      faults.old_driver = true;
    else if (entry.starts_with("fail-at="))
      faults.fail_at = static_cast<std::int64_t>(number_in(value("fail-at="), entry));
    else
      throw InputError(
          fmt::format("{} has '{}'; expected devices=N, seen=alone, memory=BYTES, managed=no, driver=old or fail-at=N",
                      variable, entry));
  }
  return faults;
}

class HostMark : public Mark {
 public:
  void synchronise() override {}
  [[nodiscard]] bool has_passed() override { return true; }
  [[nodiscard]] std::int64_t ns_since(const Mark& earlier) const override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time_ - static_cast<const HostMark&>(earlier).time_)
        .count();
  }
  void pass() { time_ = std::chrono::steady_clock::now(); }

 private:
  std::chrono::steady_clock::time_point time_{};
};

class HostQueue : public Queue {
 public:
  explicit HostQueue(std::int64_t& operations_to_failure) : operations_to_failure_(operations_to_failure) {}
  void copy(const RowCopy& copy, CopyWay way) override {
    count(way == CopyWay::to_device ? "copy to the device" : "copy to the host");
    if (copy.rows == 1 || (copy.to_pitch == copy.row_bytes && copy.from_pitch == copy.row_bytes)) {
      std::memcpy(copy.to, copy.from, copy.row_bytes * static_cast<std::size_t>(copy.rows));
      return;
    }
    for (std::size_t row = 0; row < static_cast<std::size_t>(copy.rows); ++row)
      std::memcpy(copy.to + row * copy.to_pitch, copy.from + row * copy.from_pitch, copy.row_bytes);
  }
  void record(Mark& mark) override { static_cast<HostMark&>(mark).pass(); }
  void wait_for(const Mark& /*mark*/) override {}
  void synchronise() override {}
  /// One more operation, which fails where a test asked for it.
  void count(const char* what) {
    if (operations_to_failure_ > 0 && --operations_to_failure_ == 0)
      throw std::runtime_error(fmt::format("the stand-in failed at a {}, as {} asks", what, variable));
  }

 private:
  std::int64_t& operations_to_failure_;
};

class HostFft : public DeviceFft {
 public:
  explicit HostFft(std::unique_ptr<LocalFft> fft) : fft_(std::move(fft)) {}
  void enqueue(Queue& queue) override {
    static_cast<HostQueue&>(queue).count("transform");
    fft_->execute();
  }
  [[nodiscard]] std::string describe() const override { return fft_->describe(); }

 private:
  std::unique_ptr<LocalFft> fft_;
};

class HostCopies : public DeviceCopies {
 public:
  explicit HostCopies(std::vector<BoxCopy> copies) : copies_(std::move(copies)) {}
  void enqueue(Queue& queue) override {
    static_cast<HostQueue&>(queue).count("strided copy");
    for (const BoxCopy& copy : copies_) {
      const auto& [a, b, c] = copy.loops;
      for (Index i = 0; i < a.count; ++i)
        for (Index j = 0; j < b.count; ++j)
          for (Index k = 0; k < c.count; ++k)
            std::memcpy(copy.to + i * a.to + j * b.to + k * c.to, copy.from + i * a.from + j * b.from + k * c.from,
                        copy.run_bytes);
    }
  }

 private:
  std::vector<BoxCopy> copies_;
};

/// MPI sends them, as soon as they are queued.
class HostMessages : public DeviceMessages {
 public:
  explicit HostMessages(MPI_Comm comm) : comm_(mpi::duplicate(comm)) {}
  void enqueue(Queue& queue, std::span<const DeviceMessage> sends, std::span<const DeviceMessage> receives) override {
    static_cast<HostQueue&>(queue).count("message");
    mpi::Requests requests;
    requests.reserve(sends.size() + receives.size());
    for (const DeviceMessage& message : receives)
      FOURSCORE_MPI(
          MPI_Irecv(message.data, count_of(message), MPI_DOUBLE, message.rank, 0, comm_.get(), requests.next()));
    for (const DeviceMessage& message : sends)
      FOURSCORE_MPI(
          MPI_Isend(message.data, count_of(message), MPI_DOUBLE, message.rank, 0, comm_.get(), requests.next()));
    requests.wait_all();
  }

 private:
  /// Elements have 8 or 16 bytes.
  static int count_of(const DeviceMessage& message) {
    if (message.bytes / sizeof(double) > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      throw std::runtime_error(fmt::format("the stand-in sends no message of {} bytes", message.bytes));
    return static_cast<int>(message.bytes / sizeof(double));
  }
  mpi::Communicator comm_;
};

/// Memory that is no more than there is of it.
class HostBuffer : public Buffer {
 public:
  HostBuffer(std::unique_ptr<Buffer> memory, double& free_bytes) : memory_(std::move(memory)), free_bytes_(free_bytes) {
    free_bytes_ -= static_cast<double>(memory_->bytes());
  }
  ~HostBuffer() override { free_bytes_ += static_cast<double>(memory_->bytes()); }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  [[nodiscard]] void* data() const override { return memory_->data(); }
  [[nodiscard]] std::size_t bytes() const override { return memory_->bytes(); }
  [[nodiscard]] void* peer(int rank) const override { return memory_->peer(rank); }
  [[nodiscard]] MPI_Comm allocating_comm() const override { return memory_->allocating_comm(); }
  void sync() const override { memory_->sync(); }

 private:
  std::unique_ptr<Buffer> memory_;
  double& free_bytes_;
};

class HostDevice : public Device {
 public:
  HostDevice(const Faults& faults, const LocalFftLibrary& fft)
      : fft_(fft), managed_(faults.managed), free_bytes_(faults.memory_bytes), operations_to_failure_(faults.fail_at) {}

  [[nodiscard]] double free_bytes() const override { return free_bytes_; }
  [[nodiscard]] bool has_managed_memory() const override { return managed_; }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(std::size_t bytes) override {
    if (static_cast<double>(bytes) > free_bytes_)
      throw std::runtime_error(fmt::format("the stand-in has {} bytes; {} were asked for", free_bytes_, bytes));
    return std::make_unique<HostBuffer>(ordinary_buffer(bytes), free_bytes_);
  }
  [[nodiscard]] std::unique_ptr<Buffer> allocate_among(MPI_Comm comm, std::size_t bytes) override {
    auto shared = std::make_unique<SharedBuffer>(comm, mpi::split_by_pretended_node(comm), bytes);
    return std::make_unique<HostBuffer>(std::move(shared), free_bytes_);
  }
  [[nodiscard]] std::unique_ptr<Buffer> allocate_host(HostMemory kind, std::size_t bytes) override {
    if (kind == HostMemory::managed && !managed_)
      throw std::runtime_error("the stand-in has no managed memory, as " + std::string(variable) + " asks");
    return ordinary_buffer(bytes);
  }
  [[nodiscard]] std::unique_ptr<Pinned> pin(void* /*data*/, std::size_t /*bytes*/) override {
    return std::make_unique<Pinned>();
  }
  [[nodiscard]] std::unique_ptr<Queue> make_queue() override {
    return std::make_unique<HostQueue>(operations_to_failure_);
  }
  [[nodiscard]] std::unique_ptr<Mark> make_mark() override { return std::make_unique<HostMark>(); }
  [[nodiscard]] std::unique_ptr<DeviceFft> make_fft(const LocalFftSpec& spec, void* in, void* out) override {
    return std::make_unique<HostFft>(fft_.make(spec, in, out));
  }
  [[nodiscard]] std::unique_ptr<DeviceCopies> make_copies(const std::vector<BoxCopy>& copies) override {
    return std::make_unique<HostCopies>(copies);
  }
  [[nodiscard]] std::unique_ptr<DeviceMessages> make_messages(MPI_Comm comm) override {
    return std::make_unique<HostMessages>(comm);
  }
  [[nodiscard]] nlohmann::json identity() const override { return {{"model", "stand-in in the host's memory"}}; }
  [[nodiscard]] nlohmann::json state() const override { return nlohmann::json::object(); }

 private:
  const LocalFftLibrary& fft_;
  bool managed_;
  double free_bytes_;
  std::int64_t operations_to_failure_;
};

class HostBackend : public DeviceBackend {
 public:
  [[nodiscard]] Card card() const override {
    return {"host", "stands in for a device: the host's memory, its copies and its local FFT library", ""};
  }
  [[nodiscard]] std::string unavailable() const override {
    return read_faults().old_driver
               ? fmt::format("the stand-in's driver is too old for its runtime, as {} asks", variable)
               : "";
  }
  [[nodiscard]] bool emulated() const override { return true; }
  [[nodiscard]] std::string local_fft() const override { return "fftw"; }
  [[nodiscard]] std::optional<int> count() const override { return read_faults().devices; }
  [[nodiscard]] std::vector<std::string> addresses() const override {
    const Faults faults = read_faults();
    std::vector<std::string> list;
    for (int i = 0; i < faults.devices.value_or(0); ++i)
      list.push_back(fmt::format("{} {}", faults.own_devices ? ::getpid() : 0, i));
    return list;
  }
  [[nodiscard]] std::unique_ptr<Device> make_device(int /*number*/, const LocalFftLibrary& host_fft) const override {
    return std::make_unique<HostDevice>(read_faults(), host_fft);
  }
  [[nodiscard]] bool mpi_takes_its_memory() const override { return true; }
  [[nodiscard]] bool shares_memory() const override { return true; }
  [[nodiscard]] std::string messages_unavailable() const override { return {}; }
  [[nodiscard]] std::string messages_version() const override { return "MPI in its place"; }
  [[nodiscard]] nlohmann::json versions() const override { return nlohmann::json::object(); }
};

FOURSCORE_REGISTER_DEVICE(HostBackend);

}  // namespace
}  // namespace fourscore
