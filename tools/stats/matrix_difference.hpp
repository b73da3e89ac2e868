// Comparison of two matrices.
#pragma once

#include <optional>
#include <string>

#include "formats/core/csr_view.hpp"

namespace sptile::tools {

/// Compares two matrices in valid CSR, bit by bit; nullopt if they are equal. Otherwise returns the rows,
/// columns and entries if they differ, or the first position, in row-major order and counted from 1, of an
/// entry that is missing in one matrix or has another value. Messages call the matrices `a_name` and
/// `b_name`, for example "the bundle".
std::optional<std::string> find_difference(const formats::CsrView& a, const std::string& a_name,
                                           const formats::CsrView& b, const std::string& b_name);

}  // namespace sptile::tools
