// Arrays whose length is unknown until the end of the input.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "formats/io/files/claim.hpp"

namespace sptile::formats {

/// Grows by blocks of fixed size: no element is moved, and at most one block is allocated in advance. Throws
/// OutOfMemory if free memory runs short, which is checked once per kClaimed blocks.
template <class T>
class GrowingArray {
 public:
  void push_back(T element) {
    if (static_cast<std::size_t>(end_) / kPiece == pieces_.size()) add_piece();
    pieces_[static_cast<std::size_t>(end_) / kPiece][end_ % kPieceSize] = element;
    ++end_;
  }

  [[nodiscard]] std::int64_t size() const { return end_ - begin_; }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] T operator[](std::int64_t i) const {
    return pieces_[static_cast<std::size_t>(begin_ + i) / kPiece][(begin_ + i) % kPieceSize];
  }

  /// Removes the first element; requires that there is one.
  void pop_front() { ++begin_; }

  /// Returns all elements as one array.
  [[nodiscard]] Buffer<T> take() && {
    Buffer<T> all = claim<T>(size());
    for (std::int64_t at = 0; at < size();) {
      Buffer<T>& piece = pieces_[static_cast<std::size_t>(begin_ + at) / kPiece];
      const std::int64_t first = (begin_ + at) % kPieceSize;
      const std::int64_t count = std::min(size() - at, kPieceSize - first);
      std::copy_n(piece.data() + first, count, all.data() + at);
      at += count;
      piece = {};
    }
    *this = {};
    return all;
  }

 private:
  static constexpr std::int64_t kPieceSize = 1 << 16;
  static constexpr auto kPiece = static_cast<std::size_t>(kPieceSize);
  static constexpr std::int64_t kClaimed = 64;  ///< blocks per check of free memory

  void add_piece() {
    if (pieces_.size() % static_cast<std::size_t>(kClaimed) == static_cast<std::size_t>(kFree))
      claim_memory(kClaimed * kPieceSize, sizeof(T), "its entries");
    pieces_.emplace_back(kPieceSize);
  }
  static constexpr std::int64_t kFree = 1;  ///< small files skip the check

  std::vector<Buffer<T>> pieces_;
  std::int64_t begin_ = 0, end_ = 0;
};

}  // namespace sptile::formats
