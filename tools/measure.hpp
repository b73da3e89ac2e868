// Plans, runs, times and checks one product, SpMM or SDDMM: the heart of `run` and `bench`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/csr_view.hpp"
#include "runtime/plan/plan.hpp"
#include "tools/result.hpp"
#include "tools/time_summary.hpp"
#include "tools/verb.hpp"

namespace sptile::tools {

/// How to multiply; names as typed by the user, checked by resolve_request.
struct ProductRequest {
  std::string op = "spmm", device = "cpu", precision, kernel, dense;  ///< empty: chosen by what is multiplied
  std::int64_t n = 128;
  int warmup = 2, repeat = 10;
  bool check = false;
};

/// What one measurement gave.
struct ProductMeasurement {
  std::string device, op, format, kernel, value_dtype, dtype, precision;
  std::int64_t n = 0;
  double plan_us = 0, median_us = 0, min_us = 0, spread = 0;  ///< spread: (90th - 10th percentile) / median
  double gflops = 0;                                          ///< 2 nnz n / median
  std::optional<double> predicted_us;  ///< by the cost model; nothing where it does not know the kernel
  int repeat = 0;
  bool checked = false;
  double rel_err = 0, tolerance = 0;  ///< meaningful when checked
};

/// Declares the options of a request.
void declare_request(Options& app, ProductRequest& request);

/// Checks names, and that this build has the operation (Errc::unsupported) and the device (Errc::device).
Status check_request(const ProductRequest& request);

/// Type of the dense operands: what was asked for, else f64 for f64 values and f32 for all others.
DType dense_type(const ProductRequest& request, DType values);

/// "spmm" and "sddmm".
std::vector<std::string> operation_names();

/// What the dense operands of an operation are called: "B and C".
std::string_view dense_names(std::string_view op);

/// The precision that was asked for, if any.
std::optional<runtime::Precision> wanted_precision(const ProductRequest& request);

/// Largest error of a sum that is let pass, relative to the sum of its absolute products (see
/// runtime::relative_error). Small enough to see one lost entry in a long row. A kernel
/// that is not in the table stores its results once.
double rounding_bound(DType dense, runtime::Precision precision, std::string_view kernel);

/// Fills in the times and the rate.
void set_times(ProductMeasurement& measurement, const TimeSummary& seconds, std::int64_t nnz);

/// Measures the product of A with random numbers in (-1, 1): C = A B, or for SDDMM X Y^T at the entries of A.
/// `source` is the same matrix as CSR in original row order, with
/// the values that were rounded to make the format; it is read only when checking. Errc::check_failed is not
/// raised here: see check_outcome.
Result<ProductMeasurement> measure_product(Session& session, const runtime::PlanMatrix& a,
                                           const formats::CsrView& source, const ProductRequest& request);

/// Errc::check_failed when the result is wrong beyond rounding.
Status check_outcome(const ProductMeasurement& measurement);

/// The keys that the contract names, and a few more; rel_err is null when unchecked.
Json to_json(const ProductMeasurement& measurement);

}  // namespace sptile::tools
