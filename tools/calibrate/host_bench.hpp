// Measures products on the CPU for calibration.
#pragma once

#include <memory>

#include "tools/product_bench.hpp"

namespace sptile::tools {

/// Others use the CPU, too: the least of some runs counts as the median; slow products are repeated less.
/// Results are compared with the reference on some of the rows. The matrix must outlive the measurements; its
/// values are those of the operands.
std::unique_ptr<ProductBench> make_host_bench(Session& session);

}  // namespace sptile::tools
