#include "reorder/similarity/minhash.hpp"

#include <tbb/blocked_range.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "formats/core/parallel_loop.hpp"
#include "formats/core/parallel_sort.hpp"

namespace sptile::reorder {
namespace {

using formats::CsrView;

/// Bucket of a row in the upper half, row in the lower half: sorting makes buckets contiguous.
using BucketEntry = std::uint64_t;
constexpr BucketEntry kNoBucket = std::numeric_limits<BucketEntry>::max();
std::uint64_t bucket_of(BucketEntry entry) { return entry >> 32; }
std::int64_t row_of(BucketEntry entry) { return static_cast<std::int64_t>(entry & 0xffffffffu); }

/// Combines the minimum hashes of the columns under the functions selected by `salts`.
std::uint64_t minhash(std::span<const std::int32_t> columns, std::span<const std::uint64_t> salts) {
  std::uint64_t bucket = 0;
  for (const std::uint64_t salt : salts) {
    std::uint64_t min = std::numeric_limits<std::uint64_t>::max();
    for (const std::int32_t c : columns) min = std::min(min, mix_bits(salt + static_cast<std::uint64_t>(c)));
    bucket = mix_bits(bucket + min);
  }
  return bucket;
}

float jaccard(std::span<const std::int32_t> x, std::span<const std::int32_t> y) {
  std::size_t common = 0;
  for (std::size_t i = 0, j = 0; i < x.size() && j < y.size();) {
    common += x[i] == y[j];
    const bool forward = x[i] <= y[j];
    j += y[j] <= x[i];
    i += forward;
  }
  return static_cast<float>(common) / static_cast<float>(x.size() + y.size() - common);
}

/// Adds u to the partners of r, best first, lower rows first on ties.
void add_partner(NearestRows& found, std::int64_t r, Neighbour u) {
  Neighbour* const list = found.all.data() + r * found.neighbours;
  std::int32_t& count = found.counts[r];
  const auto before = [](const Neighbour& x, const Neighbour& y) {
    return x.similarity > y.similarity || (x.similarity == y.similarity && x.row < y.row);
  };
  if (std::any_of(list, list + count, [&](const Neighbour& n) { return n.row == u.row; })) return;
  if (count == found.neighbours && !before(u, list[count - 1])) return;
  if (count < found.neighbours) ++count;
  std::int32_t at = count - 1;
  for (; at > 0 && before(u, list[at - 1]); --at) list[at] = list[at - 1];
  list[at] = u;
}

void fill_buckets(const CsrView& a, std::span<const std::uint64_t> salts, std::vector<BucketEntry>& entries) {
  parallel::loop(tbb::blocked_range<std::size_t>(0, entries.size(), 512), [&](const auto& range) {
    for (std::size_t r = range.begin(); r < range.end(); ++r) {
      const auto columns = columns_of(a, static_cast<std::int64_t>(r));
      entries[r] = columns.empty() ? kNoBucket : minhash(columns, salts) >> 32 << 32 | r;
    }
  });
  parallel::sort(entries.begin(), entries.end());
}

}  // namespace

Result<NearestRows> minhash_partners(const CsrView& a, const MinhashOptions& options) {
  NearestRows found{options.partners, formats::Buffer<Neighbour>(a.rows * options.partners),
                    formats::Buffer<std::int32_t>(a.rows)};
  std::ranges::fill(found.counts, 0);
  std::vector<BucketEntry> entries(static_cast<std::size_t>(a.rows));
  std::vector<std::uint64_t> salts(static_cast<std::size_t>(options.band_hashes));
  RandomStream stream = options.stream;
  begin(options.progress, "minhash", options.bands);
  for (int band = 0; band < options.bands; ++band, advance(options.progress, 1)) {
    if (cancelled(options.progress)) return fail(Errc::io, "cancelled");
    for (std::uint64_t& salt : salts) salt = stream.next();
    fill_buckets(a, salts, entries);
    parallel::loop(std::size_t{1}, std::max<std::size_t>(entries.size(), 1), [&](std::size_t i) {
      if (entries[i] == kNoBucket || bucket_of(entries[i]) != bucket_of(entries[i - 1])) return;
      const std::int64_t r = row_of(entries[i - 1]), u = row_of(entries[i]);
      const float similarity = jaccard(columns_of(a, r), columns_of(a, u));
      if (similarity > 0 && static_cast<double>(similarity) >= options.similarity)
        add_partner(found, r, {static_cast<std::int32_t>(u), similarity});
    });
  }
  return found;
}

}  // namespace sptile::reorder
