// Positions of the matrices of a batch in the joined matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/dtype.hpp"
#include "formats/core/error.hpp"

namespace sptile::runtime {

enum class Arrangement {
  block_diagonal,  ///< rows and columns are concatenated
  stacked          ///< rows are concatenated; all matrices have the same columns
};

/// Sizes of one matrix of a batch, all nonnegative.
struct BatchMember {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  DType values = DType::none;  ///< DType::none: a pattern
};

/// Offsets of rows, columns and entries.
struct BatchPlace {
  std::int64_t row = 0, col = 0, entry = 0;
};

struct BatchLayout {
  BatchMember whole;
  std::vector<BatchPlace> begin;  ///< offsets of each matrix in the joined matrix
};

/// Computes the offsets of the matrices in the joined matrix. Errc::usage if there are no matrices, if value
/// types differ, or if stacked matrices differ in columns; Errc::unsupported if the result has more than 2^31
/// - 1 rows or columns, or 2^60 entries. Errors name the matrix. O(matrices).
Result<BatchLayout> arrange(std::span<const BatchMember> members, Arrangement arrangement);

/// Returns the error with the index of the matrix prepended.
[[nodiscard]] tl::unexpected<Error> in_batch(std::size_t member, const Error& error);

}  // namespace sptile::runtime
