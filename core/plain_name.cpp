#include "core/plain_name.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.hpp"

namespace fourscore {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

}  // namespace

PlainName::PlainName(std::string name, const std::string& what) : name_(std::move(name)) {
  const bool fits = !name_.empty() && name_.size() <= longest && name_.front() != '.' && name_.front() != '-';
  if (!fits || !std::all_of(name_.begin(), name_.end(), is_plain))
    throw InputError(fmt::format("{} '{}{}': expected 1 to {} letters, digits, - _ . only, not starting with - or .",
                                 what, name_.substr(0, longest), name_.size() > longest ? "..." : "", longest));
}

}  // namespace fourscore
