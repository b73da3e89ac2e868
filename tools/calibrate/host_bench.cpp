#include "tools/calibrate/host_bench.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>

#include "formats/convert/packed_positions.hpp"
#include "runtime/reference/sddmm.hpp"
#include "runtime/reference/spmm.hpp"
#include "tools/random_operands.hpp"

namespace sptile::tools {
namespace {

constexpr double kSlow = 0.05;             // seconds that the runs of one product may take
constexpr std::int64_t kCheckedRows = 64;  // neighbours that are checked together
constexpr std::int64_t kCheckedProducts = std::int64_t{1} << 26;

// Compares blocks of neighbouring rows at even distances; `error` is of a block, given its first row.
template <class Error>
double sampled_error(const formats::CsrView& a, std::int64_t n, Error error) {
  const std::int64_t blocks = (a.rows + kCheckedRows - 1) / kCheckedRows;
  const std::int64_t step = std::max<std::int64_t>(a.nnz() * n / kCheckedProducts, 1);
  std::atomic<double> worst = 0;
  tbb::parallel_for(std::int64_t{0}, (blocks + step - 1) / step, [&](std::int64_t i) {
    const std::int64_t row = i * step * kCheckedRows;
    formats::CsrView part = a;
    part.rows = std::min(kCheckedRows, a.rows - row);
    part.row_ptr = a.row_ptr.subspan(static_cast<std::size_t>(row), static_cast<std::size_t>(part.rows) + 1);
    const double found = error(part, row);
    double known = worst;
    while (!(found <= known) && !worst.compare_exchange_weak(known, found)) {
    }
  });
  return worst;
}

template <class Operands>
Result<std::vector<double>> run_often(const runtime::ProductPlan& plan, const Operands& operands) {
  const auto first = runtime::timed_run(plan, operands, 1, 1);
  if (!first) return tl::unexpected(first.error());
  const int repeat = std::clamp(static_cast<int>(kSlow / first->front()), 3, 20);
  return runtime::timed_run(plan, operands, 3, repeat);
}

class HostBench final : public ProductBench {
 public:
  explicit HostBench(Session& session) : session_(session) {}

  [[nodiscard]] runtime::Device kind() const override { return runtime::Device::cpu; }

  Status set_matrix(const formats::CsrView& source, DType dense) override {
    source_ = source;
    dense_ = dense;
    n_ = 0;
    return {};
  }

  Status set_operands(std::string_view op, std::int64_t n) override {
    if (op == op_ && n == n_) return {};
    const std::uint64_t seed = session_.common.seed;
    op_ = op;
    n_ = n;
    x_ = samples() ? random_dense(source_.rows, n, dense_, seed + 1) : formats::Array();
    b_ = random_dense(source_.cols, n, dense_, seed);
    result_ = formats::Array(dense_, samples() ? source_.nnz() : source_.rows * n);
    return {};
  }

  Result<DeviceMeasurement> measure(const runtime::PlanMatrix& a, const ProductRequest& request) override;

 private:
  [[nodiscard]] bool samples() const { return op_ == "sddmm"; }
  [[nodiscard]] Result<std::vector<double>> run(const runtime::ProductPlan& plan) {
    return samples() ? run_often(plan, sddmm_operands(0)) : run_often(plan, spmm_operands(0));
  }
  [[nodiscard]] double error(const runtime::PlanMatrix& a);

  // Operands from one row on; the references only read the results here.
  [[nodiscard]] runtime::SpmmOperands spmm_operands(std::int64_t row) {
    return {.b = b_.data(), .ldb = n_, .c = from_row(result_, row), .ldc = n_};
  }
  [[nodiscard]] runtime::SddmmOperands sddmm_operands(std::int64_t row) {
    return {.x = from_row(x_, row), .ldx = n_, .y = b_.data(), .ldy = n_, .out = result_.data()};
  }
  [[nodiscard]] std::byte* from_row(formats::Array& rows, std::int64_t row) const {
    return static_cast<std::byte*>(rows.data()) + static_cast<std::size_t>(row * n_) * size_of(dense_);
  }

  Session& session_;
  formats::CsrView source_;
  DType dense_ = DType::f32;
  std::string op_;
  std::int64_t n_ = 0;
  formats::Array x_, b_, result_;
};

double HostBench::error(const runtime::PlanMatrix& a) {
  if (!samples())
    return sampled_error(source_, n_, [&](const formats::CsrView& part, std::int64_t row) {
      return runtime::relative_error(part, n_, dense_, spmm_operands(row));
    });
  formats::Array packed;
  if (a.value_source.present()) packed = formats::inverse_positions(a.value_source.as<std::int64_t>());
  const auto positions =
      a.value_source.present() ? std::as_const(packed).as<std::int64_t>() : std::span<const std::int64_t>();
  return sampled_error(source_, n_, [&](const formats::CsrView& part, std::int64_t row) {
    return runtime::relative_error(part, positions, n_, dense_, sddmm_operands(row));
  });
}

Result<DeviceMeasurement> HostBench::measure(const runtime::PlanMatrix& a, const ProductRequest& request) {
  runtime::PlanOptions options;
  options.n = n_;
  options.dense = dense_;
  options.kernel = request.kernel;
  options.threads = session_.common.threads;
  options.trusted = true;
  const auto plan = samples() ? runtime::plan_sddmm(a, options) : runtime::plan_spmm(a, options);
  if (!plan) return tl::unexpected(plan.error());
  std::fill_n(static_cast<std::byte*>(result_.data()), static_cast<std::size_t>(result_.view().bytes()),
              std::byte{0xFF});  // NaN
  const auto seconds = run(**plan);
  if (!seconds) return tl::unexpected(seconds.error());
  DeviceMeasurement measured;
  ProductMeasurement& m = measured.product;
  m.device = "cpu";
  m.op = op_;
  m.format = a.format.layout->name;
  m.kernel = runtime::kernel_name(**plan);
  m.dtype = name_of(dense_);
  m.precision = name_of(runtime::precision_of(**plan));
  m.n = n_;
  m.repeat = static_cast<int>(seconds->size());
  m.median_us = m.min_us = 1e6 * *std::min_element(seconds->begin(), seconds->end());
  m.checked = true;
  m.tolerance = rounding_bound(dense_, runtime::precision_of(**plan), m.kernel);
  m.rel_err = error(a);
  return measured;
}

}  // namespace

std::unique_ptr<ProductBench> make_host_bench(Session& session) {
  return std::make_unique<HostBench>(session);
}

}  // namespace sptile::tools
