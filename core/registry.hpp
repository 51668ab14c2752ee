#pragma once
// Self-registration by name. An entry that cannot be built or run here registers all the same and says why.

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/problem.hpp"

namespace fourscore {

/// What is shown of an entry wherever it is listed or recorded.
struct Card {
  std::string name;
  std::string summary;   ///< one line
  std::string citation;  ///< a paper's short name, a standard's section, or a library's address
};

/// T has `Card card() const` and, for get(), `std::string unavailable() const` (empty: can run here).
template <class T>
class Registry {
 public:
  static Registry& instance() {
    static Registry registry;
    return registry;
  }

  /// Aborts on a duplicate name: two files claim one name, which only a programmer can mend.
  bool add(std::unique_ptr<T> entry) {
    const std::string name = entry->card().name;
    if (!entries_.emplace(name, std::move(entry)).second) {
      std::fprintf(stderr, "fourscore: the name '%s' is registered twice\n", name.c_str());
      std::abort();
    }
    return true;
  }

  [[nodiscard]] T* find(const std::string& name) const {
    const auto it = entries_.find(name);
    return it == entries_.end() ? nullptr : it->second.get();
  }

  /// Throws InputError with the nearest name, or with why the entry cannot run here.
  [[nodiscard]] const T& get(const std::string& name, const std::string& what) const {
    const T* entry = find(name);
    if (entry == nullptr) {
      const auto nearest = nearest_name(name, names());
      std::string known;
      for (const auto& other : names()) known += (known.empty() ? "" : ", ") + other;
      throw InputError("unknown " + what + " '" + name + "'; " +
                       (nearest ? "did you mean '" + *nearest + "'? Known: " : "known: ") + known);
    }
    if (const std::string reason = entry->unavailable(); !reason.empty())
      throw InputError(what + " '" + name + "' cannot run here: " + reason);
    return *entry;
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& [name, entry] : entries_) result.push_back(name);
    return result;
  }

 private:
  std::map<std::string, std::unique_ptr<T>> entries_;
};

}  // namespace fourscore
