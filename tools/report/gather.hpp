// Computation of a report: reads, orders, converts, predicts, measures.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/input_options.hpp"
#include "tools/measure/product_request.hpp"
#include "tools/pipeline/order.hpp"
#include "tools/report/report.hpp"

namespace sptile::tools::report {

/// Options of a report with checked names.
struct Task {
  std::string in;
  std::vector<Ordering> orderings;  ///< the given order is first, and is added if missing
  int window_rows = 8;
  DType dtype = DType::f32;  ///< type of the values
  ProductRequest request;
  runtime::Device device = runtime::Device::cpu;
  InputOptions input;
  bool measure = false;
  std::vector<std::string> formats;  ///< formats to measure; empty: all
  double seconds = 60;               ///< time limit of measurements; the rest is not measured
  std::int64_t picture_size = 480;   ///< pixels of the longer side
};

/// Returns the report, including the errors of orderings and formats that do not support the matrix. One
/// format is in memory at a time. Returns errors of reading and measuring; Errc::check_failed if a measured
/// product is wrong.
Result<Report> gather(Session& session, const Task& task);

}  // namespace sptile::tools::report
