// Contents of a report, gathered before rendering.
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

/// One evaluated ordering.
struct OrderTried {
  /// for example "pack:fast", and as options of convert, "--reorder pack --preset fast"
  std::string label, options;
  double seconds = 0;
  OrderQuality quality;
  std::int64_t tc_blocks = 0;  ///< in windows of the height that orderings optimize
  std::string refused;         ///< reason why it does not support the matrix; other members are then unset
};

/// The formats of the matrix in one of the orders.
struct FormatsInOrder {
  std::size_t order = 0;  ///< index in Report::orders
  std::vector<FormatRow> sizes;
  std::vector<runtime::Candidate> candidates;  ///< for the product; Candidate::matrix is an index in `sizes`
  std::vector<std::int64_t> moved_bytes;       ///< for each of `sizes`, see moved_bytes
};

/// Cost on which a recommendation is based.
enum class Basis { measured, predicted, bytes };

struct Recommendation {
  std::size_t in_order = 0;   ///< index in Report::formats
  std::size_t candidate = 0;  ///< index of its candidate
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

  int window_rows = 8;             ///< window height that orderings optimize
  std::vector<OrderTried> orders;  ///< the given order first
  std::size_t best_order = 0;      ///< index of the order with the fewest blocks
  std::vector<spy::Panel> panels;  ///< in the given order and, if different, the best order

  /// operation, device and its details; `dense`: types of the dense operands
  std::string op, device, device_detail, dense;
  std::int64_t n = 0;
  bool measured = false;
  std::int64_t not_reached = 0;         ///< kernels that were not measured within the time limit
  std::vector<FormatsInOrder> formats;  ///< in the given order and, if different, the best order
  std::int64_t compulsory_bytes = 0;    ///< see roofline.hpp
  double copy_rate = 0;                 ///< memory bandwidth of the device in bytes per second; 0: unknown
  double floor_us = 0;                  ///< compulsory bytes at that bandwidth

  std::optional<Recommendation> advice;  ///< nullopt if no kernel can run
  std::vector<std::string> commands;     ///< shell commands that reproduce the recommendation
};

/// Returns the time of a candidate in microseconds: measured, otherwise predicted.
std::optional<double> time_of(const runtime::Candidate& candidate);

/// Returns the report with the keys of the manual page.
Json to_json(const Session& session, const Report& report);

}  // namespace sptile::tools::report
