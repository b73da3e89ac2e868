#include "tools/measure/product_request.hpp"

#include <fmt/format.h>

#include "formats/core/dtype_names.hpp"
#include "runtime/kernels/kernels.hpp"
#include "tools/measure/operations.hpp"
#include "tools/pipeline/devices.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/pipeline/names.hpp"

namespace sptile::tools {
namespace {

constexpr const char* kMeasured = "measured";

}  // namespace

runtime::DenseTypes dense_types(std::string_view dense, std::string_view result, DType values) {
  const DType usual = values == DType::f64 ? DType::f64 : DType::f32;
  return {dense.empty() ? usual : *parse_value_dtype(dense),
          result.empty() ? DType::none : *parse_value_dtype(result)};
}

void declare_product(Options& app, ProductRequest& request) {
  app.add_option("--op OP", request.op, "Operation to run")
      .one_of(operation_names())
      .details(operations_help());
  app.add_option("--device DEVICE", request.device, "Device to run on")
      .names("device", names_of(devices()))
      .details("See `sptile list devices`.");
  app.add_option("--precision P", request.precision, "Precision of f32 multiplications")
      .names("precision", {std::begin(runtime::kPrecisionNames), std::end(runtime::kPrecisionNames)})
      .default_text("highest throughput of the device")
      .details("fp32, tf32, fp16 or bf16. CPUs support fp32 only. Sums are always at least fp32.");
  app.add_option("--kernel NAME", request.kernel, "Kernel to use")
      .offer(names_of(runtime::kernels()))
      .default_text("fastest known")
      .details("See `sptile list kernels`.");
  app.add_option("--dense TYPE", request.dense, "Type of the dense operands")
      .value_type()
      .default_text("f64 for f64 matrices, else f32");
  app.add_option("--result TYPE", request.result, "Type of the result")
      .value_type()
      .default_text("same as --dense")
      .details(
          "f32 is supported for dense operands of 16 bits. Each result is rounded to this type once, and "
          "beta "
          "C is added in it.");
  request.attributes.declare_for_plans(app);
}

void declare_request(Options& app, ProductRequest& request) {
  declare_product(app, request);
  request.attributes.declare_for_runs(app);
  app.add_option("--warmup R", request.warmup, "Number of untimed warm-up runs").range(0, 1000000);
  app.add_option("--repeat R", request.repeat, "Number of timed runs").range(1, 1000000);
}

void declare_side(Options& app, ProductRequest& request) {
  app.add_flag("--transpose", request.transpose, "Multiply by the transpose")
      .details(
          "Uses the formats stored by `sptile convert --transpose`, or those of the matrix if it is "
          "symmetric. "
          "`sddmm` does not support it: swap X and Y instead.");
}

void declare_columns(Options& app, std::int64_t& n) {
  app.add_option("-n N", n, columns_help()).range(std::int64_t{1}, std::int64_t{1} << 31);
}

void declare_columns(Options& app, std::vector<std::int64_t>& n) {
  app.add_option("-n LIST", n, columns_help() + "; a comma-separated list gives one result per value")
      .range(std::int64_t{1}, std::int64_t{1} << 31);
}

void declare_choose(Options& app, ProductRequest& request) {
  app.add_option("--choose HOW", request.choose, "How to choose among several formats and kernels")
      .one_of({"predicted", kMeasured})
      .details(
          "`predicted` takes the minimum of the cost model. `measured` runs the candidates that can be the "
          "fastest and keeps the best plan; the planning time then includes these runs.");
}

runtime::Choice ProductRequest::choice() const {
  return choose == kMeasured ? runtime::Choice::measured : runtime::Choice::predicted;
}

Status check_transposable(const ProductRequest& request) {
  const runtime::Operation& op = operation_named(request.op);
  if (!request.transpose || !lists_entries(op)) return {};
  return fail(Errc::usage, fmt::format("{} does not support --transpose; swap {} and {} instead", op.name,
                                       op.operands[0].name, op.operands[1].name));
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
        fmt::format("precision {} requires tensor cores; CPUs support fp32, and fp64 for f64 matrices",
                    precision));
  return row.device;
}

}  // namespace sptile::tools
