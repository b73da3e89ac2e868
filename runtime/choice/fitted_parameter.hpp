// What a profile has for the parameter of a format that splits a matrix between tensor cores and CUDA cores:
// thresholds, selectors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/choice/device_profile.hpp"
#include "runtime/kernels/kernels.hpp"

namespace sptile::runtime {

/// Name of such a number: that of the parameter, and N; "threshold_128".
std::string fitted_name(std::string_view parameter, std::int64_t n);

/// What a matrix is split for.
struct SplitProduct {
  const Kernel* kernel = nullptr;
  Precision precision = Precision::fp32;
  std::int64_t n = 0;  ///< columns of the dense operands, >= 1
};

/// What a format is split for where it is not known, or where products of several kinds share it: the
/// operation that its parameter is fitted for, on CUDA with 128 columns, in fp16 for values of 16 bits, else
/// in tf32. No kernel for formats without such a parameter.
SplitProduct usual_product(std::string_view format, DType values);

/// One of the numbers.
struct FittedParameter {
  int value = 0;
  std::string name;       ///< "threshold_128"
  std::string precision;  ///< that it was fitted for
};

/// Finds the value for a product: that of its precision, else of any, else, for bf16, of fp16, whose
/// blocks are the same; among those the one whose N has the least ratio to n, of equals the smaller N.
/// Nothing when the profile has none, or the product no kernel. Errc::bad_input, naming the number, for one
/// that the kernel's format cannot take. O(numbers).
Result<std::optional<FittedParameter>> fitted_parameter(const DeviceProfile& profile,
                                                        const SplitProduct& product);

}  // namespace sptile::runtime
