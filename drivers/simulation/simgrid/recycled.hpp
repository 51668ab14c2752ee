#pragma once
// Memory for what comes and goes by the million, of a few sizes. The ranks are one thread.

#include <cstddef>
#include <memory>
#include <vector>

namespace fourscore {

/// An allocator: the place of one T that is given back is the next that is given out.
template <class T>
struct Recycled {
  using value_type = T;

  Recycled() = default;
  template <class Other>
  Recycled(const Recycled<Other>& /*other*/) {}  // NOLINT: as allocators convert

  T* allocate(std::size_t count) {
    if (count != 1 || free_places().empty()) return std::allocator<T>{}.allocate(count);
    T* const place = free_places().back();
    free_places().pop_back();
    return place;
  }
  void deallocate(T* place, std::size_t count) {
    if (count == 1)
      free_places().push_back(place);
    else
      std::allocator<T>{}.deallocate(place, count);
  }
  bool operator==(const Recycled& /*other*/) const { return true; }

 private:
  static std::vector<T*>& free_places() {
    static auto* const places = new std::vector<T*>;  // never freed: ranks end after it would be
    return *places;
  }
};

}  // namespace fourscore
