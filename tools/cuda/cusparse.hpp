// cuSPARSE as a yardstick, found at run time: nothing is linked to it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "formats/error.hpp"
#include "tools/cuda/device_math.hpp"

namespace sptile::tools::cuda {

/// Names of its algorithms for an operation on CSR, as kernels: "cusparse.alg2".
std::span<const std::string_view> cusparse_kernels(std::string_view op);

/// True when this build knows cuSPARSE and the library can be loaded.
bool cusparse_found();

/// Prepares one algorithm, with preprocessing, for C = A B on the default stream; operands are row-major, of
/// a's type, sums are f32, or f64 for f64 (cuSPARSE has no tf32 products for CSR). They must live as long as
/// the result, which launches it. Errc::unsupported when the algorithm refuses the types.
Result<std::function<Status()>> prepare_cusparse(std::string_view kernel, const DeviceCsr& a, const void* b,
                                                 void* c, std::int64_t n);

/// The same for SDDMM: X Y^T at the entries of a, X and Y row-major with n columns, into `out` in CSR order.
Result<std::function<Status()>> prepare_cusparse_sddmm(const DeviceCsr& a, const void* x, const void* y,
                                                       void* out, std::int64_t n);

}  // namespace sptile::tools::cuda
