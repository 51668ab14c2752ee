#pragma once
// Goes from the layout in which binary-exchange leaves its result along one axis to natural blocks, in log2 P steps
// with one partner each.

#include <algorithm>
#include <bit>
#include <complex>
#include <cstddef>
#include <cstring>
#include <vector>

#include "core/digit_order.hpp"
#include "interfaces/exchange.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "variants/binary_exchange/line_factors.hpp"

namespace fourscore {

/// Rank r of P = 2^d, whose bits reversed are k1, holds along the axis the elements k = k1 + P k2, 0 <= k2 < length, P
/// dividing length: P slots of length / P elements, and slot t belongs to rank t. Each step swaps one bit of the rank
/// with the same bit of the slot's number (an index-digit permutation, Swarztrauber 1987), so that in the end slot s
/// holds what rank s had for this rank. A slot that goes leaves room for one that comes, but not before it has gone:
/// what comes is put into the same slot of the other buffer. MPI's datatypes gather and scatter the slots.
template <class Real>
class DigitSwap {
 public:
  using Value = std::complex<Real>;
  /// Collective over comm, which must outlive this. The elements start in `data`, k2 ascending, and end in `result`.
  DigitSwap(MPI_Comm comm, const AxisView& view, Value* data, Value* result)
      : comm_(comm),
        ranks_(mpi::size_of(comm)),
        me_(mpi::rank_in(comm)),
        view_(view),
        slot_(view.length / ranks_ * view.inner),
        data_(data),
        result_(result) {
    for (int bit = ranks_ / 2; bit > 0; bit /= 2) {
      Step& step = steps_.emplace_back();
      step.partner = me_ ^ bit;
      step.send = slots_type(bit, false);
      step.receive = slots_type(bit, true);
    }
  }

  [[nodiscard]] std::size_t steps() const { return steps_.size(); }
  void exchange(std::size_t number) const {
    const Step& step = steps_[number];
    FOURSCORE_MPI(MPI_Sendrecv(MPI_BOTTOM, 1, step.send.get(), step.partner, 0, MPI_BOTTOM, 1, step.receive.get(),
                               step.partner, 0, comm_, MPI_STATUS_IGNORE));
  }

  /// Element k1 + P u of this rank's block is element u of the slot of the rank whose bits reversed are k1.
  void unpack() const {
    const Index line = view_.length * view_.inner;
    for (Index i = 0; i < view_.outer; ++i) unpack_line(data_ + i * line, result_ + i * line);
  }

  /// Half of the slots in each step.
  [[nodiscard]] MessageVolume message_volume() const {
    const auto bytes = static_cast<Index>(sizeof(Value)) * slot_ * view_.outer;
    const auto steps = static_cast<Index>(steps_.size());
    return {.bytes_sent = steps * bytes * (ranks_ / 2), .messages_sent = steps, .bytes_self = bytes};
  }

 private:
  struct Step {
    int partner = MPI_PROC_NULL;
    mpi::Datatype send;
    mpi::Datatype receive;
  };

  /// Whether the slot's content lies in `result` once the bits from `lowest` on are swapped: it changes buffers with
  /// every swap that reaches it.
  [[nodiscard]] bool lies_in_result(int slot, int lowest) const {
    const auto bits = static_cast<unsigned>(ranks_) - static_cast<unsigned>(lowest);  // from lowest to ranks / 2
    return std::popcount(static_cast<unsigned>(slot ^ me_) & bits) % 2 != 0;
  }

  void unpack_line(Value* data, Value* result) const {
    for (int slot = 0; slot < ranks_; ++slot)
      if (lies_in_result(slot, 1))
        std::memcpy(static_cast<void*>(data + slot * slot_), result + slot * slot_,
                    static_cast<std::size_t>(slot_) * sizeof(Value));
    const int bits = std::bit_width(static_cast<unsigned>(ranks_)) - 1;
    const Index inner = view_.inner;
    // A stretch of the result stays in the caches while all slots write into it.
    constexpr Index stretch = 64;
    for (Index low = 0; low < slot_ / inner; low += stretch) {
      const Index high = std::min(slot_ / inner, low + stretch);
      for (int slot = 0; slot < ranks_; ++slot) {
        const int k1 = reversed_bits(slot, bits);
        const Value* from = data + slot * slot_;
        if (inner == 1)
          for (Index u = low; u < high; ++u) result[k1 + ranks_ * u] = from[u];
        else
          for (Index u = low; u < high; ++u) std::copy_n(from + u * inner, inner, result + (k1 + ranks_ * u) * inner);
      }
    }
  }

  /// The slots that go in the step of this bit, at their absolute addresses; or where those that come are put. Those of
  /// the next outer block of the array lie a line further.
  [[nodiscard]] mpi::Datatype slots_type(int bit, bool receives) const {
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
    for (int slot = 0; slot < ranks_; ++slot) {
      if ((slot & bit) == (me_ & bit)) continue;
      const bool in_result = lies_in_result(slot, 2 * bit) != receives;
      MPI_Aint place = 0;
      FOURSCORE_MPI(MPI_Get_address((in_result ? result_ : data_) + slot * slot_, &place));
      const auto bytes = static_cast<MPI_Aint>(sizeof(Value)) * slot_;
      if (!places.empty() && place == places.back() + lengths.back() * static_cast<MPI_Aint>(sizeof(Value))) {
        lengths.back() += static_cast<int>(slot_);
      } else if (bytes > 0) {
        places.push_back(place);
        lengths.push_back(static_cast<int>(slot_));
      }
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    FOURSCORE_MPI(MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(),
                                           mpi::element_type(sizeof(Value)), &type));
    const mpi::Datatype of_line(type);
    const auto line_bytes = static_cast<MPI_Aint>(view_.length * view_.inner) * static_cast<MPI_Aint>(sizeof(Value));
    FOURSCORE_MPI(MPI_Type_create_hvector(static_cast<int>(view_.outer), 1, line_bytes, of_line.get(), &type));
    mpi::Datatype owner(type);
    FOURSCORE_MPI(MPI_Type_commit(&type));
    return owner;
  }

  MPI_Comm comm_;
  int ranks_;
  int me_;
  AxisView view_;
  Index slot_;  ///< adjacent elements of one slot
  Value* data_;
  Value* result_;
  std::vector<Step> steps_;
};

}  // namespace fourscore
