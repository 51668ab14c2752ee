#include "redistribution/zfp_exchange.hpp"

#include <fmt/format.h>

#include <memory>
#include <stdexcept>

#include "core/parameters.hpp"
#include "mpi/error.hpp"
#include "redistribution/exchange_blocks.hpp"
#ifdef FOURSCORE_ZFP
#include <zfp.h>
#endif

namespace fourscore {

namespace {

constexpr const char* collective = "alltoallv";
constexpr const char* point_to_point = "p2p";

#ifdef FOURSCORE_ZFP

constexpr const char* wire_name = "wire zfp";
constexpr int message_tag = 0;
constexpr Index numbers_of_a_block = 4;
constexpr Index word_bits = 64;

Index compressed_bytes(Index numbers, int rate) {
  const Index blocks = (numbers + numbers_of_a_block - 1) / numbers_of_a_block;
  return (blocks * numbers_of_a_block * rate + word_bits - 1) / word_bits * (word_bits / 8);
}

/// What libzfp needs for one message: its numbers, and where their bits are.
class Compressed {
 public:
  Compressed(void* numbers, Index count, std::byte* bits, Index bytes, int rate)
      : bytes_(static_cast<std::size_t>(bytes)),
        bits_(stream_open(bits, bytes_)),
        field_(zfp_field_1d(numbers, zfp_type_double, static_cast<std::size_t>(count))),
        stream_(zfp_stream_open(bits_.get())) {
    zfp_stream_set_rate(stream_.get(), rate, zfp_type_double, 1, zfp_false);
    zfp_stream_set_execution(stream_.get(), zfp_exec_serial);
  }
  void compress() const {
    zfp_stream_rewind(stream_.get());
    if (zfp_compress(stream_.get(), field_.get()) != bytes_)
      throw std::logic_error("libzfp made a message of another size than its rate says");
  }
  void decompress() const {
    zfp_stream_rewind(stream_.get());
    if (zfp_decompress(stream_.get(), field_.get()) == 0) throw std::runtime_error("libzfp cannot read a message");
  }

 private:
  struct Close {
    void operator()(bitstream* bits) const { stream_close(bits); }
    void operator()(zfp_field* field) const { zfp_field_free(field); }
    void operator()(zfp_stream* stream) const { zfp_stream_close(stream); }
  };
  std::size_t bytes_;
  std::unique_ptr<bitstream, Close> bits_;
  std::unique_ptr<zfp_field, Close> field_;
  std::unique_ptr<zfp_stream, Close> stream_;
};

/// The compressed messages of one side, one after another by rank; counted in bytes.
struct Side {
  Side(const std::vector<PackedBlocks::Message>& whole, std::byte* numbers, int rate) {
    Index at = 0;
    for (const PackedBlocks::Message& message : whole) {
      messages.push_back({message.rank, compressed_bytes(2 * message.count, rate), at});
      at += messages.back().count;
    }
    require_int_count(at, "compressed messages", wire_name);
    bits = ordinary_buffer(static_cast<std::size_t>(at));
    for (std::size_t i = 0; i < whole.size(); ++i)
      streams.emplace_back(numbers + whole[i].displacement * element_bytes, 2 * whole[i].count,
                           data() + messages[i].displacement, messages[i].count, rate);
  }
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(bits->data()); }
  [[nodiscard]] Index bytes() const {
    return messages.empty() ? 0 : messages.back().displacement + messages.back().count;
  }

  static constexpr Index element_bytes = 16;
  std::vector<PackedBlocks::Message> messages;
  std::unique_ptr<Buffer> bits;
  std::vector<Compressed> streams;
};

Index bytes_of(const std::vector<PackedBlocks::Message>& messages) {
  Index elements = 0;
  for (const PackedBlocks::Message& message : messages) elements += message.count;
  return elements * Side::element_bytes;
}

class ZfpExchange : public PackedExchange {
 public:
  ZfpExchange(const ExchangeSpec& spec, int rate, bool collectively)
      : PackedExchange(spec, wire_name),
        sent_(blocks().sends(), const_cast<std::byte*>(blocks().send_buffer()), rate),
        received_(blocks().receives(), blocks().receive_buffer(), rate),
        counts_(spec.from.ranks(), sent_.messages, received_.messages),
        collectively_(collectively) {
    requests_.reserve(sent_.messages.size() + received_.messages.size());
    ExchangeFacts& facts = declared();
    facts.packs = facts.packs || !sent_.messages.empty();
    facts.unpacks = facts.unpacks || !received_.messages.empty();
    // Numbers are read whole and written compressed, or the reverse.
    facts.bytes_packed += (bytes_of(blocks().sends()) + sent_.bytes()) / 2;
    facts.bytes_unpacked += (bytes_of(blocks().receives()) + received_.bytes()) / 2;
    facts.volume.bytes_sent = sent_.bytes();
    facts.min_bytes = sent_.bytes() + received_.bytes();
    facts.workspace_bytes = sent_.bits->bytes() + received_.bits->bytes();
  }

  void pack() override {
    PackedExchange::pack();
    for (const Compressed& stream : sent_.streams) stream.compress();
  }
  void start() override {
    if (collectively_) {
      FOURSCORE_MPI(MPI_Alltoallv(sent_.data(), counts_.send_counts.data(), counts_.send_displacements.data(), MPI_BYTE,
                                  received_.data(), counts_.receive_counts.data(), counts_.receive_displacements.data(),
                                  MPI_BYTE, comm()));
      return;
    }
    for (const auto& message : received_.messages)
      FOURSCORE_MPI(MPI_Irecv(received_.data() + message.displacement, static_cast<int>(message.count), MPI_BYTE,
                              message.rank, message_tag, comm(), requests_.next()));
    for (const auto& message : sent_.messages)
      FOURSCORE_MPI(MPI_Isend(sent_.data() + message.displacement, static_cast<int>(message.count), MPI_BYTE,
                              message.rank, message_tag, comm(), requests_.next()));
  }
  void finish() override { requests_.wait_all(); }
  void unpack() override {
    for (const Compressed& stream : received_.streams) stream.decompress();
    PackedExchange::unpack();
  }
  /// Its messages are not those that the packed blocks would make.
  [[nodiscard]] std::optional<PackedMemory> packed_memory() const override { return std::nullopt; }

 private:
  Side sent_;
  Side received_;
  CollectiveCounts counts_;
  bool collectively_;
  mpi::Requests requests_;
};

#endif

}  // namespace

std::string zfp_unavailable() {
#ifdef FOURSCORE_ZFP
  return {};
#else
  return "this build has no libzfp";
#endif
}

std::vector<Parameter> ZfpMethod::parameters() const {
  std::vector<Parameter> all = inner().parameters();
  all.push_back(zfp_rate_parameter());
  return all;
}

Reason ZfpMethod::supports(const Problem& problem) const {
  (void)zfp_rate_of(problem);
  const std::string name = inner().card().name;
  if (name != collective && name != point_to_point)
    return fmt::format("exchange '{}' makes its messages itself; wire zfp takes {} or {}", name, collective,
                       point_to_point);
  return inner().supports(problem);
}

std::unique_ptr<Exchange> ZfpMethod::make(const ExchangeSpec& spec) const {
  if (sends_nothing(spec)) return inner().make(spec);
#ifdef FOURSCORE_ZFP
  return std::make_unique<ZfpExchange>(spec, zfp_rate_of(spec.problem == nullptr ? Problem{} : *spec.problem),
                                       inner().card().name == collective);
#else
  throw std::logic_error(zfp_unavailable());
#endif
}

}  // namespace fourscore
