#include "runtime/cpu/units.hpp"

#include <algorithm>
#include <cassert>

#include "formats/layout/bittcf.hpp"
#include "formats/layout/bmat.hpp"
#include "formats/layout/csr.hpp"
#include "formats/layout/libra.hpp"
#include "formats/layout/me_tcf.hpp"
#include "formats/layout/rs_tile.hpp"
#include "formats/layout/tall.hpp"

namespace sptile::runtime {
namespace {

using formats::FormatView;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Units of one kind whose costs are known up to a prefix sum.
WorkPlan divide_units(std::int64_t units, std::int64_t n, int threads, const CostBefore& cost_before) {
  WorkPlan plan;
  append_chunks(plan.chunks, 0, units, n, cost_before, chunk_target(cost_before(units), n, threads));
  return plan;
}

/// A unit is a row.
WorkPlan divide_csr(const FormatView& format, std::int64_t n, int threads) {
  const formats::CsrView csr = formats::as_csr(format);
  return divide_units(csr.rows, n, threads,
                      [&](std::int64_t row) { return csr.row_ptr[at(row)] + kRowCost * row; });
}

/// A unit is a window of `height` rows; `entries_before` counts entries.
template <class EntriesBefore>
WorkPlan divide_windows(std::int64_t windows, int height, std::int64_t n, int threads,
                        EntriesBefore entries_before) {
  return divide_units(windows, n, threads, [&](std::int64_t window) {
    return static_cast<std::int64_t>(entries_before(window)) + kRowCost * height * window;
  });
}

/// Of me_tcf and bittcf, which count entries per tile.
template <class View>
WorkPlan divide_tiles(const View& view, int height, std::int64_t n, int threads) {
  const std::int64_t windows = std::ssize(view.row_window_offset) - 1;
  return divide_windows(windows, height, n, threads, [&](std::int64_t window) {
    return view.tc_offset[at(view.row_window_offset[at(window)])];
  });
}

WorkPlan divide_me_tcf(const FormatView& format, std::int64_t n, int threads) {
  return divide_tiles(formats::as_me_tcf(format), format.layout->window_rows, n, threads);
}

WorkPlan divide_bittcf(const FormatView& format, std::int64_t n, int threads) {
  return divide_tiles(formats::as_bittcf(format), format.layout->window_rows, n, threads);
}

WorkPlan divide_bmat(const FormatView& format, std::int64_t n, int threads) {
  const formats::BmatView view = formats::as_bmat(format);
  return divide_windows(std::ssize(view.row_window_offset) - 1, format.layout->window_rows, n, threads,
                        [&](std::int64_t window) { return view.value_offset[at(window)]; });
}

/// First window of each group of pieces, and the number of windows at the end.
std::vector<std::int64_t> window_groups(const formats::RsTileView& view) {
  std::vector<std::int64_t> groups;
  const auto windows = std::ssize(view.row_window_id);
  for (std::int64_t w = 0; w < windows; ++w)
    if (w == 0 || view.row_window_id[at(w)] != view.row_window_id[at(w - 1)]) groups.push_back(w);
  groups.push_back(windows);
  return groups;
}

std::vector<std::int32_t> rows_without_unit(const formats::RsTileView& view, int height) {
  std::vector<bool> covered(at(view.rows));
  for (const std::int32_t first : view.row_window_id)
    for (std::int64_t r = first; r < std::min<std::int64_t>(std::int64_t{first} + height, view.rows); ++r)
      covered[at(r)] = true;
  for (const std::int32_t row : view.residual_row_id) covered[at(row)] = true;
  std::vector<std::int32_t> rows;
  for (std::int64_t r = 0; r < view.rows; ++r)
    if (!covered[at(r)]) rows.push_back(static_cast<std::int32_t>(r));
  return rows;
}

/// Windows first, then residual rows, then empty rows. A chunk stays inside one of the three and never starts
/// between the pieces of a split window.
WorkPlan divide_rs_tile(const FormatView& format, std::int64_t n, int threads) {
  const formats::RsTileView view = formats::as_rs_tile(format);
  const int height = format.layout->window_rows;
  const std::vector<std::int64_t> groups = window_groups(view),
                                  residual = formats::residual_row_offsets(view);
  const auto group_cost = [&](std::int64_t g) {
    return view.value_offset[at(groups[at(g)])] + kRowCost * height * g;
  };
  const auto residual_cost = [&](std::int64_t i) { return residual[at(i)] + kRowCost * i; };
  const auto empty_cost = [](std::int64_t i) { return kRowCost * i; };

  WorkPlan plan;
  plan.empty_rows = rows_without_unit(view, height);
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

/// A unit is a sub-window of 8 rows. Entries are counted per window, which spreads them over its units.
WorkPlan divide_tall(const FormatView& format, std::int64_t n, int threads) {
  const formats::TallView view = formats::as_tall(format);
  const auto entries_before = [&](std::size_t w) -> std::int64_t {
    return view.value_offset[at(view.group_tile_offset[at(view.window_group_offset[w])])];
  };
  return divide_units((view.rows + 7) / 8, n, threads, [&](std::int64_t unit) {
    const std::int64_t row = std::min(8 * unit, view.rows);
    const auto w = at(std::upper_bound(view.window_row.begin(), view.window_row.end() - 1, row) -
                      view.window_row.begin() - 1);
    if (row == view.rows) return std::int64_t{view.value_offset.back()} + kRowCost * row;
    const std::int64_t first = entries_before(w), entries = entries_before(w + 1) - first;
    return first + entries * (row - view.window_row[w]) / (view.window_row[w + 1] - view.window_row[w]) +
           kRowCost * row;
  });
}

/// Both parts of a window count.
WorkPlan divide_libra(const FormatView& format, std::int64_t n, int threads) {
  const formats::LibraView view = formats::as_libra(format);
  const auto ids = view.residual_row_id;
  return divide_windows(
      std::ssize(view.row_window_offset) - 1, format.layout->window_rows, n, threads,
      [&](std::int64_t window) {
        const std::int64_t row = std::int64_t{8} * window;
        const auto residual = at(std::lower_bound(ids.begin(), ids.end(), row) - ids.begin());
        return view.tc_offset[at(view.row_window_offset[at(window)])] + view.residual_row_offset[residual];
      });
}

struct Divider {
  std::string_view format;
  WorkPlan (*divide)(const FormatView& format, std::int64_t n, int threads);
};

constexpr Divider kDividers[] = {{"csr", divide_csr},          {"me_tcf", divide_me_tcf},
                                 {"bittcf", divide_bittcf},    {"bmat", divide_bmat},
                                 {"rs_tile", divide_rs_tile},  {"tall", divide_tall},
                                 {"libra_spmm", divide_libra}, {"libra_sddmm", divide_libra}};

}  // namespace

WorkPlan divide_work(const FormatView& format, std::int64_t n, int threads) {
  for (const Divider& divider : kDividers)
    if (divider.format == format.layout->name) return divider.divide(format, n, threads);
  assert(!"a format with a kernel has a row in kDividers");
  return {};
}

}  // namespace sptile::runtime
