// Measures products on a CUDA device with operands that stay there: the seam between the tools and CUDA. A
// build without nvcc has the same function (none.cpp), which says so.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/product_bench.hpp"
#include "tools/roofline.hpp"

namespace sptile::tools {

struct DeviceBenchOptions {
  bool flush_l2 = false;  ///< before every launch
  bool check = true;      ///< compare with sums in double before timing
  bool predict = true;    ///< say what the cost model expects
  bool time_planning = true;
  std::uint64_t seed = 1;
};

/// Measures on the first device. Planning is timed the second time, when device and pinned memory are warm.
class DeviceBench : public ProductBench {
 public:
  [[nodiscard]] runtime::Device kind() const override { return runtime::Device::cuda; }
  [[nodiscard]] virtual std::string device() const = 0;  ///< name and compute capability
  [[nodiscard]] virtual const Ceilings& ceilings() const = 0;

  /// The same for cuSPARSE, see cusparse_yardsticks.
  virtual Result<DeviceMeasurement> measure_cusparse(std::string_view kernel) = 0;
};

/// Opens the first device and measures what its memory can do. Errc::device when there is none,
/// Errc::unsupported when no kernel was compiled in.
Result<std::unique_ptr<DeviceBench>> open_device_bench(const DeviceBenchOptions& options);

/// cuSPARSE's algorithms for an operation, "cusparse.alg2"; none when the library is not found.
std::span<const std::string_view> cusparse_yardsticks(std::string_view op);

}  // namespace sptile::tools
