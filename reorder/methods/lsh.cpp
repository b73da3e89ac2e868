#include "reorder/methods/lsh.hpp"

#include <algorithm>
#include <numeric>

#include "formats/core/csr.hpp"
#include "formats/core/parallel_loop.hpp"
#include "reorder/graph/spanning_forest.hpp"
#include "reorder/similarity/minhash.hpp"
#include "reorder/similarity/neighbour_edges.hpp"

namespace sptile::reorder {
namespace {

using formats::CsrView;

/// Clusters rows into trees of at most `max` rows, those of empty rows last.
Result<ForestWalk> cluster(const CsrView& a, const MinhashOptions& hashing, std::int32_t max) {
  const Result<NearestRows> partners = minhash_partners(a, hashing);
  if (!partners) return tl::unexpected(partners.error());
  std::vector<std::int32_t> roots(static_cast<std::size_t>(a.rows));
  std::iota(roots.begin(), roots.end(), 0);
  std::stable_partition(roots.begin(), roots.end(), [&](std::int32_t r) { return a.row_nnz(r) > 0; });
  return walk_depth_first(maximum_spanning_forest(a.rows, edges_of(*partners), max), roots);
}

/// Returns a matrix with one row per cluster: the union of the columns of its rows.
formats::Csr unite(const CsrView& a, const ForestWalk& clusters) {
  const auto count = static_cast<std::int64_t>(clusters.tree_starts.size()) - 1;
  const auto row = [&](std::int64_t i) { return columns_of(a, clusters.order[static_cast<std::size_t>(i)]); };
  const auto start = [&](std::int64_t c) { return clusters.tree_starts[static_cast<std::size_t>(c)]; };
  // Each cluster first reserves space for all its nonzeros, then removes duplicates.
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(count) + 1);
  for (std::int64_t c = 0; c < count; ++c) {
    std::int64_t& end = offsets[static_cast<std::size_t>(c) + 1] = offsets[static_cast<std::size_t>(c)];
    for (std::int64_t i = start(c); i < start(c + 1); ++i) end += static_cast<std::int64_t>(row(i).size());
  }
  formats::Csr united{
      count, a.cols, formats::Buffer<std::int64_t>(count + 1), formats::Buffer<std::int32_t>(a.nnz()), {}};
  united.row_ptr[0] = 0;
  parallel::loop(std::int64_t{0}, count, [&](std::int64_t c) {
    std::int32_t* const first = united.col_idx.data() + offsets[static_cast<std::size_t>(c)];
    std::int32_t* end = first;
    for (std::int64_t i = start(c); i < start(c + 1); ++i) end = std::ranges::copy(row(i), end).out;
    std::sort(first, end);
    united.row_ptr[c + 1] = std::unique(first, end) - first;
  });
  for (std::int64_t c = 0; c < count; ++c) {
    const std::int32_t* const from = united.col_idx.data() + offsets[static_cast<std::size_t>(c)];
    std::copy_n(from, united.row_ptr[c + 1], united.col_idx.data() + united.row_ptr[c]);
    united.row_ptr[c + 1] += united.row_ptr[c];
  }
  united.col_idx.truncate(united.row_ptr[count]);
  return united;
}

}  // namespace

Result<std::vector<std::int32_t>> order_by_lsh(const CsrView& a, const ReorderOptions& options) {
  const auto whole = [&](std::string_view name) {
    return static_cast<std::int32_t>(setting(options, kLshParameters, name));
  };
  MinhashOptions hashing{.bands = whole("bands"),
                         .band_hashes = whole("band-hashes"),
                         .similarity = setting(options, kLshParameters, "similarity"),
                         .stream = RandomStream(options.seed, 0),
                         .progress = options.progress};
  Result<ForestWalk> clusters = cluster(a, hashing, whole("cluster-rows"));
  if (!clusters) return tl::unexpected(clusters.error());
  if (whole("group-clusters") == 1) return std::move(clusters->order);

  hashing.stream = RandomStream(options.seed, 1);
  const formats::Csr united = unite(a, *clusters);
  const Result<ForestWalk> groups = cluster(united.view(), hashing, whole("group-clusters"));
  if (!groups) return tl::unexpected(groups.error());
  std::vector<std::int32_t> order;
  order.reserve(clusters->order.size());
  for (const std::int32_t c : groups->order)
    order.insert(order.end(), clusters->order.begin() + clusters->tree_starts[static_cast<std::size_t>(c)],
                 clusters->order.begin() + clusters->tree_starts[static_cast<std::size_t>(c) + 1]);
  return order;
}

}  // namespace sptile::reorder
