#pragma once
// Data that stays on a device: transforms there, blocks packed and unpacked there, and messages by way of the host's
// memory or straight from the device's, where MPI takes its addresses.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interfaces/device.hpp"
#include "offload/device_arrays.hpp"
#include "offload/device_streams.hpp"
#include "offload/phased_work.hpp"

namespace fourscore {

/// Transforms in the mirrors of the host's arrays.
class ResidentLibrary : public LocalFftLibrary {
 public:
  ResidentLibrary(std::shared_ptr<Device> device, const Mirrors& mirrors, Card card)
      : device_(std::move(device)),
        mirrors_(mirrors),
        card_(std::move(card)),
        streams_(std::make_shared<DeviceStreams>(device_, 1)) {}
  [[nodiscard]] Card card() const override { return card_; }
  [[nodiscard]] std::string version() const override { return {}; }
  [[nodiscard]] std::unique_ptr<LocalFft> make(const LocalFftSpec& spec, void* in, void* out) const override;
  [[nodiscard]] std::size_t share_workspace() const override { return streams_->share_areas(); }
  void import_wisdom(const std::string& /*text*/, const std::string& /*origin*/) const override {}
  [[nodiscard]] std::string export_wisdom() const override { return {}; }

 private:
  std::shared_ptr<Device> device_;
  const Mirrors& mirrors_;
  Card card_;
  std::shared_ptr<DeviceStreams> streams_;  ///< one, of all its transforms
};

/// How what is exchanged gets from one device's memory to another's.
enum class MessagePath {
  host,        ///< messages of MPI, from and to the host's memory
  device,      ///< messages of MPI, from and to the device's
  neighbours,  ///< each rank reads the memory of its neighbours' devices
  library,     ///< messages of the device's own library
};

/// The messages of a device's own library, and among whose ranks.
struct LibraryOfMessages {
  std::shared_ptr<DeviceMessages> messages;
  MPI_Comm comm = MPI_COMM_NULL;
};

/// Exchanges of another method between the mirrors. One whose packing can be done apart (Exchange::packed_memory()) has
/// it done on the device, and only its messages pass through the host; of others the whole array does.
class ResidentMethod : public ExchangeMethod {
 public:
  /// library: with MessagePath::library.
  ResidentMethod(std::shared_ptr<Device> device, const Mirrors& mirrors, const ExchangeMethod& inner, MessagePath path,
                 LibraryOfMessages library = {})
      : device_(std::move(device)), mirrors_(mirrors), inner_(inner), path_(path), library_(std::move(library)) {}
  [[nodiscard]] Card card() const override { return inner_.card(); }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(MPI_Comm comm, std::size_t bytes, BufferUse use) const override {
    return path_ == MessagePath::neighbours ? ordinary_buffer(bytes) : inner_.allocate(comm, bytes, use);
  }
  [[nodiscard]] std::size_t staging_bytes(const ExchangeSpec& spec) const override {
    return inner_.staging_bytes(spec);
  }
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override;

 private:
  std::shared_ptr<Device> device_;
  const Mirrors& mirrors_;
  const ExchangeMethod& inner_;
  MessagePath path_;
  LibraryOfMessages library_;
};

}  // namespace fourscore
