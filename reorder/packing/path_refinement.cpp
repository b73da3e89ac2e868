#include "reorder/packing/path_refinement.hpp"

#include <tbb/blocked_range.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <vector>

#include "formats/core/parallel_loop.hpp"
#include "formats/core/per_thread.hpp"

namespace sptile::reorder {
namespace {

constexpr std::size_t kMaxRows = 64;  // one bit per row in a word
constexpr int kMaxPasses = 16;        // 2-opt converges after a few passes
constexpr float kMinGain = 1e-5f;     // above rounding errors

using RowMask = std::uint64_t;

/// Similarities of the rows of a stretch, by position.
struct Similarities {
  std::array<std::array<float, kMaxRows>, kMaxRows> of;
};

/// Computes all pairs of similarities at once: each column adds its weight to the pairs that share it.
/// `rows_with`, indexed by column, is all zero before and after.
void compare(const formats::CsrView& a, const JaccardWeights& weights, std::span<const std::int32_t> rows,
             std::vector<RowMask>& rows_with, Similarities& similarity) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::fill_n(similarity.of[i].begin(), rows.size(), 0.0f);
    for (const std::int32_t c : columns_of(a, rows[i]))
      rows_with[static_cast<std::size_t>(c)] |= RowMask{1} << i;
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const std::int32_t c : columns_of(a, rows[i])) {
      RowMask& mask = rows_with[static_cast<std::size_t>(c)];
      mask &= mask - 1;  // the lowest bit is row i: pairs with earlier rows are done
      const float weight = weights.column[static_cast<std::size_t>(c)];
      for (RowMask later = mask; later != 0; later &= later - 1)
        similarity.of[i][static_cast<std::size_t>(std::countr_zero(later))] += weight;
    }
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = i + 1; j < rows.size(); ++j)
      similarity.of[i][j] = similarity.of[j][i] = weights.similarity(rows[i], rows[j], similarity.of[i][j]);
}

/// Reverses subpaths until no reversal gains; `path` contains positions.
void two_opt(const Similarities& similarity, std::span<std::uint8_t> path) {
  std::array<float, kMaxRows> link;  // similarity of each row and the next one
  for (std::size_t i = 0; i + 1 < path.size(); ++i) link[i] = similarity.of[path[i]][path[i + 1]];
  bool improved = true;
  for (int pass = 0; improved && pass < kMaxPasses; ++pass) {
    improved = false;
    for (std::size_t i = 1; i + 2 < path.size(); ++i) {
      const auto& before = similarity.of[path[i - 1]];
      const auto* first = &similarity.of[path[i]];
      for (std::size_t j = i + 1; j + 1 < path.size(); ++j) {
        const float from = before[path[j]], to = (*first)[path[j + 1]];
        if (from + to - link[i - 1] - link[j] <= kMinGain) continue;
        std::reverse(path.data() + i, path.data() + j + 1);
        std::reverse(link.data() + i, link.data() + j);
        link[i - 1] = from, link[j] = to;
        first = &similarity.of[path[i]];
        improved = true;
      }
    }
  }
}

struct PathScratch {
  explicit PathScratch(std::int64_t cols) : rows_with(static_cast<std::size_t>(cols)) {}

  std::vector<RowMask> rows_with;
  Similarities similarity;
};

void refine(const formats::CsrView& a, const JaccardWeights& weights, std::span<std::int32_t> rows,
            PathScratch& scratch) {
  if (rows.size() < 4) return;
  compare(a, weights, rows, scratch.rows_with, scratch.similarity);
  std::array<std::uint8_t, kMaxRows> path;
  const std::span<std::uint8_t> places(path.data(), rows.size());
  std::iota(places.begin(), places.end(), std::uint8_t{0});
  two_opt(scratch.similarity, places);
  std::array<std::int32_t, kMaxRows> refined;
  for (std::size_t i = 0; i < rows.size(); ++i) refined[i] = rows[places[i]];
  std::copy_n(refined.begin(), rows.size(), rows.begin());
}

}  // namespace

void refine_path(const formats::CsrView& a, const JaccardWeights& weights, std::span<std::int32_t> order,
                 int stretch, Progress* progress) {
  const std::size_t height = std::min(static_cast<std::size_t>(stretch), kMaxRows);
  const std::size_t stretches = (order.size() + height - 1) / height;
  parallel::PerThread<PathScratch> scratches(a.cols);
  parallel::loop(tbb::blocked_range<std::size_t>(0, stretches, 4), [&](const auto& range) {
    if (cancelled(progress)) return;
    PathScratch& scratch = scratches.local();
    for (std::size_t s = range.begin(); s < range.end(); ++s) {
      const auto rows = order.subspan(s * height, std::min(height, order.size() - s * height));
      refine(a, weights, rows, scratch);
      advance(progress, static_cast<std::int64_t>(rows.size()));
    }
  });
}

}  // namespace sptile::reorder
