// Order-independent digest of a matrix, computed from its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sptile::tools {

/// Sums over rows and entries, so that the digests of parts add up to that of the entire matrix.
struct Digest {
  std::uint64_t content = 0;  ///< hash of rows: their ids, columns and value bits
  /// Hashes of all entries, and of all entries with row and column swapped. They are equal for a symmetric
  /// matrix, and for others with probability 2^-64.
  std::uint64_t forward = 0, mirrored = 0;
  std::int64_t entries = 0;

  Digest& operator+=(const Digest& other);
  [[nodiscard]] bool symmetric() const { return forward == mirrored; }
};

/// Computes digests. The symmetry hashes use a random key per process, so that no matrix can be crafted to
/// appear symmetric.
class DigestMaker {
 public:
  DigestMaker();

  /// Adds one row: ascending columns, with value_width bytes each (0: a pattern).
  void add(Digest& digest, std::int64_t row, std::span<const std::int32_t> columns, const void* values,
           std::size_t value_width) const;

 private:
  std::uint64_t key_ = 0;
};

/// Returns the fingerprint of an entire matrix with that digest.
std::uint64_t content_hash(const Digest& digest, std::int64_t rows, std::size_t value_width);

}  // namespace sptile::tools
