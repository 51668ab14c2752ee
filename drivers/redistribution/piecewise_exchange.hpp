#pragma once
// Exchanges cut into pieces that can be in flight at once, so that packing, unpacking and a caller's own work on the
// pieces before and after go on meanwhile.

#include <optional>
#include <vector>

#include "core/parameters.hpp"
#include "redistribution/staging.hpp"

namespace fourscore {

/// The parameter `pieces`: in how many an exchange goes.
[[nodiscard]] Parameter pieces_parameter();
/// What the problem gives for it, or its default. Throws InputError.
[[nodiscard]] int pieces_of(const Problem& problem);

struct PieceSpec {
  int pieces = 1;
  /// Blocks are cut along this axis, the slowest of the storage orders: piece k of a block is the k-th part of its
  /// extent, as block_range() deals it, empty where there are fewer indices than pieces. None: along the slowest axis
  /// of each block that has several.
  std::optional<std::size_t> axis = std::nullopt;
  /// Named in errors in place of the exchange that makes the pieces.
  const char* exchange = nullptr;
};

/// What a caller does while other pieces are in flight.
class PieceWork {
 public:
  virtual ~PieceWork() = default;
  /// Completes what piece `piece` of the source's blocks is cut from.
  virtual void before(int piece, PhaseClock& clock) = 0;
  /// Piece `piece` of all blocks of the destination is in place.
  virtual void after(int piece, PhaseClock& clock) = 0;
};

/// A subclass adds how the messages of one piece go from sent() to received(), on a communicator of its own. Pieces are
/// started in order, and finished in order after all were started.
///
/// Messages pass through a third array, the staging, so that one piece may arrive while another is still to be packed:
///   pack, unpack   source -> staging, messages staging -> spare, spare -> source
///   pack           source -> staging, messages staging -> spare
///   unpack         messages source -> staging, staging -> spare
///   neither        messages source -> spare
class PiecewiseExchange : public Exchange {
 public:
  void pack() override;
  void start() override;
  void finish() override;
  void unpack() override;
  void run(PhaseClock& clock) override;
  /// As run(), with work.before(k) before piece k is packed and work.after(k) once it is unpacked.
  void run_around(PhaseClock& clock, PieceWork& work);

  [[nodiscard]] int pieces() const { return static_cast<int>(pieces_.size()); }

  /// As ExchangeMethod::staging_bytes(), of ordinary memory.
  [[nodiscard]] static std::size_t staging_bytes(const ExchangeSpec& spec);

 protected:
  using Message = PackedBlocks::Message;
  /// Collective as agree(). `exchange` is named in errors.
  PiecewiseExchange(const ExchangeSpec& spec, const PieceSpec& pieces, const char* exchange);

  virtual void start_piece(int piece) = 0;
  virtual void finish_piece(int piece) = 0;

  [[nodiscard]] const ExchangeAgreement& agreement() const { return agreement_; }
  [[nodiscard]] const std::vector<Message>& sent(int piece) const { return piece_at(piece).sends; }
  [[nodiscard]] const std::vector<Message>& received(int piece) const { return piece_at(piece).receives; }
  [[nodiscard]] MPI_Comm comm() const { return comm_.get(); }
  [[nodiscard]] MPI_Datatype type() const { return type_; }
  [[nodiscard]] const std::byte* send_buffer() const { return send_buffer_; }
  [[nodiscard]] std::byte* receive_buffer() const { return receive_buffer_; }
  [[nodiscard]] const std::byte* address_of_sent(const Message& message) const {
    return send_buffer_ + message.displacement * element_bytes_;
  }
  [[nodiscard]] std::byte* address_of_received(const Message& message) const {
    return receive_buffer_ + message.displacement * element_bytes_;
  }

 private:
  struct Piece {
    CopySteps pack;
    CopySteps unpack;
    std::vector<Message> sends;     ///< by rank, none of them empty
    std::vector<Message> receives;  ///< by rank, none of them empty
  };
  struct Layout;

  [[nodiscard]] const Piece& piece_at(int piece) const { return pieces_[static_cast<std::size_t>(piece)]; }
  void plan_outgoing(const ExchangeSpec& spec, const Layout& layout, const PieceSpec& pieces);
  void plan_incoming(const ExchangeSpec& spec, const Layout& layout, const PieceSpec& pieces);
  void state_copies();
  void plan_own(const Block& own, const Layout& layout, const PieceSpec& pieces);

  ExchangeAgreement agreement_;
  mpi::Communicator comm_;
  MPI_Datatype type_;
  Index element_bytes_;
  std::vector<Piece> pieces_;
  Staging staging_;
  const std::byte* send_buffer_ = nullptr;
  std::byte* receive_buffer_ = nullptr;
};

/// What an ExchangeMethod also is whose exchange can have several pieces in flight.
class PiecewiseMethod {
 public:
  virtual ~PiecewiseMethod() = default;
  /// The same exchange in pieces. Collective as ExchangeMethod::make().
  [[nodiscard]] virtual std::unique_ptr<PiecewiseExchange> make_in_pieces(const ExchangeSpec& spec,
                                                                          const PieceSpec& pieces) const = 0;
};

/// Null for a method that makes no pieces.
[[nodiscard]] inline const PiecewiseMethod* piecewise(const ExchangeMethod& method) {
  return dynamic_cast<const PiecewiseMethod*>(&method);
}

}  // namespace fourscore
