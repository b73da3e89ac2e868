#include "tools/product_request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/devices.hpp"
#include "tools/input.hpp"
#include "tools/names.hpp"
#include "tools/operations.hpp"

namespace sptile::tools {

DType dense_type(std::string_view wanted, DType values) {
  if (!wanted.empty()) return *value_dtype_from_name(wanted);
  return values == DType::f64 ? DType::f64 : DType::f32;
}

void declare_request(Options& app, ProductRequest& request) {
  app.add_option("--op", request.op, "operation: " + operations_help()).one_of(operation_names());
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

}  // namespace sptile::tools
