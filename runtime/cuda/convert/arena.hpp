// Arrays in one allocation. Each layout runs twice: first to count the bytes, then with memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sptile::runtime::cuda {

class Arena {
 public:
  static constexpr std::size_t kAlignment = 256;

  /// With a null base, arrays are only counted.
  explicit Arena(std::byte* base = nullptr) : base_(base) {}

  /// Returns the next array; null if there is no memory.
  template <class T>
  T* take(std::int64_t count) {
    std::byte* const part = base_ == nullptr ? nullptr : base_ + bytes_;
    bytes_ += padded(static_cast<std::size_t>(count) * sizeof(T));
    return reinterpret_cast<T*>(part);
  }
  template <class T>
  void take(T*& part, std::int64_t count) {
    part = take<T>(count);
  }

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  static constexpr std::size_t padded(std::size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

 private:
  std::byte* base_;
  std::size_t bytes_ = 0;
};

}  // namespace sptile::runtime::cuda
