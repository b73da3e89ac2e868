// Options of `run` and `bench` that select a product, as typed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/layout/bundle_layout.hpp"
#include "runtime/core/options.hpp"
#include "runtime/operation/spmm.hpp"
#include "tools/cli/verb.hpp"

namespace sptile::tools {

/// Names as typed by the user, checked by resolve_device; empty: chosen by the matrix and operation.
struct ProductRequest {
  std::string op{runtime::kSpmm.name}, device = "cpu", precision, kernel, dense, result, choose = "predicted";
  std::int64_t n = 128;
  int warmup = 2, repeat = 10;
  bool check = false, transpose = false;

  [[nodiscard]] formats::Side side() const {
    return transpose ? formats::Side::transpose : formats::Side::matrix;
  }
  [[nodiscard]] runtime::Choice choice() const;
};

/// Declares operation, device, precision, kernel and types: all options of a request except those of its
/// runs.
void declare_product(Options& app, ProductRequest& request);

/// Declares the options of a request.
void declare_request(Options& app, ProductRequest& request);

/// Declares --transpose.
void declare_side(Options& app, ProductRequest& request);

/// Declares -n, the columns of the dense operands: one number, or a list.
void declare_columns(Options& app, std::int64_t& n);
void declare_columns(Options& app, std::vector<std::int64_t>& n);

/// Declares --choose.
void declare_choose(Options& app, ProductRequest& request);

/// Refuses --transpose for operations that compute one number per entry: the result for the transpose is that
/// with the operands swapped.
Status check_transposable(const ProductRequest& request);

/// Returns the device. Checks names, and that this build has the device (Errc::device) and the precision
/// (Errc::unsupported).
Result<runtime::Device> resolve_device(const ProductRequest& request);

/// Returns the types of the dense operands and the result: the requested ones, else f64 for f64 values and
/// f32 for all others, with a result of the same type.
runtime::DenseTypes dense_types(std::string_view dense, std::string_view result, DType values);

}  // namespace sptile::tools
