// A batch of matrices in host memory as one.
#pragma once

#include <span>

#include "runtime/core/batch.hpp"
#include "runtime/handle/matrix.hpp"

namespace sptile::runtime {

/// Copies matrices into one, which owns its arrays. Each is checked as formats::check_csr does, unless it is
/// trusted; row_ptr of each has rows + 1 offsets, the last of them the number of its entries. Errors name the
/// matrix: those of arrange, and Errc::bad_input. O(rows + entries).
Result<HostCsr> join_on_host(std::span<const formats::CsrView> parts, Arrangement arrangement, bool trusted);

}  // namespace sptile::runtime
