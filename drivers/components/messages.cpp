#include "components/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "core/field.hpp"

namespace fourscore::component {

namespace {

constexpr std::string_view range_mark = "..";
constexpr Index range_step = 4;
constexpr std::size_t word_bytes = sizeof(std::uint64_t);

/// Calls visit(place, bytes as they should be) for each word and the rest of one.
template <class Visit>
void for_each_word(std::size_t bytes, int from, int to, const Visit& visit) {
  std::array<std::byte, word_bytes> expected{};
  for (std::size_t place = 0; place < bytes; place += word_bytes) {
    const std::uint64_t word = message_word(from, to, static_cast<Index>(place / word_bytes));
    std::memcpy(expected.data(), &word, word_bytes);
    visit(place, std::span(expected).first(std::min(word_bytes, bytes - place)));
  }
}

Index size_in(const std::string& text, const std::string& name) {
  try {
    return parse_size(text, fmt::format("parameter '{}'", name));
  } catch (const InputError& error) {
    throw ParameterError(name, error.what());
  }
}

}  // namespace

std::vector<Index> message_sizes(const Parameters& parameters, const std::string& name, Index multiple_of) {
  const std::string& text = parameters.text(name);
  std::vector<Index> sizes;
  if (const std::size_t mark = text.find(range_mark); mark == std::string::npos) {
    sizes = parameters.sizes(name, 1, largest_message);
  } else {
    const Index first = size_in(text.substr(0, mark), name);
    const Index last = size_in(text.substr(mark + range_mark.size()), name);
    if (first > last || last > largest_message)
      parameters.refuse(name, fmt::format("a range goes from its smaller to its larger size, at most {}",
                                          size_text(static_cast<double>(largest_message))));
    for (Index size = first; size < last; size *= range_step) sizes.push_back(size);
    sizes.push_back(last);
  }
  for (const Index size : sizes)
    if (size % multiple_of != 0)
      parameters.refuse(name,
                        fmt::format("{} is no multiple of {} bytes, which is what an element has", size, multiple_of));
  return sizes;
}

std::uint64_t message_word(int from, int to, Index word) {
  const auto pair = (static_cast<std::uint64_t>(from) << 32U) | static_cast<std::uint64_t>(to);
  return mix(pair ^ mix(static_cast<std::uint64_t>(word)));
}

void write_message(std::span<std::byte> message, int from, int to) {
  for_each_word(message.size(), from, to, [&](std::size_t place, std::span<const std::byte> expected) {
    std::memcpy(message.data() + place, expected.data(), expected.size());
  });
}

Index wrong_bytes(std::span<const std::byte> message, int from, int to) {
  Index wrong = 0;
  for_each_word(message.size(), from, to, [&](std::size_t place, std::span<const std::byte> expected) {
    if (std::memcmp(message.data() + place, expected.data(), expected.size()) == 0) return;
    for (std::size_t i = 0; i < expected.size(); ++i) wrong += message[place + i] == expected[i] ? 0 : 1;
  });
  return wrong;
}

void spoil(std::span<std::byte> message, int from, int to) {
  write_message(message, from, to);
  for (std::byte& byte : message) byte = ~byte;
}

}  // namespace fourscore::component
