// Partition of the rows of RS-Tile into windows and residual rows, on the device.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "formats/layout/rs_tile_rules.hpp"
#include "runtime/cuda/convert/columns.hpp"
#include "runtime/cuda/convert/row_map.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::int64_t kRsChunkRows = 256;  ///< rows per thread
inline constexpr int kRsWindow = 8;

/// Counts the entries in short rows, by row length.
struct CountShortRows {
  const std::int64_t* row_ptr;
  SpreadSums sums;  ///< one sum per row length

  SPTILE_HOST_DEVICE void operator()(std::int64_t row) const {
    const std::int64_t entries = row_ptr[row + 1] - row_ptr[row];
    if (entries > 0 && entries <= formats::kLargestTauNnz)
      sums.add(static_cast<int>(entries), row, static_cast<std::uint64_t>(entries));
  }
};

/// Counts, per row and distance, the entries whose column is in one of the 7 preceding rows, by the nearest
/// such row.
struct CountNear {
  CsrRows rows;
  const std::int32_t* col_idx;
  std::uint32_t* near;  ///< kRsWindow per row, by distance

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    rows.visit_apart(step, [&](std::int64_t entry, std::int64_t row) {
      for (std::int64_t distance = 1; distance < kRsWindow && distance <= row; ++distance) {
        if (!rows.has(col_idx, row - distance, col_idx[entry])) continue;
        atomic_add(near + kRsWindow * row + distance, 1);
        return;
      }
    });
  }
};

/// Computes formats::WindowIncrements.
struct CountIncrements {
  const std::int64_t* row_ptr;
  std::int64_t rows;
  const std::uint32_t* near;
  std::uint32_t* columns;
  std::uint8_t* increment;

  /// Returns the number of entries of a row whose column is in none of the k preceding rows.
  [[nodiscard]] SPTILE_HOST_DEVICE std::int64_t fresh(std::int64_t row, int k) const {
    std::int64_t entries = row_ptr[row + 1] - row_ptr[row];
    for (int distance = 1; distance <= k; ++distance) entries -= near[kRsWindow * row + distance];
    return entries;
  }
  SPTILE_HOST_DEVICE void operator()(std::int64_t row) const {
    std::int64_t with = fresh(row, 0), without = 0;
    for (int k = 1; k < kRsWindow && row + k < rows; ++k) {
      with += fresh(row + k, k);
      without += fresh(row + k, k - 1);
    }
    columns[row] = static_cast<std::uint32_t>(with);
    increment[row] = static_cast<std::uint8_t>(with - without < 255 ? with - without : 255);
  }
};

/// Classifies rows by one rule with one threshold.
struct RowRule {
  const std::int64_t* row_ptr;
  const std::uint8_t* increment;  ///< not read if tau_nnz is 0
  int tau_nnz, rule, tau_inc;

  [[nodiscard]] SPTILE_HOST_DEVICE std::int64_t entries(std::int64_t row) const {
    return row_ptr[row + 1] - row_ptr[row];
  }
  [[nodiscard]] SPTILE_HOST_DEVICE bool is_residual(std::int64_t row) const {
    if (rule == static_cast<int>(formats::IncrementRule::none) || entries(row) > tau_nnz || entries(row) == 0)
      return false;
    const bool small = increment[row] < tau_inc;
    return (rule == static_cast<int>(formats::IncrementRule::small)) == small;
  }
  [[nodiscard]] SPTILE_HOST_DEVICE bool is_window(std::int64_t row) const {
    return entries(row) > 0 && !is_residual(row);
  }
};

/// Candidate rules; kMax is their number for the largest tau_nnz.
struct RowRules {
  static constexpr int kMax = formats::rule_count(formats::kRsTileMaxTauNnz);
  RowRule rules[kMax];
  int count = 0;
  std::int64_t rows = 0, chunks = 0;

  [[nodiscard]] SPTILE_HOST_DEVICE std::int64_t end_row(std::int64_t chunk) const {
    const std::int64_t end = (chunk + 1) * kRsChunkRows;
    return end < rows ? end : rows;
  }
};

/// Computes the map of each chunk for each rule; the maps of a rule are preceded by kFirstRow.
struct MakeRowMaps {
  RowRules rules;
  RowMap* maps;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t chunk = i % (rules.chunks + 1) - 1;
    const RowRule& rule = rules.rules[i / (rules.chunks + 1)];
    RowMap map = kFirstRow;
    if (chunk >= 0) {
      map = kSameRow;
      for (std::int64_t row = rules.end_row(chunk) - 1; row >= chunk * kRsChunkRows; --row)
        map = with_row_in_front(map, rule.is_window(row) ? kRsWindow : 1);
    }
    maps[i] = map;
  }
};

/// Applies the algorithm to the rows of a chunk. maps: of this rule, composed from the first one on.
template <class OnWindow, class OnResidual>
SPTILE_HOST_DEVICE void walk(const RowRules& rules, const RowRule& rule, const RowMap* maps,
                             std::int64_t chunk, const OnWindow& on_window, const OnResidual& on_residual) {
  const std::int64_t end = rules.end_row(chunk);
  for (std::int64_t row = chunk * kRsChunkRows + leave(maps[chunk], 0); row < end;) {
    if (rule.is_window(row)) {
      on_window(row);
      row += kRsWindow;
    } else {
      if (rule.is_residual(row)) on_residual(row);
      ++row;
    }
  }
}

/// Adds the totals of each rule to its sums.
struct TryRules {
  static constexpr int kBlocks = 0, kResidualEntries = 1, kWindows = 2, kResidualRows = 3, kSums = 4;
  RowRules rules;
  const RowMap* maps;
  const std::uint32_t* columns;  ///< null if tau_nnz is 0
  SpreadSums sums;               ///< kSums per rule

  /// Callbacks of walk() that count.
  struct Counter {
    const TryRules& to;
    const RowRule& rule;
    std::uint64_t (&counts)[kSums];
  };
  struct OnWindow : Counter {
    SPTILE_HOST_DEVICE void operator()(std::int64_t row) const {
      ++this->counts[kWindows];
      if (this->to.columns != nullptr) this->counts[kBlocks] += (this->to.columns[row] + 7) / 8;
    }
  };
  struct OnResidual : Counter {
    SPTILE_HOST_DEVICE void operator()(std::int64_t row) const {
      ++this->counts[kResidualRows];
      this->counts[kResidualEntries] += static_cast<std::uint64_t>(this->rule.entries(row));
    }
  };

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t chunk = i % rules.chunks;
    const int r = static_cast<int>(i / rules.chunks);
    std::uint64_t counts[kSums] = {};
    const Counter counter{*this, rules.rules[r], counts};
    walk(rules, rules.rules[r], maps + r * (rules.chunks + 1), chunk, OnWindow{counter}, OnResidual{counter});
    for (int s = 0; s < kSums; ++s) sums.add(kSums * r + s, i, counts[s]);
  }
};

/// Writes 1 for each row that starts a window and for each residual row; the arrays must be zero.
struct MarkRows {
  RowRules rules;  ///< a single rule
  const RowMap* maps;
  std::uint32_t *windows, *residual;

  struct Mark {
    std::uint32_t* marks;
    SPTILE_HOST_DEVICE void operator()(std::int64_t row) const { marks[row] = 1; }
  };
  SPTILE_HOST_DEVICE void operator()(std::int64_t chunk) const {
    walk(rules, rules.rules[0], maps, chunk, Mark{windows}, Mark{residual});
  }
};

/// Lists the marked rows, given the prefix sums of the marks.
struct ListRows {
  const std::uint32_t* before;  ///< rows + 1
  std::int32_t* list;

  SPTILE_HOST_DEVICE void operator()(std::int64_t row) const {
    if (before[row + 1] != before[row]) list[before[row]] = static_cast<std::int32_t>(row);
  }
};

/// The partition, as used by device code.
struct RsRows {
  const std::int64_t* row_ptr;
  std::int64_t windows;              ///< their number
  const std::uint32_t* before;       ///< rows + 1: windows that start before each row
  const std::int32_t* first_row;     ///< first row of each window
  const std::int32_t* residual_row;  ///< ascending

  /// Returns the window of a row; `windows` if the row is in none.
  [[nodiscard]] SPTILE_HOST_DEVICE std::int64_t window(std::int64_t r) const {
    const std::int64_t last = std::int64_t{before[r + 1]} - 1;
    return last >= 0 && r - first_row[last] < kRsWindow ? last : windows;
  }
  [[nodiscard]] SPTILE_HOST_DEVICE std::int64_t row(std::int64_t r) const {
    const std::int64_t w = window(r);
    return w < windows ? r - first_row[w] : 0;
  }
  [[nodiscard]] SPTILE_HOST_DEVICE std::int64_t begin(std::int64_t w) const { return first_row[w]; }
  [[nodiscard]] SPTILE_HOST_DEVICE std::int64_t end(std::int64_t w) const { return begin(w) + kRsWindow; }
  [[nodiscard]] static int row_bits() { return bits_for(kRsWindow - 1); }
};

struct RsSumsWorkspace {
  std::uint64_t* short_rows = nullptr;
  std::uint64_t* tried = nullptr;
  RowMap* maps = nullptr;
  std::uint32_t *windows = nullptr, *residual = nullptr;
  std::int32_t *first_row = nullptr, *residual_row = nullptr;

  void place(Arena& arena, std::int64_t rows, std::int64_t chunks, int max_rules) {
    arena.take(short_rows, std::int64_t{SpreadSums::kCopies} * (formats::kLargestTauNnz + 1));
    arena.take(tried, std::int64_t{SpreadSums::kCopies} * TryRules::kSums * max_rules);
    arena.take(maps, max_rules * (chunks + 1));
    arena.take(windows, rows + 1);
    arena.take(residual, rows + 1);
    arena.take(first_row, rows);
    arena.take(residual_row, rows);
  }
};

struct IncrementsWorkspace {
  std::uint32_t *near = nullptr, *columns = nullptr;
  std::uint8_t* increment = nullptr;

  void place(Arena& arena, std::int64_t rows) {
    arena.take(near, kRsWindow * rows);
    arena.take(columns, rows);
    arena.take(increment, rows);
  }
};

/// Result of the partition.
struct RsPartition {
  Workspace<RsSumsWorkspace> workspace;
  int tau_nnz = 0;
  formats::RuleChoice choice;
  std::int64_t residual_rows = 0, residual_entries = 0;
  RsRows rows{};
};

template <class Run>
void count_increments(Run& run, const DeviceCsr& csr, IncrementsWorkspace& workspace) {
  run.clear(workspace.near, static_cast<std::size_t>(kRsWindow * csr.rows) * sizeof *workspace.near);
  const CsrRows rows{csr.row_ptr, csr.rows, csr.nnz};
  run.each(rows.steps_apart(), CountNear{rows, csr.col_idx, workspace.near});
  run.each(csr.rows,
           CountIncrements{csr.row_ptr, csr.rows, workspace.near, workspace.columns, workspace.increment});
}

/// Evaluates all rules, selects the best one and lists the rows of both parts.
template <class Run>
Status choose_rows(Run& run, const DeviceCsr& csr, const IncrementsWorkspace& increments,
                   const formats::RsTileSetting& setting, RsPartition& result) {
  std::vector<formats::RuleOutcome> tried = formats::rules_to_try(result.tau_nnz, setting);
  RowRules rules;
  rules.count = static_cast<int>(tried.size());
  rules.rows = csr.rows;
  rules.chunks = (csr.rows + kRsChunkRows - 1) / kRsChunkRows;
  for (int i = 0; i < rules.count; ++i) {
    const formats::RuleOutcome& to_try = tried[static_cast<std::size_t>(i)];
    rules.rules[i] = {csr.row_ptr, increments.increment, result.tau_nnz, static_cast<int>(to_try.rule),
                      to_try.tau_inc};
  }
  const Workspace<RsSumsWorkspace>& workspace = result.workspace;
  const SpreadSums sums{workspace.tried, TryRules::kSums * rules.count};
  run.clear(sums.sums, static_cast<std::size_t>(sums.size()) * sizeof(std::uint64_t));
  run.each(rules.count * (rules.chunks + 1), MakeRowMaps{rules, workspace.maps});
  run.compose(workspace.maps, rules.count * (rules.chunks + 1));
  run.each(rules.count * rules.chunks, TryRules{rules, workspace.maps, increments.columns, sums});
  std::vector<std::uint64_t> downloaded(static_cast<std::size_t>(sums.size()));
  run.download(downloaded.data(), sums.sums, sums.size());
  if (Status s = run.status(); !s) return s;

  const auto total = [&](int rule, int sum) {
    return SpreadSums::total(downloaded, TryRules::kSums * rule + sum);
  };
  for (int i = 0; i < rules.count; ++i) {
    tried[static_cast<std::size_t>(i)].tc_blocks = total(i, TryRules::kBlocks);
    tried[static_cast<std::size_t>(i)].residual_entries = total(i, TryRules::kResidualEntries);
  }
  result.choice = formats::choose_rule(tried, setting);
  const formats::RuleOutcome& best = result.choice.outcome();
  int chosen = 0;
  while (tried[static_cast<std::size_t>(chosen)].rule != best.rule ||
         tried[static_cast<std::size_t>(chosen)].tau_inc != best.tau_inc)
    ++chosen;
  result.residual_rows = total(chosen, TryRules::kResidualRows);
  result.residual_entries = total(chosen, TryRules::kResidualEntries);

  const auto marks = static_cast<std::size_t>(csr.rows + 1) * sizeof(std::uint32_t);
  run.clear(workspace.windows, marks);
  run.clear(workspace.residual, marks);
  rules.rules[0] = rules.rules[chosen];
  run.each(rules.chunks, MarkRows{rules, workspace.maps + chosen * (rules.chunks + 1), workspace.windows,
                                  workspace.residual});
  run.sum(workspace.windows, csr.rows + 1);
  run.sum(workspace.residual, csr.rows + 1);
  run.each(csr.rows, ListRows{workspace.windows, workspace.first_row});
  run.each(csr.rows, ListRows{workspace.residual, workspace.residual_row});
  result.rows = {csr.row_ptr, total(chosen, TryRules::kWindows), workspace.windows, workspace.first_row,
                 workspace.residual_row};
  return {};
}

/// Computes formats::estimate_tau_nnz for a valid matrix; synchronizes.
template <class Run>
Result<int> estimate_tau_nnz_on(Run& run, const DeviceCsr& csr, std::uint64_t* short_rows) {
  const SpreadSums sums{short_rows, formats::kLargestTauNnz + 1};
  run.clear(sums.sums, static_cast<std::size_t>(sums.size()) * sizeof(std::uint64_t));
  run.each(csr.rows, CountShortRows{csr.row_ptr, sums});
  std::vector<std::uint64_t> downloaded(static_cast<std::size_t>(sums.size()));
  run.download(downloaded.data(), sums.sums, sums.size());
  if (Status s = run.status(); !s) return tl::unexpected(s.error());
  std::array<std::int64_t, formats::kLargestTauNnz + 1> entries{};
  for (int i = 0; i < sums.count; ++i)
    entries[static_cast<std::size_t>(i)] = SpreadSums::total(downloaded, i);
  return formats::tau_nnz_of(entries, csr.nnz);
}

/// Implements formats::partition_rows for a valid matrix; synchronizes at most twice. If there are short
/// rows, each entry is searched in up to seven rows; about 100 bytes of memory traffic per row.
template <class Run>
Result<RsPartition> partition_on(Run& run, const DeviceCsr& csr, const formats::RsTileSetting& setting) {
  RsPartition result;
  const int max_rules = formats::rule_count(setting.tau_nnz.value_or(formats::kLargestTauNnz));
  if (Status s =
          result.workspace.make(run, csr.rows, (csr.rows + kRsChunkRows - 1) / kRsChunkRows, max_rules);
      !s)
    return tl::unexpected(s.error());
  const std::optional<int> fixed = setting.tau_nnz_for(csr.cols);
  const Result<int> tau_nnz = fixed ? *fixed : estimate_tau_nnz_on(run, csr, result.workspace.short_rows);
  if (!tau_nnz) return tl::unexpected(tau_nnz.error());
  result.tau_nnz = *tau_nnz;

  Workspace<IncrementsWorkspace> increments;
  if (result.tau_nnz > 0) {
    if (Status s = increments.make(run, csr.rows); !s) return tl::unexpected(s.error());
    count_increments(run, csr, increments);
  }
  if (Status s = choose_rows(run, csr, increments, setting, result); !s) return tl::unexpected(s.error());
  return result;
}

}  // namespace sptile::runtime::cuda
