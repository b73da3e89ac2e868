// What `export` takes out of a bundle.
#pragma once

#include "formats/core/csr.hpp"
#include "formats/layout/format_layout.hpp"
#include "runtime/bundle/bundle.hpp"

namespace sptile::tools {

/// Rebuilds the matrix of a bundle, or its transpose, from one of its formats, its rows back in their
/// original order. Checks what it reads first: Errc::bad_input names the first thing that is wrong.
Result<formats::Csr> rebuild_matrix(const runtime::Bundle& bundle, const formats::FormatView& view,
                                    formats::Side side = formats::Side::matrix);

}  // namespace sptile::tools
