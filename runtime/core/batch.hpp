// Where matrices stand in the one that they become.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/dtype.hpp"
#include "formats/core/error.hpp"

namespace sptile::runtime {

enum class Arrangement {
  block_diagonal,  ///< rows and columns of each matrix follow those of the one before
  stacked          ///< rows follow, and all matrices have the same columns
};

/// A matrix of a batch; nothing is negative.
struct BatchMember {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  DType values = DType::none;  ///< none: a pattern
};

/// Numbers of rows, columns and entries.
struct BatchPlace {
  std::int64_t row = 0, col = 0, entry = 0;
};

struct BatchLayout {
  BatchMember whole;
  std::vector<BatchPlace> begin;  ///< of each matrix, in the whole
};

/// Lays out matrices one behind the other. Errc::usage for none, for values of several types, and for stacked
/// matrices of several widths; Errc::unsupported where rows or columns of the whole exceed 2^31 - 1, or
/// entries 2^60. Errors name the matrix. O(matrices).
Result<BatchLayout> arrange(std::span<const BatchMember> members, Arrangement arrangement);

/// An error of one matrix, which then says which.
[[nodiscard]] tl::unexpected<Error> in_batch(std::size_t member, const Error& error);

}  // namespace sptile::runtime
