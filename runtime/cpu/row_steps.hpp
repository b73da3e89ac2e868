// Steps in which kernels for few columns process the rows of a csr matrix.
#pragma once

#include "formats/core/csr_view.hpp"

namespace sptile::runtime {

/// Step sizes of a matrix. They are chosen per matrix, so that the bits of a row do not depend on the
/// division of work.
struct RowSteps {
  bool small = false;     ///< steps of 4 nonzeros instead of 8
  bool are_many = false;  ///< rows have several steps of 8 on average
  bool runs = false;      ///< in many steps of 8, columns are consecutive
};

/// Chooses by counts over a sample of at most 65,536 rows.
RowSteps choose_row_steps(const formats::CsrView& csr);

}  // namespace sptile::runtime
