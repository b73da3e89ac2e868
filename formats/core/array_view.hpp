// Non-owning view of an array whose element type is known only at run time.
#pragma once

#include <cassert>
#include <cstdint>
#include <span>

#include "formats/core/dtype.hpp"

namespace sptile {

/// Borrows `size` elements of type `dtype`. A default-constructed view (DType::none) is absent.
struct ArrayView {
  DType dtype = DType::none;
  const void* data = nullptr;
  std::int64_t size = 0;  ///< elements

  ArrayView() = default;
  ArrayView(DType type, const void* pointer, std::int64_t elements)
      : dtype(type), data(pointer), size(elements) {}
  template <class T>
  requires(dtype_of<T> != DType::none) explicit ArrayView(std::span<const T> s)
      : dtype(dtype_of<T>), data(s.data()), size(static_cast<std::int64_t>(s.size())) {}

  [[nodiscard]] bool present() const { return dtype != DType::none; }
  [[nodiscard]] std::int64_t bytes() const { return size * static_cast<std::int64_t>(size_of(dtype)); }

  /// Returns the elements as T, which must match the dtype.
  template <class T>
  [[nodiscard]] std::span<const T> as() const {
    assert(dtype == dtype_of<T>);
    return {static_cast<const T*>(data), static_cast<std::size_t>(size)};
  }
};

}  // namespace sptile
