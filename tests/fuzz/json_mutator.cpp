// Changes one place of a JSON document, so that most inputs get past the parser and reach what reads the fields.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

// libFuzzer's names.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed);
// NOLINTEND(readability-identifier-naming)

namespace {

using nlohmann::json;

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  std::size_t below(std::size_t bound) { return random_() % bound; }

 private:
  std::minstd_rand random_;
};

json odd_value(Draw& draw) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const std::array<json, 20> values{json(),
                                    json(true),
                                    json(0),
                                    json(-1),
                                    json(1),
                                    json(2147483648),
                                    json(most),
                                    json(-most),
                                    json(~0ULL),
                                    json(0.5),
                                    json(1e308),
                                    json(-1e308),
                                    json(""),
                                    json("x"),
                                    json("ok"),
                                    json("\x1b[31m"),
                                    json::array(),
                                    json::object(),
                                    json::array({1, "x"}),
                                    json{{"name", 1}}};
  return values[draw.below(values.size())];
}

/// A random place below `document`, or itself.
json& place_in(json& document, Draw& draw) {
  json* place = &document;
  while (place->is_structured() && !place->empty() && draw.below(4) != 0)
    place = &*std::next(place->begin(), static_cast<std::ptrdiff_t>(draw.below(place->size())));
  return *place;
}

void change(json& document, Draw& draw) {
  json& place = place_in(document, draw);
  const std::size_t kind = draw.below(5);
  if (kind == 0 && place.is_structured() && !place.empty()) {
    place.erase(std::next(place.begin(), static_cast<std::ptrdiff_t>(draw.below(place.size()))));
  } else if (kind == 1 && place.is_array()) {
    place.push_back(place.empty() ? odd_value(draw) : json(place.front()));
  } else if (kind == 2 && place.is_object()) {
    place["x"] = odd_value(draw);
  } else if (kind == 3) {
    const json copy = place_in(document, draw);
    place_in(document, draw) = copy;
  } else {
    place = odd_value(draw);
  }
}

}  // namespace

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  Draw draw(seed);
  json document = json::parse(data, data + size, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded() || draw.below(8) == 0) return LLVMFuzzerMutate(data, size, most);
  change(document, draw);
  const std::string text = document.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
