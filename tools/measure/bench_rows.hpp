// Columns and tables of the rows of `bench`.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/result.hpp"
#include "tools/measure/bench_groups.hpp"
#include "tools/measure/csv_log.hpp"

namespace sptile::tools {

/// Returns the columns of the CSV, in order. The identifying columns are inputs, the others results.
std::span<const CsvColumn> bench_columns();

/// Errc::bad_input, naming `path`, if rows of a file lack numbers that every measurement has, or contain
/// impossible ones.
Status check_bench_rows(std::span<const Json> rows, const std::string& path);

/// Orders the keys of a row by column and adds null for missing ones.
void complete_row(Json& row);

/// Returns the time that ranks a row: the minimum, since interference only adds time; the median if a file
/// lacks the minimum.
double best_us(const Json& row);

/// Returns whether a row measures cuSPARSE instead of a kernel of sptile.
bool is_cusparse(const Json& row);

/// Possible texts in the text columns of a table of rows.
struct BenchLabels {
  std::vector<std::string> matrices, orderings, formats, kernels, columns;  ///< columns: values of N
  bool precisions = false;                                                  ///< more than one precision
  bool device = false;                                                      ///< device other than the CPU
};

/// Table of rows that can be printed line by line: column widths are determined by the possible labels.
class BenchTable {
 public:
  /// Creates a table for `columns` terminal columns, which omits the least important columns to fit; nullopt:
  /// unlimited.
  explicit BenchTable(const BenchLabels& labels, std::optional<int> columns = {});
  /// Creates a table for complete rows.
  explicit BenchTable(const Json& rows, std::optional<int> columns = {});

  [[nodiscard]] std::string head() const;
  /// Marks the fastest row of a group with '*', and noisy rows.
  [[nodiscard]] std::string line(const Json& row, const RowMarks& marks) const;

 private:
  void fit(std::size_t columns);
  [[nodiscard]] std::string format_shown(const std::vector<std::string>& cells) const;

  bool precisions_, device_, csr_;
  std::vector<bool> shown_;
  std::string alignment_;
  std::vector<std::string> head_;
  std::vector<std::size_t> widths_;
};

/// Returns one row per matrix, N and ordering: the cost of the ordering, its windows, and the fastest format.
/// The speedup is relative to the first ordering of the same matrix and N.
Json compare_orders(const Json& rows);

/// Returns whether there are several orderings to compare.
bool orders_differ(const Json& orders);

std::string orders_text(const Json& orders);

}  // namespace sptile::tools
