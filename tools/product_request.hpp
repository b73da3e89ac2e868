// How `run` and `bench` are told to multiply, as typed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/operation/spmm.hpp"
#include "runtime/options.hpp"
#include "tools/verb.hpp"

namespace sptile::tools {

/// Names as typed by the user, checked by resolve_device; empty: chosen by what is multiplied.
struct ProductRequest {
  std::string op{runtime::kSpmm.name}, device = "cpu", precision, kernel, dense;
  std::int64_t n = 128;
  int warmup = 2, repeat = 10;
  bool check = false;
};

/// Declares what is multiplied and where: all options of a request but those of its runs.
void declare_product(Options& app, ProductRequest& request);

/// Declares the options of a request.
void declare_request(Options& app, ProductRequest& request);

/// Finds the device. Checks names, and that this build has the device (Errc::device) and the precision
/// (Errc::unsupported).
Result<runtime::Device> resolve_device(const ProductRequest& request);

/// Type of the dense operands: what was asked for, else f64 for f64 values and f32 for all others.
DType dense_type(std::string_view wanted, DType values);

}  // namespace sptile::tools
