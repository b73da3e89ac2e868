#include "tools/measure/measurement.hpp"

#include <fmt/format.h>

#include "runtime/kernels/kernels.hpp"
#include "runtime/plan/product_plan.hpp"
#include "tools/cli/json.hpp"
#include "tools/pipeline/devices.hpp"
#include "tools/pipeline/input.hpp"

namespace sptile::tools {
namespace {

// Returns the relative error of a product of two f32 numbers that are rounded to fewer bits.
double product_error(runtime::Precision precision) {
  if (precision == runtime::Precision::tf32 || precision == runtime::Precision::fp16) return 0x1.01p-10;
  return precision == runtime::Precision::bf16 ? 0x1.01p-7 : 0;
}

template <class T>
Json or_null(bool known, const T& value) {
  return known ? Json(value) : Json(nullptr);
}

Json to_json(const MemoryUse& use) {
  Json json = {{"floor_us", use.roofline.floor_us},      {"hbm_bytes", use.compulsory},
               {"hbm_ratio", use.roofline.hbm_ratio},    {"l2_bytes", use.gathered},
               {"l2_gbps", use.roofline.l2_rate * 1e-9}, {"l2_ratio", use.roofline.l2_ratio}};
  if (use.frobenius) json["frobenius"] = *use.frobenius;
  if (use.pinned_us) json["pinned_us"] = *use.pinned_us;
  return json;
}

}  // namespace

Measurement describe(const Planned& planned, const formats::FormatView& a) {
  const runtime::ProductPlan& plan = *planned.plan;
  Measurement m;
  m.op = plan.op;
  m.device = name_of(plan.options.device);
  m.format = a.layout->name;
  m.kernel = runtime::kernel_name(plan);
  m.value_dtype = dtype_label(a.value_dtype());
  const runtime::DenseTypes types = types_of(plan.options);
  m.dtype = name_of(types.operands);
  m.result = name_of(types.result);
  m.precision = name_of(runtime::precision_of(plan));
  m.n = plan.options.n;
  m.plan_us = 1e6 * planned.seconds;
  m.tolerance = rounding_bound(types, runtime::precision_of(plan), m.kernel);
  m.plan = planned.plan;
  return m;
}

void set_times(Measurement& m, const TimeSummary& seconds, std::int64_t nnz) {
  m.median_us = seconds.median * 1e6;
  m.min_us = seconds.min * 1e6;
  m.spread = seconds.spread;
  m.gflops = 2 * static_cast<double>(nnz) * static_cast<double>(m.n) / seconds.median * 1e-9;
}

// Products have random signs: the error of a sum grows far slower than the sum of absolute products by which
// Operation::error divides, so a bound that does not grow with the row length suffices. Each store adds one
// rounding to the stored type. Tensor cores truncate sums of 16-bit products, which is visible if the result
// is f32.
double rounding_bound(const runtime::DenseTypes& dense, runtime::Precision precision,
                      std::string_view kernel) {
  const double accumulation = precision == runtime::Precision::fp64 ? 0x1p-53 : 0x1p-24;
  const double storage = dense.result == DType::f16    ? 0x1p-11
                         : dense.result == DType::bf16 ? 0x1p-8
                                                       : accumulation;
  const double sums = dense.result == dense.operands ? 32 : 1024;
  int stores = 1;
  for (const runtime::Kernel& row : runtime::kernels())
    if (row.name == kernel) stores = row.stores;
  return sums * accumulation + stores * storage +
         (dense.operands == DType::f32 ? product_error(precision) : 0);
}

std::string dense_label(const Measurement& m) {
  return m.result == m.dtype ? m.dtype : fmt::format("{} to {}", m.dtype, m.result);
}

Status check_outcome(const Measurement& m) {
  if (!m.checked || m.rel_err <= m.tolerance) return {};  // a NaN error fails the comparison
  return fail(
      Errc::check_failed,
      fmt::format("{} on {}: relative error {:.3g} exceeds {:.3g}; check the bundle with 'sptile verify'",
                  m.kernel, m.format, m.rel_err, m.tolerance));
}

Json to_json(const Measurement& m) {
  Json json = {
      {"device", m.device}, {"op", m.op->name}, {"format", m.format}, {"kernel", m.kernel}, {"n", m.n}};
  json.update({{"dtype", m.dtype},
               {"value_dtype", m.value_dtype},
               {"result_dtype", m.result},
               {"precision", m.precision}});
  json.update({{"median_us", m.median_us}, {"min_us", m.min_us}, {"spread", m.spread}, {"gflops", m.gflops}});
  json["predicted_us"] = or_null(m.predicted_us.has_value(), m.predicted_us.value_or(0));
  json.update({{"plan_us", m.plan_us}, {"repeat", m.repeat}});
  json["rel_err"] = or_null(m.checked, m.rel_err);
  json["tolerance"] = or_null(m.checked, m.tolerance);
  json["checked"] = m.checked;
  if (m.memory) json.update(to_json(*m.memory));
  return json;
}

}  // namespace sptile::tools
