// Conclusions from the rows of `bench`: the fastest row, its speedups, and whether its preparation pays off.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/result.hpp"

namespace sptile::tools {

/// Spread above which times are not compared.
inline constexpr double kNoisySpread = 0.25;

/// Returns the relative difference of times that is not significant: the maximum spread of the rows, at least
/// 5 %.
double noise_of(std::initializer_list<const Json*> rows);

/// Returns whether a row has at least 5 runs with a spread, 90th minus 10th percentile over the median, of
/// more than 25 %. No conclusion is drawn from such rows.
bool is_noisy(const Json& row);

/// Returns one line with the number of noisy rows and the noisiest one; empty if there is none.
std::string noise_text(const Json& rows);

/// Marks printed with a row.
struct RowMarks {
  bool fastest = false;                 ///< fastest of its group
  bool noisy = false;                   ///< neither fastest nor compared
  bool automatic = false;               ///< a plan without names would choose it, see BenchGroups::marks
  std::optional<double> over_csr = {};  ///< speedup over csr; nullopt if that was not measured
};

/// Groups rows by matrix, operation, N, machine, device and conditions; a group has all their formats,
/// orderings, kernels and precisions. Rows are ranked by their minimum time.
class BenchGroups {
 public:
  /// Adds a row and returns its marks with respect to the rows added so far.
  RowMarks add(const Json& row);

  /// Returns the marks of a row that was added. The baseline is the fastest csr kernel in the first ordering,
  /// with values and operands of the same types. Among the rows of one ordering, with the same types and the
  /// same requested precision, plans choose the one with the lowest predicted time.
  [[nodiscard]] RowMarks marks(const Json& row) const;

 private:
  struct Group {
    double fastest_us = 0;
    std::string first_order;
    std::map<std::string, double> csr_us;        // by types
    std::map<std::string, double> predicted_us;  // lowest, by choice
  };

  std::map<std::string, Group> groups_;
};

/// Adds the keys `fastest`, `noisy`, `auto` and `over_csr` to the rows of a complete run.
void mark_rows(Json& rows);

/// Returns the conclusion for each group with a row that is not noisy: the fastest kernel of sptile;
/// `over_csr` and `over_cusparse`, null if not measured; `reordering_pays`, null for one ordering: whether
/// the fastest of the others, `best_ordering`, beats the first by more than noise_of. `pays_after` is
/// the number of multiplications after which the time to order and convert, `preparation_us`, has paid off,
/// over the fastest row in the first ordering, or over csr for one ordering; null if never, or if nothing was
/// prepared.
Json group_verdicts(const Json& rows);

/// Returns one sentence per conclusion.
std::string verdicts_text(const Json& verdicts);

}  // namespace sptile::tools
