#include "tools/product_request.hpp"

#include <fmt/format.h>

#include "runtime/kernels/kernels.hpp"
#include "tools/devices.hpp"
#include "tools/input.hpp"
#include "tools/names.hpp"
#include "tools/operations.hpp"

namespace sptile::tools {
namespace {

constexpr const char* kMeasured = "measured";

}  // namespace

runtime::DenseTypes dense_types(std::string_view dense, std::string_view result, DType values) {
  const DType usual = values == DType::f64 ? DType::f64 : DType::f32;
  return {dense.empty() ? usual : *value_dtype_from_name(dense),
          result.empty() ? DType::none : *value_dtype_from_name(result)};
}

void declare_product(Options& app, ProductRequest& request) {
  app.add_option("--op", request.op, "operation: " + operations_help()).one_of(operation_names());
  app.add_option("--device", request.device, "where to run ('sptile list devices')")
      .names("device", names_of(devices()));
  app.add_option("--precision", request.precision, "how f32 products are formed: fp32, tf32, fp16, bf16")
      .names("precision", {std::begin(runtime::kPrecisionNames), std::end(runtime::kPrecisionNames)})
      .default_text("the device's best");
  app.add_option("--kernel", request.kernel, "kernel to force ('sptile list kernels')")
      .offer(names_of(runtime::kernels()))
      .default_text("the fastest known");
  app.add_option("--dense", request.dense, "type of the dense operands")
      .one_of({"f32", "f64", "f16", "bf16"})
      .default_text("f64 for f64 matrices, else f32");
  app.add_option("--result", request.result, "type of the result: f32 for dense operands of 16 bits")
      .one_of({"f32", "f64", "f16", "bf16"})
      .default_text("that of --dense");
}

void declare_request(Options& app, ProductRequest& request) {
  declare_product(app, request);
  app.add_option("--warmup", request.warmup, "runs before the clock counts").range(0, 1000000);
  app.add_option("--repeat", request.repeat, "runs that are timed; the median is reported").range(1, 1000000);
}

void declare_side(Options& app, ProductRequest& request) {
  app.add_flag(
      "--transpose", request.transpose,
      "multiply by the transpose, which the bundle holds (convert --transpose) or the matrix equals");
}

void declare_choose(Options& app, ProductRequest& request) {
  app.add_option("--choose", request.choose,
                 "how one of several formats and kernels is chosen: predicted by the cost model, or measured "
                 "by running each that can be the fastest")
      .one_of({"predicted", kMeasured});
}

runtime::Choice ProductRequest::choice() const {
  return choose == kMeasured ? runtime::Choice::measured : runtime::Choice::predicted;
}

Status check_transposable(const ProductRequest& request) {
  const runtime::Operation& op = operation_named(request.op);
  if (!request.transpose || !lists_entries(op)) return {};
  return fail(Errc::usage, fmt::format("--transpose goes with products that add up; {} at the entries of the "
                                       "transpose is {} with {} and {} swapped",
                                       op.name, op.name, op.operands[0].name, op.operands[1].name));
}

Result<runtime::Device> resolve_device(const ProductRequest& request) {
  const std::string& precision = request.precision;
  const auto at = find_name("device", request.device, names_of(devices()));
  if (!at) return tl::unexpected(at.error());
  if (!precision.empty())
    if (const auto known = find_name("precision", precision, names_of(precisions())); !known)
      return tl::unexpected(known.error());
  if (!request.kernel.empty() && request.kernel != "all")
    if (const auto known = find_name("kernel", request.kernel, names_of(runtime::kernels())); !known)
      return tl::unexpected(known.error());
  const DeviceRow& row = devices()[*at];
  if (Status s = check_usable(row); !s) return tl::unexpected(s.error());
  if (row.device == runtime::Device::cpu && !precision.empty() && precision != "fp32")
    return fail(
        Errc::unsupported,
        fmt::format("precision {} needs tensor cores; the CPU has fp32 (and fp64 for f64)", precision));
  return row.device;
}

}  // namespace sptile::tools
