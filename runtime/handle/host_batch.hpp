// Batches of matrices in host memory.
#pragma once

#include <span>

#include "runtime/core/batch.hpp"
#include "runtime/handle/matrix.hpp"

namespace sptile::runtime {

/// Joins matrices into one, which owns its arrays. Each is checked by formats::check_csr unless trusted;
/// row_ptr must have rows + 1 offsets and end with the number of entries. Errors name the matrix: those of
/// arrange, and Errc::bad_input. O(rows + entries).
Result<HostCsr> join_on_host(std::span<const formats::CsrView> parts, Arrangement arrangement, bool trusted);

}  // namespace sptile::runtime
