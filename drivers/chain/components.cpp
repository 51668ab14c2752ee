#include "chain/components.hpp"

#include <fmt/format.h>

#include <array>

#include "mpi/error.hpp"

namespace fourscore {

void add_transform(std::vector<Component>& list, LocalFft& fft, int number, Index min_bytes) {
  auto parts = fft.parts();
  if (parts.empty()) list.push_back({fmt::format("fft-{}", number), Phase::fft, [&fft] { fft.execute(); }, min_bytes});
  for (WorkPart& part : parts)
    list.push_back({fmt::format("{}-{}", part.name(), number), part.phase, std::move(part.run), part.min_bytes});
}

ExchangeCopies copies_on_any_rank(const Exchange& exchange, MPI_Comm comm) {
  std::array<int, 2> does{exchange.facts().packs ? 1 : 0, exchange.facts().unpacks ? 1 : 0};
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, does.data(), 2, MPI_INT, MPI_MAX, comm));
  return {does[0] != 0, does[1] != 0};
}

void add_exchange(std::vector<Component>& list, Exchange& exchange, const ExchangeCopies& copies, int number,
                  Index min_bytes, const std::function<void()>& between) {
  if (copies.packs)
    list.push_back({fmt::format("pack-{}", number), Phase::pack, [&exchange] { exchange.pack(); },
                    2 * exchange.facts().bytes_packed});
  auto parts = exchange.parts();
  for (WorkPart& part : parts)
    list.push_back({fmt::format("{}-{}{}", part.name(), part.phase == Phase::exchange ? "" : "exchange-", number),
                    part.phase, std::move(part.run), part.phase == Phase::exchange ? min_bytes : part.min_bytes});
  if (parts.empty())
    list.push_back({fmt::format("exchange-{}", number), Phase::exchange,
                    [&exchange, between] {
                      exchange.start();
                      if (between) between();
                      exchange.finish();
                    },
                    min_bytes});
  if (copies.unpacks)
    list.push_back({fmt::format("unpack-{}", number), Phase::unpack, [&exchange] { exchange.unpack(); },
                    2 * exchange.facts().bytes_unpacked});
}

}  // namespace fourscore
