// Where products are measured with operands that stay there: one matrix, one operation and one N at a time,
// which all formats, kernels and precisions of the same types share.
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/csr_view.hpp"
#include "runtime/cuda/papers/libra_streams/balance.hpp"
#include "tools/measure.hpp"

namespace sptile::tools {

/// A measurement, and what is known only where operands stay on a device.
struct DeviceMeasurement {
  ProductMeasurement
      product;           ///< `repeat` is the number of launches; each time is the mean of a group of them
  double frobenius = 0;  ///< ||result - reference|| / ||reference||; meaningful when checked
  double pinned_us = 0;  ///< time to copy the format's bytes from pinned memory; 0 for cuSPARSE
  runtime::cuda::LibraRatios occupancy = {};  ///< of kernels with Libra's balance, see libra_streams.hpp
};

/// The result is filled with NaN before it is compared, so that what was not written shows.
class ProductBench {
 public:
  virtual ~ProductBench() = default;

  [[nodiscard]] virtual runtime::Device kind() const = 0;

  /// Takes the matrix in its original row order, values converted to `dense`, those of a pattern 1.
  virtual Status set_matrix(const formats::CsrView& source, DType dense) = 0;

  /// Makes B, or X and Y, random in (-1, 1), and the reference of an operation with n columns.
  virtual Status set_operands(std::string_view op, std::int64_t n) = 0;

  /// Plans, checks, times; a.value_source says where the numbers of an SDDMM belong that are not in CSR
  /// order. Errc::unsupported when no kernel forms products of exactly the precision that is asked for.
  virtual Result<DeviceMeasurement> measure(const runtime::PlanMatrix& a, const ProductRequest& request) = 0;
};

}  // namespace sptile::tools
