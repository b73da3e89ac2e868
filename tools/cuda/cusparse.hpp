// cuSPARSE as a baseline, loaded at run time without linking.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/core/error.hpp"
#include "tools/cuda/device_math.hpp"
#include "tools/cuda/launch_timer.hpp"

namespace sptile::tools::cuda {

/// Returns the names of its algorithms for an operation on CSR with n columns, such as "cusparse.alg2"; for
/// one column also its matrix-vector products. Empty if this build lacks cuSPARSE or the library cannot be
/// loaded.
std::vector<std::string_view> cusparse_kernels(const runtime::Operation& op, std::int64_t n);

/// Prepares one of these algorithms, including preprocessing. Operands are row-major with n columns, of a's
/// type; sums are f32, or f64 for f64 (cuSPARSE has no tf32 products for CSR). A list of entries is in CSR
/// order. The arguments must outlive the result, which launches the product. Errc::unsupported if the
/// algorithm refuses the types.
Result<Launch> prepare_cusparse(std::string_view kernel, const DeviceCsr& a,
                                const runtime::Operands& operands, std::int64_t n);

}  // namespace sptile::tools::cuda
