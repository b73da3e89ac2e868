// Where products are measured: one matrix, one operation and one N at a time, which all formats, kernels and
// precisions of the same types share. Operands are in host memory (host_bench.hpp) or stay on a device
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

/// Which of the kernels for a format runs.
struct KernelRequest {
  std::string_view kernel;                      ///< empty: the planner chooses
  std::optional<runtime::Precision> precision;  ///< not set: the kernel's own; see PlanOptions::precision
};

/// What was measured of a device before anything ran on it.
struct DeviceFacts {
  std::string name;  ///< with its compute capability
  Ceilings ceilings;
};

/// Results are filled with NaN before they are compared, so that what was not written shows.
class ProductBench {
 public:
  virtual ~ProductBench() = default;

  [[nodiscard]] virtual runtime::Device kind() const = 0;

  /// Takes the matrix in its original row order, which must outlive the measurements. Dense operands are of
  /// the types `dense`.
  virtual Status set_matrix(const formats::CsrView& source, const runtime::DenseTypes& dense) = 0;

  /// Says what is computed: operands are random in (-1, 1), of n columns. Errc::usage when no memory can hold
  /// them.
  virtual Status set_operands(const runtime::Operation& op, std::int64_t n) = 0;

  /// Plans a format of the matrix, runs it, checks the result, times it; a.value_source says where the
  /// numbers of a list of entries belong that are not in CSR order. A wrong result is no error here: see
  /// check_outcome.
  virtual Result<Measurement> measure(const runtime::PlanMatrix& a, const KernelRequest& request) = 0;

  /// True if the device has an instance of a kernel for a matrix and dense operands of the type of its
  /// values.
  [[nodiscard]] virtual bool supports(const runtime::Multiplicand& a, std::string_view kernel) const;

  /// Other people's kernels that run beside ours, on CSR: "cusparse.alg2".
  [[nodiscard]] virtual std::vector<std::string_view> yardsticks(const runtime::Operation&,
                                                                 std::int64_t /*n*/) const {
    return {};
  }
  virtual Result<Measurement> measure_yardstick(std::string_view kernel);

  /// Nothing of a CPU, and before there is a matrix.
  [[nodiscard]] virtual std::optional<DeviceFacts> facts() const { return std::nullopt; }
};

/// Errc::usage when operands for so many rows or columns cannot be counted in 64-bit bytes.
Status check_operands_fit(const runtime::Operation& op, const formats::CsrView& a, std::int64_t n);

}  // namespace sptile::tools
