// Everything that a report tells, gathered before any of it is drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/choice/prediction.hpp"
#include "tools/cli/result.hpp"
#include "tools/pipeline/order_quality.hpp"
#include "tools/spy/figure.hpp"
#include "tools/stats/format_sizes.hpp"
#include "tools/stats/line_lengths.hpp"

namespace sptile::tools::report {

/// One ordering that was tried.
struct OrderTried {
  std::string label, options;  ///< "pack:fast"; as options of convert, "--reorder pack --preset fast"
  double seconds = 0;
  OrderQuality quality;
  std::int64_t tc_blocks = 0;  ///< in windows of the height that orderings aim at
  std::string refused;         ///< why it does not take the matrix; nothing else is known then
};

/// The formats of the matrix in one of the orders.
struct FormatsInOrder {
  std::size_t order = 0;  ///< of Report::orders
  std::vector<FormatRow> sizes;
  std::vector<runtime::Candidate> candidates;  ///< for the product; Candidate::matrix is a place in `sizes`
  std::vector<std::int64_t> moved_bytes;       ///< of each of `sizes`, see moved_bytes
};

/// What decided a recommendation.
enum class Basis { measured, predicted, bytes };

struct Recommendation {
  std::size_t in_order = 0;   ///< of Report::formats
  std::size_t candidate = 0;  ///< of its candidates
  Basis basis = Basis::bytes;
  std::vector<std::string> reasons;  ///< sentences, plain text
};

struct Report {
  std::string input, name;
  std::int64_t rows = 0, cols = 0, nnz = 0;
  DType dtype = DType::none;
  bool symmetric = false;
  LineLengths row_nnz, column_nnz;
  std::vector<LengthBin> row_bins;

  int window_rows = 8;             ///< that orderings aim at
  std::vector<OrderTried> orders;  ///< the first is the given one
  std::size_t best_order = 0;      ///< with the fewest blocks
  std::vector<spy::Panel> panels;  ///< as given, and in the best order where that is another

  std::string op, device, device_detail, dense;  ///< of the product; the types of its dense operands
  std::int64_t n = 0;
  bool measured = false;
  std::int64_t not_reached = 0;         ///< kernels that were to be measured when the time was over
  std::vector<FormatsInOrder> formats;  ///< as given, and in the best order where that is another
  std::int64_t compulsory_bytes = 0;    ///< see roofline.hpp
  double copy_rate = 0;                 ///< bytes a second of the device's memory; 0: not known
  double floor_us = 0;                  ///< compulsory bytes at that rate

  std::optional<Recommendation> advice;  ///< nothing where no kernel runs
  std::vector<std::string> commands;     ///< that repeat it, for a shell
};

/// The microseconds to compare a candidate by: measured, else predicted.
std::optional<double> time_of(const runtime::Candidate& candidate);

/// The whole of it under the keys that the manual page names.
Json to_json(const Session& session, const Report& report);

}  // namespace sptile::tools::report
