// Runs of several heads and values of a run on the device, for every kernel of SpMM and SDDMM, batched or
// not: the same bits as a run for each head.
#include "runtime/core/run_values.hpp"
#include "runtime/plan/product_plan.hpp"
#include "tests/gpu/device_problem.hpp"
#include "tests/runtime/head_operands.hpp"

#include "runtime/operation/sddmm.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceKernel;

namespace {

struct Case {
  const runtime::Operation& op;
  std::int64_t n = 32, heads = 3;
  HeadLayout layout = HeadLayout::consecutive;
  HeadValues values = HeadValues::of_matrix;
  HeadGaps gaps = {};
  std::size_t values_shift = 0;  ///< elements behind an aligned address
};

std::shared_ptr<runtime::ProductPlan> planned(const Case& c, const Formatted& formatted,
                                              const DeviceKernel& row, std::int64_t heads) {
  runtime::PlanOptions options = options_for(row, c.n);
  options.variant.heads = heads;
  const auto plan = runtime::plan_product(c.op, formatted.matrix(), options);
  REQUIRE_MESSAGE(plan.has_value(), plan.error().message);
  return *plan;
}

/// Operands in device memory.
class OnDevice {
 public:
  OnDevice(const Case& c, const DeviceKernel& row, const formats::FormatView& a, Random& random) {
    const runtime::OperandSizes sizes = {a.rows, a.cols, a.nnz, {c.n, c.n, c.heads}};
    for (std::size_t i = 0; i < c.op.operands.size(); ++i) {
      const runtime::OperandSpec& spec = c.op.operands[i];
      const HeadOperand host(spec, sizes, c.layout, c.gaps, type_of(spec, types_of(row)), random);
      before_ = host.bytes;
      dense_.push_back(std::make_unique<DeviceBytes>(host.bytes.data(), host.bytes.size()));
      operands_.dense[i] = {dense_.back()->get(), host.operand.ld, host.operand.batch};
    }
    operands_.alpha = -0.5;
    operands_.beta = 2;
    if (c.values == HeadValues::of_matrix) return;
    const DType type = a.value_dtype();
    const formats::Array values = random_values(a.nnz * c.heads, type, random);
    values_ = std::make_unique<DeviceBytes>(values.data(), static_cast<std::size_t>(values.view().bytes()),
                                            c.values_shift * size_of(type));
    operands_.values = values_->get();
    operands_.values_batch = c.values == HeadValues::own ? a.nnz : 0;
    operands_.scaled = c.op.name == "sddmm";
  }

  [[nodiscard]] const runtime::Operands& operands() const { return operands_; }

  /// The result of a run, which begins with what was there before all runs.
  std::vector<std::byte> result_of(const std::function<void()>& run) {
    require(cudaMemcpy(dense_.back()->get(), before_.data(), before_.size(), cudaMemcpyHostToDevice));
    require(cudaDeviceSynchronize());
    run();
    require(cudaDeviceSynchronize());
    return dense_.back()->to_host();
  }

 private:
  runtime::Operands operands_;
  std::vector<std::unique_ptr<DeviceBytes>> dense_;
  std::unique_ptr<DeviceBytes> values_;
  std::vector<std::byte> before_;
};

void check_heads(const Case& c, const DeviceKernel& row, const formats::Csr& a, Random& random) {
  if (!supports(row, c.n, c.heads)) return;
  CAPTURE(label(row));
  CAPTURE(c.n);
  CAPTURE(c.gaps.rows);
  CAPTURE(c.gaps.heads);
  CAPTURE(static_cast<int>(c.layout));
  CAPTURE(static_cast<int>(c.values));
  const Formatted formatted = format_matrix(a, format_of(row.kernel), random_order(a.rows, random));
  const formats::FormatView view = formatted.data.view();
  OnDevice device(c, row, view, random);
  const auto one = planned(c, formatted, row, 1), all = planned(c, formatted, row, c.heads);
  const runtime::OperandSizes sizes = runtime::sizes_of(*all, c.n);
  const auto require_run = [&](const runtime::ProductPlan& plan, const runtime::Operands& operands) {
    const Status status = runtime::run(plan, c.op, operands, nullptr);
    REQUIRE_MESSAGE(status.has_value(), status.error().message);
  };
  const auto expected = device.result_of([&] {
    for (std::int64_t head = 0; head < c.heads; ++head)
      require_run(*one,
                  operands_of_head(c.op, device.operands(), head, sizes, types_of(row), view.value_dtype()));
  });
  for (int run = 0; run < 2; ++run)  // counters are as they were
    CHECK(same_results(row, device.result_of([&] { require_run(*all, device.operands()); }), expected));
}

/// Some rows are empty, one is in pieces.
formats::Csr uneven(DType values, Random& random) {
  return random_matrix(90, 2500, values, random, [](std::int64_t r, std::int64_t) {
    return r == 11 ? 1.0 : r % 4 == 0 ? 0.0 : 0.01;
  });
}

}  // namespace

TEST_CASE("cuda heads: behind and beside each other, whole pieces or not") {
  Random random(71);
  for (const runtime::Operation* op : {&runtime::kSpmm, &runtime::kSddmm})
    for (const DeviceKernel& row : runnable_kernels(*op)) {
      const formats::Csr a = uneven(row.any_values ? DType::f32 : row.values, random);
      for (const HeadLayout layout : kHeadLayouts)
        for (const std::int64_t n : {1, 32, 200})
          check_heads({.op = *op, .n = n, .layout = layout}, row, a, random);
      for (const HeadGaps& gaps : {HeadGaps{1, 1}, {0, 1}, {8, 8}})
        check_heads({.op = *op, .n = 64, .heads = 2, .gaps = gaps}, row, a, random);
    }
}

TEST_CASE("cuda heads: values of a run, for each head or for all, wherever they stand") {
  Random random(72);
  for (const runtime::Operation* op : {&runtime::kSpmm, &runtime::kSddmm})
    for (const DeviceKernel& row : runnable_kernels(*op)) {
      const DType values = row.any_values ? DType::f32 : row.values;
      if (values == DType::none) continue;
      const formats::Csr a = uneven(values, random);
      for (const HeadValues which : {HeadValues::shared, HeadValues::own})
        for (const std::size_t shift : {0, 1})
          check_heads({.op = *op, .n = 64, .values = which, .values_shift = shift}, row, a, random);
    }
}

TEST_CASE("cuda heads: values of a run are those that a refresh would bring") {
  Random random(73);
  for (const DeviceKernel& row : runnable_kernels()) {
    if (row.values == DType::none) continue;
    CAPTURE(label(row));
    const formats::Csr a = uneven(row.values, random);
    // In another order, so that it comes with where values stood.
    const Formatted formatted = format_matrix(a, format_of(row.kernel), random_order(a.rows, random));
    const std::int64_t n = columns_for(row, 64);
    runtime::PlanOptions options = options_for(row, n);
    options.refreshable = true;
    const auto plan = runtime::plan_spmm(formatted.matrix(), options);
    if (!plan && plan.error().code == Errc::unsupported) continue;
    REQUIRE_MESSAGE(plan.has_value(), plan.error().message);
    const Dense dense(a, n, types_of(row), random);
    const formats::Array fresh = random_values(a.nnz(), row.values, random);
    const DeviceBytes values(fresh.data(), static_cast<std::size_t>(fresh.view().bytes()));
    const DeviceBytes b(dense.b.data(), static_cast<std::size_t>(dense.b.view().bytes()));
    const DeviceBytes given(static_cast<std::size_t>(dense.c.view().bytes()));
    const DeviceBytes refreshed(static_cast<std::size_t>(dense.c.view().bytes()));
    runtime::Operands operands{.dense = {{b.get(), dense.ldb}, {given.get(), dense.ldc}}};
    operands.values = values.get();
    REQUIRE(runtime::run(**plan, runtime::kSpmm, operands, nullptr));
    REQUIRE(runtime::refresh_packed(**plan, {row.values, values.get(), a.nnz()}, nullptr));
    operands.values = nullptr;
    operands.dense[1].data = refreshed.get();
    REQUIRE(runtime::run(**plan, runtime::kSpmm, operands, nullptr));
    require(cudaDeviceSynchronize());
    CHECK(same_results(row, given.to_host(), refreshed.to_host()));
  }
}
