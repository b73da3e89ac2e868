// Reconstruction of a matrix from a bundle for `export`.
#pragma once

#include "formats/core/csr.hpp"
#include "formats/layout/format_layout.hpp"
#include "runtime/bundle/bundle.hpp"

namespace sptile::tools {

/// Rebuilds the matrix of a bundle, or its transpose, from one of its formats, in original row order. Checks
/// the arrays first: Errc::bad_input names the first invalid one.
Result<formats::Csr> rebuild_matrix(const runtime::Bundle& bundle, const formats::FormatView& view,
                                    formats::Side side = formats::Side::matrix);

}  // namespace sptile::tools
