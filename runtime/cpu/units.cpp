#include "runtime/cpu/units.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "formats/layout/blocks.hpp"

namespace sptile::runtime {
namespace {

using formats::Blocks;
using formats::FormatView;
using formats::WindowPlacement;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Divides units of one kind with given cumulative costs.
WorkPlan divide_units(std::int64_t units, std::int64_t n, int threads, const CostBefore& cost_before) {
  WorkPlan plan;
  append_chunks(plan.chunks, 0, units, n, cost_before, chunk_target(cost_before(units), n, threads));
  return plan;
}

/// A unit is a row.
WorkPlan divide_rows(const FormatView&, const Blocks& blocks, std::int64_t n, int threads) {
  return divide_units(blocks.rows.size(), n, threads,
                      [&](std::int64_t row) { return blocks.rows.offset[at(row)] + kRowCost * row; });
}

/// Returns the number of entries that are stored in rows (not in tiles) before this row.
std::int64_t entries_in_rows_before(const formats::BlockRows& rows, std::int64_t row) {
  if (rows.ids.empty()) return 0;
  return rows.offset[at(std::lower_bound(rows.ids.begin(), rows.ids.end(), row) - rows.ids.begin())];
}

/// A unit is a window; its cost includes entries that are stored in rows.
WorkPlan divide_windows(const FormatView&, const Blocks& blocks, std::int64_t n, int threads) {
  return divide_units(blocks.windows(), n, threads, [&](std::int64_t window) {
    const std::int64_t row = blocks.row_of(window);
    return blocks.first_value(window) + entries_in_rows_before(blocks.rows, row) + kRowCost * row;
  });
}

/// A unit is a sub-window of 8 rows. The entries of a window are distributed evenly over its units.
WorkPlan divide_sub_windows(const FormatView& format, const Blocks& blocks, std::int64_t n, int threads) {
  const auto starts = blocks.first_row.first(blocks.first_row.size() - 1);
  return divide_units((format.rows + 7) / 8, n, threads, [&](std::int64_t unit) {
    const std::int64_t row = std::min(8 * unit, format.rows);
    if (row == format.rows) return blocks.first_value(blocks.windows()) + kRowCost * row;
    const std::int64_t w = std::upper_bound(starts.begin(), starts.end(), row) - starts.begin() - 1;
    const std::int64_t first = blocks.first_value(w), entries = blocks.first_value(w + 1) - first;
    return first + entries * (row - blocks.row_of(w)) / (blocks.row_of(w + 1) - blocks.row_of(w)) +
           kRowCost * row;
  });
}

/// Returns the first window of each group of pieces, and the number of windows at the end.
std::vector<std::int64_t> window_groups(const Blocks& blocks) {
  std::vector<std::int64_t> groups;
  for (std::int64_t w = 0; w < blocks.windows(); ++w)
    if (!blocks.continues(w)) groups.push_back(w);
  groups.push_back(blocks.windows());
  return groups;
}

std::vector<std::int32_t> rows_without_unit(const Blocks& blocks, std::int64_t all_rows) {
  std::vector<bool> covered(at(all_rows));
  for (const std::int64_t first : blocks.first_row)
    for (std::int64_t r = first; r < std::min(first + blocks.window_rows, all_rows); ++r)
      covered[at(r)] = true;
  for (const std::int32_t row : blocks.rows.ids) covered[at(row)] = true;
  std::vector<std::int32_t> rows;
  for (std::int64_t r = 0; r < all_rows; ++r)
    if (!covered[at(r)]) rows.push_back(static_cast<std::int32_t>(r));
  return rows;
}

/// Units are windows at arbitrary rows, then rows of entries, then empty rows. A chunk contains one of the
/// three kinds and never starts between the pieces of a split window.
WorkPlan divide_scattered(const FormatView& format, const Blocks& blocks, std::int64_t n, int threads) {
  const std::vector<std::int64_t> groups = window_groups(blocks), residual = row_offsets(blocks.rows);
  const auto group_cost = [&](std::int64_t g) {
    return blocks.first_value(groups[at(g)]) + kRowCost * blocks.window_rows * g;
  };
  const auto residual_cost = [&](std::int64_t i) { return residual[at(i)] + kRowCost * i; };
  const auto empty_cost = [](std::int64_t i) { return kRowCost * i; };

  WorkPlan plan;
  plan.empty_rows = rows_without_unit(blocks, format.rows);
  const std::int64_t group_count = std::ssize(groups) - 1, residual_count = std::ssize(residual) - 1,
                     empty_count = std::ssize(plan.empty_rows);
  const std::int64_t target = chunk_target(
      group_cost(group_count) + residual_cost(residual_count) + empty_cost(empty_count), n, threads);

  append_chunks(plan.chunks, 0, group_count, n, group_cost, target);
  for (Chunk& chunk : plan.chunks) {
    chunk.first = groups[at(chunk.first)];
    chunk.last = groups[at(chunk.last)];
  }
  std::int64_t offset = groups.back();
  const auto append_shifted = [&](std::int64_t count, const CostBefore& cost) {
    const std::size_t before = plan.chunks.size();
    append_chunks(plan.chunks, 0, count, n, cost, target);
    for (std::size_t i = before; i < plan.chunks.size(); ++i) {
      plan.chunks[i].first += offset;
      plan.chunks[i].last += offset;
    }
    offset += count;
  };
  append_shifted(residual_count, residual_cost);
  append_shifted(empty_count, empty_cost);
  return plan;
}

using Divide = WorkPlan (*)(const FormatView& format, const Blocks& blocks, std::int64_t n, int threads);
/// In the order of WindowPlacement.
constexpr Divide kDivide[] = {divide_rows, divide_windows, divide_sub_windows, divide_scattered};

/// Returns the end of each kind of units; the last end is the number of units. A chunk contains units of one
/// kind.
std::vector<std::int64_t> kind_ends(const FormatView& format, const Blocks& blocks, std::int64_t empty_rows) {
  const std::int64_t windows = blocks.windows(), rows = blocks.rows.size();
  const std::vector<std::int64_t> ends[] = {
      {rows}, {windows}, {(format.rows + 7) / 8}, {windows, windows + rows, windows + rows + empty_rows}};
  return ends[static_cast<std::size_t>(blocks.placement)];
}

/// Adds runs to a plan in order.
class RunReader {
 public:
  RunReader(const FormatView& format, std::int64_t n, int threads)
      : blocks_(formats::blocks_of(format)), n_(n), max_(max_chunks(threads)) {
    if (blocks_.placement == WindowPlacement::scattered)
      work_.empty_rows = rows_without_unit(blocks_, format.rows);
    ends_ = kind_ends(format, blocks_, std::ssize(work_.empty_rows));
  }

  /// Adds a run. Returns an error description, or null on success.
  const char* add(const UnitRun& run) {
    if (run.last <= first_) return "has no units";
    if (run.last > ends_.back()) return "ends after the last unit";
    if (run.last > *std::upper_bound(ends_.begin(), ends_.end(), first_)) return "has units of two kinds";
    if (splits_window(run.last)) return "ends between the pieces of a split window";
    if (run.parts < 1 || run.parts > column_steps(n_)) return "has an invalid number of column ranges";
    if (run.parts > max_ - std::ssize(work_.chunks)) return "exceeds the maximum number of chunks";
    append_by_columns(work_.chunks, first_, run.last, n_, run.parts);
    first_ = run.last;
    return nullptr;
  }
  [[nodiscard]] bool complete() const { return first_ == ends_.back(); }
  WorkPlan take() { return std::move(work_); }

 private:
  [[nodiscard]] bool splits_window(std::int64_t unit) const {
    return blocks_.placement == WindowPlacement::scattered && unit < blocks_.windows() &&
           blocks_.continues(unit);
  }

  Blocks blocks_;
  std::int64_t n_, max_, first_ = 0;
  std::vector<std::int64_t> ends_;
  WorkPlan work_;
};

}  // namespace

std::vector<UnitRun> runs_of(const WorkPlan& work) {
  std::vector<UnitRun> runs;
  for (const Chunk& chunk : work.chunks) {
    if (chunk.first_col == 0) runs.push_back({chunk.last, 0});
    ++runs.back().parts;
  }
  return runs;
}

Result<WorkPlan> divide_as(const FormatView& format, std::int64_t n, int threads,
                           std::span<const UnitRun> runs) {
  RunReader reader(format, n, threads);
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (const char* const wrong = reader.add(runs[i]); wrong != nullptr)
      return fail(Errc::bad_input, "run " + std::to_string(i) + " of its division " + wrong);
  if (!reader.complete()) return fail(Errc::bad_input, "its division ends before the last unit");
  return reader.take();
}

WorkPlan divide_work(const FormatView& format, std::int64_t n, int threads) {
  const Blocks blocks = formats::blocks_of(format);
  return kDivide[static_cast<std::size_t>(blocks.placement)](format, blocks, n, threads);
}

WorkPlan divide_columns(const FormatView& format, std::int64_t n) {
  constexpr std::int64_t kMaxChunks = 1024;
  const std::int64_t chunks = std::clamp<std::int64_t>(n / kColumnsPerChunk, 1, kMaxChunks);
  const std::int64_t each = n / chunks, more = n % chunks;  // the first `more` chunks have one more column
  WorkPlan work;
  for (std::int64_t i = 0; i < chunks; ++i)
    work.chunks.push_back(
        {0, format.rows, i * each + std::min(i, more), (i + 1) * each + std::min(i + 1, more)});
  return work;
}

}  // namespace sptile::runtime
