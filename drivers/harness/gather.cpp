#include "harness/gather.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace fourscore {
namespace {

struct Places {
  std::vector<int> lengths, offsets;
  std::size_t total = 0;
};

Places places_of(MPI_Comm comm, std::size_t length) {
  Places places;
  places.lengths = gather_values(comm, static_cast<int>(length));
  for (const int each : places.lengths) {
    places.offsets.push_back(static_cast<int>(places.total));
    places.total += static_cast<std::size_t>(each);
    if (places.total > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      throw std::length_error("too much to gather on one rank");
  }
  return places;
}

}  // namespace

std::vector<std::vector<double>> gather_rows(MPI_Comm comm, const std::vector<double>& mine) {
  const bool root = mpi::rank_in(comm) == 0;
  const auto ranks = static_cast<std::size_t>(mpi::size_of(comm));
  std::vector<double> all(root ? ranks * mine.size() : 0);
  const int count = static_cast<int>(mine.size());
  FOURSCORE_MPI(MPI_Gather(mine.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, comm));
  std::vector<std::vector<double>> rows;
  for (std::size_t rank = 0; root && rank < ranks; ++rank) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(rank * mine.size());
    rows.emplace_back(first, first + count);
  }
  return rows;
}

std::vector<std::vector<int>> gather_lists(MPI_Comm comm, const std::vector<int>& mine) {
  const Places places = places_of(comm, mine.size());
  std::vector<int> all(places.total);
  FOURSCORE_MPI(MPI_Gatherv(mine.data(), static_cast<int>(mine.size()), MPI_INT, all.data(), places.lengths.data(),
                            places.offsets.data(), MPI_INT, 0, comm));
  std::vector<std::vector<int>> lists;
  for (std::size_t rank = 0; rank < places.lengths.size(); ++rank) {
    const auto first = all.begin() + places.offsets[rank];
    lists.emplace_back(first, first + places.lengths[rank]);
  }
  return lists;
}

std::vector<nlohmann::json> gather_json(MPI_Comm comm, const nlohmann::json& value) {
  const std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const Places places = places_of(comm, text.size());
  std::string all(places.total, '\0');
  FOURSCORE_MPI(MPI_Gatherv(text.data(), static_cast<int>(text.size()), MPI_CHAR, all.data(), places.lengths.data(),
                            places.offsets.data(), MPI_CHAR, 0, comm));
  std::vector<nlohmann::json> values;
  for (std::size_t rank = 0; rank < places.lengths.size(); ++rank)
    values.push_back(nlohmann::json::parse(std::string_view(all).substr(
        static_cast<std::size_t>(places.offsets[rank]), static_cast<std::size_t>(places.lengths[rank]))));
  return values;
}

}  // namespace fourscore
