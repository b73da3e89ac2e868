// Where two matrices differ.
#pragma once

#include <optional>
#include <string>

#include "formats/core/csr_view.hpp"

namespace sptile::tools {

/// Compares two matrices in sound CSR, bit by bit; nothing when they are the same. Tells how many rows,
/// columns and entries each has where that differs, and the first place, row by row and counted from 1, where
/// one has an entry that the other lacks, or another value. `a_name` and `b_name` are what the matrices are
/// called: "the bundle".
std::optional<std::string> find_difference(const formats::CsrView& a, const std::string& a_name,
                                           const formats::CsrView& b, const std::string& b_name);

}  // namespace sptile::tools
