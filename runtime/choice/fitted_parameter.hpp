// Fitted parameters of formats that split a matrix between tensor cores and CUDA cores: thresholds,
// selectors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/choice/device_profile.hpp"
#include "runtime/kernels/kernels.hpp"

namespace sptile::runtime {

/// Returns the name of a fitted parameter in profiles: the parameter and N, for example "threshold_128".
std::string fitted_name(std::string_view parameter, std::int64_t n);

/// Product for which a matrix is split.
struct SplitProduct {
  const Kernel* kernel = nullptr;
  Precision precision = Precision::fp32;
  std::int64_t n = 0;  ///< columns of the dense operands, >= 1
};

/// Returns the product that a format is split for if the actual one is unknown, or if products of several
/// kinds share the format: the operation that its parameter is fitted for, on CUDA with 128 columns, in fp16
/// for 16-bit values, otherwise in tf32. The kernel is null for formats without such a parameter.
SplitProduct usual_product(std::string_view format, DType values);

/// A fitted parameter.
struct FittedParameter {
  int value = 0;
  std::string name;       ///< for example "threshold_128"
  std::string precision;  ///< precision that it was fitted for
};

/// Returns the value for a product: for its precision, otherwise for any, otherwise, for bf16, for fp16,
/// whose blocks are the same; among those the one whose N has the lowest ratio to n, and the smaller N of
/// equal ones. Nullopt if the profile has none or the product has no kernel. Errc::bad_input, naming the
/// number, if it is not a valid parameter of the kernel's format. O(numbers).
Result<std::optional<FittedParameter>> fitted_parameter(const DeviceProfile& profile,
                                                        const SplitProduct& product);

}  // namespace sptile::runtime
