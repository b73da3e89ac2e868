// Where a benchmark's products are measured: with operands in host memory, or on a device.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "tools/bench_matrix.hpp"
#include "tools/measure.hpp"

namespace sptile::tools {

struct Measured {
  ProductMeasurement product;
  Json columns = Json::object();  ///< of the row, beside those of the measurement
};

class Measurer {
 public:
  virtual ~Measurer() = default;

  /// Multiplies one format of a matrix; request.n says with how many columns.
  virtual Result<Measured> measure(const TypedMatrix& matrix, const runtime::PlanMatrix& a,
                                   const ProductRequest& request) = 0;

  /// Other people's kernels that run beside ours, "cusparse.alg2".
  [[nodiscard]] virtual std::span<const std::string_view> yardsticks(std::string_view op) const;
  virtual Result<Measured> measure_yardstick(const TypedMatrix& matrix, std::string_view op,
                                             std::string_view kernel, std::int64_t n);

  /// Tells that the matrices so far are gone.
  virtual void forget() {}

  /// What was measured of the device; null when nothing was.
  [[nodiscard]] virtual Json facts() const { return nullptr; }
};

std::unique_ptr<Measurer> make_host_measurer(Session& session);

/// Opens the device with the first measurement.
std::unique_ptr<Measurer> make_cuda_measurer(Session& session, bool flush_l2, bool check);

}  // namespace sptile::tools
