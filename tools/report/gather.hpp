// Fills in a report: reads the matrix, orders, converts, predicts, measures.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/input_options.hpp"
#include "tools/measure/product_request.hpp"
#include "tools/pipeline/order.hpp"
#include "tools/report/report.hpp"

namespace sptile::tools::report {

/// What a report is to be about; names are checked.
struct Task {
  std::string in;
  std::vector<Ordering> orderings;  ///< the given order comes first, and is added where it is missing
  int window_rows = 8;
  DType dtype = DType::f32;  ///< of the values
  ProductRequest request;
  runtime::Device device = runtime::Device::cpu;
  InputOptions input;
  bool measure = false;
  std::vector<std::string> formats;  ///< names of those to measure; none: all
  double seconds = 60;               ///< that measuring may take: then what is left is not measured
  std::int64_t picture_size = 480;   ///< pixels of the longer side
};

/// Orderings and formats that do not take the matrix are told in the report. One format is in memory at a
/// time. Errors of reading and of measuring; Errc::check_failed when a measured product is wrong.
Result<Report> gather(Session& session, const Task& task);

}  // namespace sptile::tools::report
