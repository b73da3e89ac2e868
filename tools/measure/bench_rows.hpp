// The rows of `bench`: their columns, and the tables made of them.
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

/// What a row of the CSV holds, in order. The identifying columns say what was asked for, the others what
/// came out.
std::span<const CsvColumn> bench_columns();

/// Errc::bad_input, naming `path`, where the rows of a file lack numbers that every measurement has, or have
/// such as cannot be.
Status check_bench_rows(std::span<const Json> rows, const std::string& path);

/// Puts the keys of a row in the order of the columns, null for those that it lacks.
void complete_row(Json& row);

/// Returns the time that ranks a row: the minimum, since interference only adds time; the median if a file
/// lacks the minimum.
double best_us(const Json& row);

/// Returns whether a row measures cuSPARSE instead of a kernel of sptile.
bool is_cusparse(const Json& row);

/// What may stand in the text columns of a table of rows.
struct BenchLabels {
  std::vector<std::string> matrices, orderings, formats, kernels, columns;  ///< columns: values of N
  bool precisions = false;                                                  ///< more than one
  bool device = false;                                                      ///< another than the CPU
};

/// The table of rows, which can be printed line by line: its columns are as wide as their labels may be.
class BenchTable {
 public:
  /// For `columns` of a terminal, which the least needed columns of the table make room in; nothing: as wide
  /// as it takes.
  explicit BenchTable(const BenchLabels& labels, std::optional<int> columns = {});
  /// For rows that are all there.
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

/// One row for each matrix, N and ordering: what the ordering costs, the windows it makes, and the fastest
/// format. The speedup is over the first ordering of the same matrix and N.
Json compare_orders(const Json& rows);

/// True when there is more than one ordering to compare.
bool orders_differ(const Json& orders);

std::string orders_text(const Json& orders);

}  // namespace sptile::tools
