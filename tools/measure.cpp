#include "tools/measure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <new>

#include "formats/convert/packed_positions.hpp"
#include "formats/csr.hpp"
#include "runtime/plan/choice.hpp"
#include "runtime/reference/sddmm.hpp"
#include "runtime/reference/spmm.hpp"
#include "tools/devices.hpp"
#include "tools/input.hpp"
#include "tools/json.hpp"
#include "tools/names.hpp"
#include "tools/random_operands.hpp"
#include "tools/stopwatch.hpp"

namespace sptile::tools {
namespace {

// A planned product, and what it is checked with.
struct Job {
  const runtime::ProductPlan& plan;
  const runtime::PlanMatrix& a;
  const formats::CsrView& source;
  const ProductRequest& request;
  DType dense;
};

struct Outcome {
  std::vector<double> seconds;
  double rel_err = 0;  // where the request asks for a check
};

// Times a product, and checks it where that is asked for.
template <class Operands, class Error>
Result<Outcome> run_job(Session& session, const Job& job, const Operands& operands, Error error) {
  begin(&session.progress, "run", 0);
  auto seconds = runtime::timed_run(job.plan, operands, job.request.warmup, job.request.repeat);
  if (!seconds) return tl::unexpected(seconds.error());
  Outcome outcome{std::move(*seconds)};
  if (!job.request.check) return outcome;
  begin(&session.progress, "check", 0);
  Result<double> rel_err = error();
  if (!rel_err) return tl::unexpected(rel_err.error());
  outcome.rel_err = *rel_err;
  return outcome;
}

Result<Outcome> run_spmm(Session& session, const Job& job) {
  const std::int64_t n = job.request.n;
  const std::uint64_t seed = session.common.seed;
  const formats::Array b = random_dense(job.a.format.cols, n, job.dense, seed);
  formats::Array c = random_dense(job.a.format.rows, n, job.dense, seed + 1);  // to be overwritten
  const runtime::SpmmOperands operands = {.b = b.data(), .ldb = n, .c = c.data(), .ldc = n};
  return run_job(session, job, operands, [&]() -> Result<double> {
    const DType values = job.a.format.value_dtype();
    formats::CsrView exact = job.source;
    formats::Array rounded;
    if (!exact.is_pattern() && exact.values.dtype != values) {
      rounded = formats::convert_values(exact.values, values);
      exact.values = rounded.view();
    }
    return runtime::relative_error(exact, n, job.dense, operands);
  });
}

Result<Outcome> run_sddmm(Session& session, const Job& job) {
  const std::int64_t n = job.request.n;
  const std::uint64_t seed = session.common.seed;
  const formats::Array x = random_dense(job.a.format.rows, n, job.dense, seed);
  const formats::Array y = random_dense(job.a.format.cols, n, job.dense, seed + 1);
  formats::Array out = random_dense(job.a.format.nnz, 1, job.dense, seed + 2);  // to be overwritten
  const runtime::SddmmOperands operands = {
      .x = x.data(), .ldx = n, .y = y.data(), .ldy = n, .out = out.data()};
  return run_job(session, job, operands, [&]() -> Result<double> {
    const auto packed = formats::packed_positions(job.a.format, job.a.row_order);
    if (!packed) return tl::unexpected(packed.error());
    return runtime::relative_error(job.source, packed->view().as<std::int64_t>(), n, job.dense, operands);
  });
}

struct Operation {
  std::string_view name, dense_names;
  Result<std::shared_ptr<runtime::ProductPlan>> (*plan)(const runtime::PlanMatrix&,
                                                        const runtime::PlanOptions&);
  Result<Outcome> (*run)(Session&, const Job&);
};

constexpr Operation kOperations[] = {{"spmm", "B and C", runtime::plan_spmm, run_spmm},
                                     {"sddmm", "X and Y", runtime::plan_sddmm, run_sddmm}};

const Operation& operation_named(std::string_view name) {
  return *std::find_if(std::begin(kOperations), std::end(kOperations),
                       [&](const Operation& o) { return o.name == name; });
}

// Says how much memory the operands are, when there is too little.
Result<Outcome> run_operation(const Operation& operation, Session& session, const Job& job) try {
  return operation.run(session, job);
} catch (const std::bad_alloc&) {
  const formats::FormatView& a = job.a.format;
  const double bytes = (static_cast<double>(a.rows) + static_cast<double>(a.cols)) *
                       static_cast<double>(job.request.n) * static_cast<double>(size_of(job.dense));
  return fail(Errc::io, fmt::format("out of memory: with -n {} {} take {:.3g} GB", job.request.n,
                                    operation.dense_names, bytes / 1e9));
}

// How far a product of two f32 numbers is off when both were rounded to fewer bits first.
double product_error(runtime::Precision precision) {
  if (precision == runtime::Precision::tf32 || precision == runtime::Precision::fp16) return 0x1.01p-10;
  return precision == runtime::Precision::bf16 ? 0x1.01p-7 : 0;
}

}  // namespace

DType dense_type(const ProductRequest& request, DType values) {
  if (!request.dense.empty()) return *value_dtype_from_name(request.dense);
  return values == DType::f64 ? DType::f64 : DType::f32;
}

std::vector<std::string> operation_names() { return names_of(kOperations); }

std::string_view dense_names(std::string_view op) { return operation_named(op).dense_names; }

std::optional<runtime::Precision> wanted_precision(const ProductRequest& request) {
  for (const PrecisionRow& row : precisions())
    if (row.name == request.precision) return row.precision;
  return std::nullopt;
}

// Products of random signs: the error of a sum grows far slower than the sum of absolute products that
// relative_error divides by, so a bound that does not grow with the row length holds. One more rounding for
// the stored type, each time that it is stored.
double rounding_bound(DType dense, runtime::Precision precision, std::string_view kernel) {
  const double accumulation = precision == runtime::Precision::fp64 ? 0x1p-53 : 0x1p-24;
  const double storage = dense == DType::f16 ? 0x1p-11 : dense == DType::bf16 ? 0x1p-8 : accumulation;
  int stores = 1;
  for (const runtime::Kernel& row : runtime::kernels())
    if (row.name == kernel) stores = row.stores;
  return 32 * accumulation + stores * storage + (dense == DType::f32 ? product_error(precision) : 0);
}

void declare_request(Options& app, ProductRequest& request) {
  app.add_option("--op", request.op, "operation: C = A B (spmm), or X Y^T at the entries of A (sddmm)")
      .one_of(operation_names());
  app.add_option("--device", request.device, "where to run ('sptile list devices')");
  app.add_option("--precision", request.precision, "how f32 products are formed: fp32, tf32, fp16, bf16")
      .default_text("the device's best");
  app.add_option("--kernel", request.kernel, "kernel to force ('sptile list kernels')")
      .default_text("the fastest known");
  app.add_option("--dense", request.dense, "type of the dense operands")
      .one_of({"f32", "f64", "f16", "bf16"})
      .default_text("f64 for f64 matrices, else f32");
  app.add_option("--warmup", request.warmup, "runs before the clock counts").range(0, 1000000);
  app.add_option("--repeat", request.repeat, "runs that are timed; the median is reported").range(1, 1000000);
}

Status check_request(const ProductRequest& request) {
  const auto device = known_device(request.device);
  if (!device) return tl::unexpected(device.error());
  if (!request.precision.empty()) {
    const std::vector<std::string> known = names_of(precisions());
    if (std::find(known.begin(), known.end(), request.precision) == known.end())
      return tl::unexpected(unknown_name("precision", request.precision, known));
  }
  if (Status s = check_usable(*device); !s) return s;
  if (*device == runtime::Device::cpu && !request.precision.empty() && request.precision != "fp32")
    return fail(Errc::unsupported,
                fmt::format("precision {} needs tensor cores; the CPU has fp32 (and fp64 for f64)",
                            request.precision));
  return {};
}

void set_times(ProductMeasurement& m, const TimeSummary& seconds, std::int64_t nnz) {
  m.median_us = seconds.median * 1e6;
  m.min_us = seconds.min * 1e6;
  m.spread = seconds.spread;
  m.gflops = 2 * static_cast<double>(nnz) * static_cast<double>(m.n) / seconds.median * 1e-9;
}

Result<ProductMeasurement> measure_product(Session& session, const runtime::PlanMatrix& a,
                                           const formats::CsrView& source, const ProductRequest& request) {
  const DType values = a.format.value_dtype(), dense = dense_type(request, values);
  ProductMeasurement m;
  m.device = request.device;
  m.op = request.op;
  m.format = a.format.layout->name;
  m.value_dtype = dtype_label(values);
  m.dtype = name_of(dense);
  m.n = request.n;
  m.repeat = request.repeat;

  std::int64_t elements = 0;
  if (__builtin_mul_overflow(std::max(a.format.rows, a.format.cols), request.n, &elements))
    return fail(Errc::usage,
                fmt::format("-n {} makes {} larger than any memory", request.n, dense_names(request.op)));
  const Stopwatch planning;
  runtime::PlanOptions options;
  options.n = request.n;
  options.dense = dense;
  options.device = device_named(request.device);
  options.kernel = request.kernel;
  options.threads = session.common.threads;
  options.precision = wanted_precision(request);
  const Operation& operation = operation_named(request.op);
  const auto plan = operation.plan(a, options);
  if (!plan) return tl::unexpected(plan.error());
  m.plan_us = planning.seconds() * 1e6;
  m.kernel = runtime::kernel_name(**plan);
  m.precision = name_of(runtime::precision_of(**plan));
  const auto predicted = runtime::predict_plan(**plan, a, options);
  if (predicted) m.predicted_us = *predicted;
  if (!predicted) session.note("no prediction: " + predicted.error().text());

  auto outcome = run_operation(operation, session, {**plan, a, source, request, dense});
  if (!outcome) return tl::unexpected(outcome.error());
  set_times(m, summarise(std::move(outcome->seconds)), a.format.nnz);
  m.checked = request.check;
  m.tolerance = rounding_bound(dense, runtime::precision_of(**plan), m.kernel);
  m.rel_err = outcome->rel_err;
  return m;
}

Status check_outcome(const ProductMeasurement& m) {
  if (!m.checked || m.rel_err <= m.tolerance) return {};  // a NaN error is not <=
  return fail(
      Errc::check_failed,
      fmt::format(
          "{} on {}: relative error {:.3g} exceeds {:.3g}; 'sptile verify' tells whether the bundle is sound",
          m.kernel, m.format, m.rel_err, m.tolerance));
}

Json to_json(const ProductMeasurement& m) {
  Json json = {{"device", m.device}, {"op", m.op}, {"format", m.format}, {"kernel", m.kernel}, {"n", m.n}};
  json.update({{"dtype", m.dtype}, {"value_dtype", m.value_dtype}, {"precision", m.precision}});
  json.update({{"median_us", m.median_us}, {"min_us", m.min_us}, {"spread", m.spread}, {"gflops", m.gflops}});
  json["predicted_us"] = m.predicted_us ? Json(*m.predicted_us) : Json(nullptr);
  json.update({{"plan_us", m.plan_us}, {"repeat", m.repeat}});
  json["rel_err"] = m.checked ? Json(m.rel_err) : Json(nullptr);
  json["tolerance"] = m.checked ? Json(m.tolerance) : Json(nullptr);
  json["checked"] = m.checked;
  return json;
}

}  // namespace sptile::tools
