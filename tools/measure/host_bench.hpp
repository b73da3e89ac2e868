// Measures products with operands in host memory, on any device, without copies.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "formats/core/buffer.hpp"
#include "tools/cli/verb.hpp"
#include "tools/measure/product_bench.hpp"
#include "tools/measure/reference_cache.hpp"

namespace sptile::tools {

struct Repeats {
  int warmup = 2, repeat = 10;
};

struct HostBenchOptions {
  runtime::Device device = runtime::Device::cpu;
  int threads = 0;  ///< 0: those of the session
  /// Unset: chosen by the time of a run. The minimum then replaces the median, because other processes use
  /// the CPU.
  std::optional<Repeats> repeats = {};
  CheckedRows check = CheckedRows::none;
  /// Bytes for data shared by all measurements of one product; 0: its reference is recomputed each time.
  std::size_t reference_bytes = 0;
  bool trusted = false;  ///< skip the checks of matrices and value_source
  bool predict = true;   ///< also predict the time
  bool stored = true;    ///< use stored plans of the matrices, see PlanOptions
};

class HostBench final : public ProductBench {
 public:
  HostBench(Session& session, const HostBenchOptions& options) : session_(session), options_(options) {}

  [[nodiscard]] runtime::Device kind() const override { return options_.device; }
  Status set_matrix(const formats::CsrView& source, const runtime::DenseTypes& dense) override;
  Status set_operands(const runtime::Operation& op, std::int64_t n) override;
  Result<Measurement> measure(const runtime::PlanMatrix& a, const KernelRequest& request) override;

  /// Returns the options with which `measure` plans.
  [[nodiscard]] runtime::PlanOptions plan_options(const KernelRequest& request) const;

  /// Measures an existing plan that was created with these options.
  Result<Measurement> measure(const runtime::PlanMatrix& a, const Planned& planned);

 private:
  void predict(const runtime::PlanMatrix& a, Measurement& m) const;
  Status run_and_check(const runtime::PlanMatrix& a, Measurement& m);
  void make_operands();
  [[nodiscard]] runtime::OperandShape shape_of(const runtime::OperandSpec& spec) const;
  [[nodiscard]] runtime::Operands operands_from(std::int64_t row);
  [[nodiscard]] Result<std::vector<double>> counted_run(const runtime::ProductPlan& plan, int warmup,
                                                        int repeat);
  [[nodiscard]] Result<TimeSummary> time(const runtime::ProductPlan& plan);
  Result<double> error(const runtime::PlanMatrix& a);

  Session& session_;
  HostBenchOptions options_;
  formats::CsrView source_;
  runtime::DenseTypes dense_;
  const runtime::Operation* op_ = nullptr;
  std::int64_t n_ = 0;
  bool made_ = false;  // the operands are initialized
  std::array<formats::Array, runtime::kMaxOperands> operands_;
  ReferenceCache reference_{options_.reference_bytes};  // for the current matrix and operands
};

}  // namespace sptile::tools
