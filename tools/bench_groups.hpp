// What the rows of `bench` say together: who is the fastest, by how much, and whether its preparation pays.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/result.hpp"

namespace sptile::tools {

/// How the times of some rows may differ without meaning anything, as a share of them: their largest spread,
/// or 5 % where they spread less.
double noise_of(std::initializer_list<const Json*> rows);

/// True where the times of a row spread so much that the machine was busy: at least 5 of them, from the 10th
/// to the 90th percentile by more than a quarter of the median.
bool was_busy(const Json& row);

/// One line that says how many rows were, and which most; empty when none was.
std::string busy_text(const Json& rows);

/// What stands beside a row.
struct RowMarks {
  bool fastest = false;            ///< of its group
  std::optional<double> over_csr;  ///< times as fast as CSR; nothing where that was not measured
};

/// Rows in groups: those of one matrix, operation and N, on one machine and device and under the same
/// conditions, whatever their formats, orderings, kernels and precisions.
class BenchGroups {
 public:
  /// Takes in a row and gives its marks, as far as rows tell until then.
  RowMarks add(const Json& row);

  /// Of a row that was taken in. CSR is the fastest kernel of csr in the ordering that came first, with
  /// values and operands of the same types.
  [[nodiscard]] RowMarks marks(const Json& row) const;

 private:
  struct Group {
    double fastest_us = 0;
    std::string first_order;
    std::map<std::string, double> csr_us;  // by types
  };

  std::map<std::string, Group> groups_;
};

/// Adds the keys `fastest` and `over_csr` to rows that are all there.
void mark_rows(Json& rows);

/// The conclusion for each group: the fastest of our kernels; `over_csr` and `over_cusparse`, null where they
/// were not measured; `reordering_pays`, null when there was one ordering: the fastest other one,
/// `best_ordering`, is faster than the first by more than noise_of. `pays_after`: after how many products the
/// time to order and convert, `preparation_us`, is won back, over the fastest in the first ordering, or over
/// csr where there is but one; null when never, and when nothing was prepared.
Json group_verdicts(const Json& rows);

/// A sentence for each.
std::string verdicts_text(const Json& verdicts);

}  // namespace sptile::tools
