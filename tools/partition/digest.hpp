// What is known of a whole matrix when its rows have come by, in whatever order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sptile::tools {

/// Sums over rows and entries, so that parts of a matrix add up to the whole.
struct Digest {
  std::uint64_t content = 0;  ///< of rows: their numbers, columns and the bits of their values
  /// Of entries, and of entries with row and column changed round: the same where the matrix is symmetric;
  /// where it is not, they are with odds of 2^-64.
  std::uint64_t forward = 0, mirrored = 0;
  std::int64_t entries = 0;

  Digest& operator+=(const Digest& other);
  [[nodiscard]] bool symmetric() const { return forward == mirrored; }
};

/// Makes digests. The sums for symmetry have a key, which is new in each process: nobody can make a matrix
/// that seems symmetric.
class DigestMaker {
 public:
  DigestMaker();

  /// Takes one row of a matrix: columns ascending, value_width bytes for each (0: a pattern).
  void add(Digest& digest, std::int64_t row, std::span<const std::int32_t> columns, const void* values,
           std::size_t value_width) const;

 private:
  std::uint64_t key_ = 0;
};

/// The fingerprint of a whole matrix of that digest.
std::uint64_t content_hash(const Digest& digest, std::int64_t rows, std::size_t value_width);

}  // namespace sptile::tools
