// Interface for measuring products of one matrix, operation and N at a time, which formats, kernels and
// precisions with the same types share. Operands are in host memory (host_bench.hpp) or stay on a device
// (cuda/device_bench.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/core/csr_view.hpp"
#include "runtime/kernels/kernels.hpp"
#include "tools/measure/measurement.hpp"

namespace sptile::tools {

/// Requested kernel of a format.
struct KernelRequest {
  std::string_view kernel;                      ///< empty: the planner chooses
  std::optional<runtime::Precision> precision;  ///< unset: the kernel's default; see PlanOptions::precision
};

/// Properties of a device, measured before products run on it.
struct DeviceFacts {
  std::string name;  ///< with its compute capability
  Ceilings ceilings;
};

/// Results are filled with NaN before a check, so that missing writes are detected.
class ProductBench {
 public:
  virtual ~ProductBench() = default;

  [[nodiscard]] virtual runtime::Device kind() const = 0;

  /// Sets the matrix in original row order, which must outlive the measurements, and the types of dense
  /// operands.
  virtual Status set_matrix(const formats::CsrView& source, const runtime::DenseTypes& dense) = 0;

  /// Sets the operation and n columns. Operands are random in (-1, 1). Errc::usage if memory cannot hold
  /// them.
  virtual Status set_operands(const runtime::Operation& op, std::int64_t n) = 0;

  /// Plans a format of the matrix, runs it, checks the result and measures the time. a.value_source maps
  /// lists of entries that are not in CSR order. A wrong result is not an error here: see check_outcome.
  virtual Result<Measurement> measure(const runtime::PlanMatrix& a, const KernelRequest& request) = 0;

  /// Returns whether the device has an instance of a kernel for a matrix and dense operands of its value
  /// type.
  [[nodiscard]] virtual bool supports(const runtime::Multiplicand& a, std::string_view kernel) const;

  /// Returns kernels of other libraries on CSR that are measured for comparison, such as "cusparse.alg2".
  [[nodiscard]] virtual std::vector<std::string_view> yardsticks(const runtime::Operation&,
                                                                 std::int64_t /*n*/) const {
    return {};
  }
  virtual Result<Measurement> measure_yardstick(std::string_view kernel);

  /// Returns the facts of the device; nullopt for a CPU, and before a matrix is set.
  [[nodiscard]] virtual std::optional<DeviceFacts> facts() const { return std::nullopt; }
};

/// Errc::usage if the bytes of operands with that many rows or columns exceed 64 bits.
Status check_operands_fit(const runtime::Operation& op, const formats::CsrView& a, std::int64_t n);

}  // namespace sptile::tools
