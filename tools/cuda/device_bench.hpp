// Measures products on a CUDA device with operands that stay there: the seam between the tools and CUDA. A
// build without nvcc has the same function (none.cpp), which says so.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/csr_view.hpp"
#include "tools/measure.hpp"
#include "tools/roofline.hpp"

namespace sptile::tools {

struct DeviceBenchOptions {
  bool flush_l2 = false;  ///< before every launch
  bool check = true;      ///< compare with sums in double before timing
  bool predict = true;    ///< say what the cost model expects
  std::uint64_t seed = 1;
};

/// A measurement, and what is known only where operands stay on the device.
struct DeviceMeasurement {
  ProductMeasurement
      product;           ///< `repeat` is the number of launches; each time is the mean of a group of them
  double frobenius = 0;  ///< ||result - reference|| / ||reference||; meaningful when checked
  double pinned_us = 0;  ///< time to copy the format's bytes from pinned memory; 0 for cuSPARSE
};

/// Measures on the first device. One matrix, one operation and one N at a time are on it, with the dense
/// operands and the reference; all formats, kernels and precisions of the same types share them. The result
/// is filled with NaN before it is compared, so that what was not written shows.
class DeviceBench {
 public:
  virtual ~DeviceBench() = default;

  [[nodiscard]] virtual std::string device() const = 0;  ///< name and compute capability
  [[nodiscard]] virtual const Ceilings& ceilings() const = 0;

  /// Uploads the matrix in its original row order, values converted to `dense`, those of a pattern 1.
  virtual Status set_matrix(const formats::CsrView& source, DType dense) = 0;

  /// Makes B, or X and Y, random in (-1, 1), and the reference of an operation with n columns.
  virtual Status set_operands(std::string_view op, std::int64_t n) = 0;

  /// Plans, checks, times; a.value_source says where the numbers of an SDDMM belong that are not in CSR
  /// order. Planning is timed the second time, when device and pinned memory are warm. Errc::unsupported when
  /// no kernel forms products of exactly the precision that is asked for.
  virtual Result<DeviceMeasurement> measure(const runtime::PlanMatrix& a, const ProductRequest& request) = 0;

  /// The same for cuSPARSE, see cusparse_yardsticks.
  virtual Result<DeviceMeasurement> measure_cusparse(std::string_view kernel) = 0;
};

/// Opens the first device and measures what its memory can do. Errc::device when there is none,
/// Errc::unsupported when no kernel was compiled in.
Result<std::unique_ptr<DeviceBench>> open_device_bench(const DeviceBenchOptions& options);

/// cuSPARSE's algorithms for an operation, "cusparse.alg2"; none when the library is not found.
std::span<const std::string_view> cusparse_yardsticks(std::string_view op);

}  // namespace sptile::tools
