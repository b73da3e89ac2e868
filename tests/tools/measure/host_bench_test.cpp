#include "tools/measure/host_bench.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "runtime/kernels/kernels.hpp"
#include "runtime/operation/attention.hpp"
#include "runtime/operation/attention_gradient_t.hpp"
#include "runtime/operation/sddmm.hpp"
#include "runtime/operation/spmm.hpp"
#include "runtime/operation/spmm_update.hpp"
#include "runtime/operation/update_gradient.hpp"
#include "runtime/plan/product_plan.hpp"
#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::tools;

namespace {

/// The same places counted from the last column: as many entries, other products.
formats::Csr mirrored(const formats::Csr& a) {
  std::vector<std::int32_t> same_rows(static_cast<std::size_t>(a.rows));
  std::iota(same_rows.begin(), same_rows.end(), 0);
  formats::Csr other = formats::permute_rows(a.view(), same_rows);
  for (std::int64_t r = 0; r < a.rows; ++r) {
    const std::int64_t first = a.row_ptr[r], last = a.row_ptr[r + 1];
    for (std::int64_t k = first; k < last; ++k)
      other.col_idx[k] = static_cast<std::int32_t>(a.cols - 1 - a.col_idx[first + last - 1 - k]);
  }
  return other;
}

constexpr std::int64_t kColumns = 12;  // also of features of entries, of which there may be 16

struct Setting {
  test::Random random{5};
  formats::Csr a = test::random_matrix(150, 90, 0.1, DType::f32, random);
  Session session;

  Setting() { session.common.quiet = true; }

  HostBench bench(const HostBenchOptions& options, const runtime::Operation& op = runtime::kSpmm) {
    HostBench made(session, options);
    REQUIRE(made.set_matrix(a.view(), DType::f32).has_value());
    REQUIRE(made.set_operands(op, kColumns).has_value());
    return made;
  }
};

bool reads_columns(const runtime::Operation& op) {
  return std::any_of(op.operands.begin(), op.operands.end(),
                     [](const runtime::OperandSpec& spec) { return spec.extent == runtime::Extent::cols; });
}

formats::FormatData in_format(const formats::Converter& converter, const formats::Csr& a) {
  auto data = converter.from_csr(a.view(), nullptr);
  REQUIRE(data.has_value());
  return std::move(*data);
}

}  // namespace

TEST_CASE("host bench: every operation in every format is right, all of it or the rows that are looked at") {
  Setting s;
  for (const runtime::Operation* op : runtime::operations())
    for (const CheckedRows check : {CheckedRows::some, CheckedRows::all}) {
      HostBench bench = s.bench({.repeats = Repeats{0, 3}, .check = check}, *op);
      for (const formats::Converter& converter : formats::converters()) {
        if (runtime::find_kernel(*op, converter.format, runtime::Device::cpu) == nullptr) continue;
        const formats::FormatData data = in_format(converter, s.a);
        const auto m = bench.measure({data.view(), {}, {}, nullptr}, KernelRequest{});
        REQUIRE(m.has_value());
        CAPTURE(m->kernel);
        CHECK(m->op == op);
        CHECK(m->format == converter.format);
        CHECK(m->n == kColumns);
        CHECK(m->repeat == 3);
        CHECK(m->median_us > 0);
        CHECK(m->checked);
        const bool exact = op->name == "spmm_max" || op->name == "spmm_min";  // one product, rounded once
        CHECK((m->rel_err > 0 || exact));
        CHECK(check_outcome(*m).has_value());
      }
    }
}

TEST_CASE("host bench: a plan that is there is run as it is, and the product of another matrix is seen") {
  Setting s;
  const formats::Csr other = mirrored(s.a);
  for (const runtime::Operation* op : runtime::operations())
    for (const CheckedRows check : {CheckedRows::some, CheckedRows::all}) {
      if (!reads_columns(*op)) continue;  // columns change places
      HostBench bench = s.bench({.repeats = Repeats{0, 1}, .check = check}, *op);
      const formats::FormatData data = in_format(formats::converters().front(), other);
      const runtime::PlanMatrix matrix{data.view(), {}, {}, nullptr};
      const auto plan = runtime::plan_product(*op, matrix, bench.plan_options({}));
      REQUIRE(plan.has_value());
      const auto m = bench.measure(matrix, Planned{*plan, 0.25});
      REQUIRE(m.has_value());
      CHECK(m->plan == *plan);
      CHECK(m->plan_us == 0.25e6);
      REQUIRE_FALSE(check_outcome(*m).has_value());
      CHECK(check_outcome(*m).error().code == Errc::check_failed);
    }
}

TEST_CASE("host bench: without numbers of runs the least time counts; without a check there is none") {
  Setting s;
  HostBench bench = s.bench({});
  const formats::FormatData data = in_format(formats::converters().front(), s.a);
  const auto m = bench.measure({data.view(), {}, {}, nullptr}, KernelRequest{});
  REQUIRE(m.has_value());
  CHECK(m->repeat >= 3);
  CHECK(m->median_us == m->min_us);
  CHECK_FALSE(m->checked);
}

TEST_CASE("host bench: supports the kernels that plan the product, and no others") {
  Setting s;
  const HostBench bench = s.bench({});
  const std::string_view kernel = runtime::find_kernel(runtime::kSpmm, "bittcf", runtime::Device::cpu)->name;
  CHECK(bench.supports({&runtime::kSpmm, "bittcf", DType::f32, 90}, kernel));
  CHECK_FALSE(bench.supports({&runtime::kSpmm, "csr", DType::f32, 90}, kernel));
  CHECK_FALSE(bench.supports({&runtime::kSpmm, "bittcf", DType::f32, 90}, "cuda.bittcf.mma"));
}

TEST_CASE("host bench: operands that no memory can hold") {
  Setting s;
  HostBench bench = s.bench({});
  const Status status = bench.set_operands(runtime::kSpmm, INT64_MAX / 100);
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error().code == Errc::usage);
  CHECK(status.error().message.ends_with("makes B and C larger than the address space"));
}

namespace {

struct AttributeCase {
  const runtime::Operation* op;
  runtime::Variant variant;
  bool scaled;
  const char* text;
};

const AttributeCase kAttributeCases[] = {
    {&runtime::kSpmm, {.heads = 3}, false, "heads=3"},
    {&runtime::kSddmm, {.heads = 2}, true, "heads=2 scaled=1"},
    {&runtime::kAttention,
     {.m = 5, .heads = 2, .score = runtime::Score::cosine},
     false,
     "m=5 heads=2 score=cosine"},
    {&runtime::kAttentionGradientT, {.m = 3, .heads = 2}, false, "m=3 heads=2"},
    {&runtime::kSpmmUpdate,
     {.m = 7, .activation = runtime::Activation::relu, .transposed_weights = true},
     false,
     "m=7 activation=relu transposed_weights=1"},
    {&runtime::kUpdateGradient,
     {.m = 7, .activation = runtime::Activation::relu},
     false,
     "m=7 activation=relu"},
};

ProductAttributes attributes_of(const AttributeCase& one) {
  ProductAttributes attributes;
  attributes.plan.variant = one.variant;
  attributes.run.scaled = one.scaled;
  return attributes;
}

}  // namespace

TEST_CASE("host bench: attributes reach plans, operands and the reference") {
  Setting s;
  const formats::FormatData data = in_format(formats::converters().front(), s.a);
  const runtime::PlanMatrix matrix{data.view(), {}, {}, nullptr};
  for (const AttributeCase& one : kAttributeCases) {
    CAPTURE(one.text);
    HostBench bench = s.bench(
        {.repeats = Repeats{0, 1}, .check = CheckedRows::all, .attributes = attributes_of(one)}, *one.op);
    const auto m = bench.measure(matrix, KernelRequest{});
    REQUIRE(m.has_value());
    CHECK(m->attributes == one.text);
    CHECK(m->rel_err > 0);
    CHECK(check_outcome(*m).has_value());
    CHECK(m->plan->options.variant.heads == one.variant.heads);
  }
}

TEST_CASE("host bench: a result with other attributes is wrong") {
  Setting s;
  const formats::FormatData data = in_format(formats::converters().front(), s.a);
  const runtime::PlanMatrix matrix{data.view(), {}, {}, nullptr};
  ProductAttributes relu;
  relu.plan.variant.activation = runtime::Activation::relu;
  HostBench bench = s.bench({.repeats = Repeats{0, 1}, .check = CheckedRows::all, .attributes = relu},
                            runtime::kSpmmUpdate);
  runtime::PlanOptions options = bench.plan_options({});
  options.variant.activation = runtime::Activation::none;
  const auto plan = runtime::plan_product(runtime::kSpmmUpdate, matrix, options);
  REQUIRE(plan.has_value());
  const auto m = bench.measure(matrix, Planned{*plan, 0});
  REQUIRE(m.has_value());
  CHECK_FALSE(check_outcome(*m).has_value());
}
