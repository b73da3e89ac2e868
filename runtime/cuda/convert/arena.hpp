// Parts of one allocation: laid out twice, first to learn how many bytes there are, then with memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sptile::runtime::cuda {

class Arena {
 public:
  static constexpr std::size_t kAlignment = 256;

  /// Without memory parts are counted only.
  explicit Arena(std::byte* base = nullptr) : base_(base) {}

  /// Gives the next part, null when there is no memory.
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
