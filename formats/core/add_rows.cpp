#include "formats/core/add_rows.hpp"

#include <algorithm>

#include "formats/core/parallel_loop.hpp"

namespace sptile::formats {
namespace {

// Minimum work of a thread.
constexpr std::int64_t kMinElements = 1 << 18;
constexpr std::int64_t kMinColumns = 16;

// Adds the columns from `first` to `last`.
template <class T, class Id>
void add_columns(const EntryIds<Id>& ids, std::int64_t n, std::int64_t first, std::int64_t last, const T* x,
                 T* out) {
  const std::int64_t width = last - first;
  for (std::int64_t row = 0; row < ids.rows; ++row) std::fill_n(out + row * n + first, width, T{0});
  for (std::size_t i = 0; i < ids.row.size(); ++i) {
    T* const to = out + static_cast<std::int64_t>(ids.row[i]) * n + first;
    const T* const from = x + static_cast<std::int64_t>(ids.col[i]) * n + first;
    for (std::int64_t c = 0; c < width; ++c) to[c] += from[c];
  }
}

}  // namespace

template <class T, class Id>
Status add_rows(const EntryIds<Id>& ids, std::int64_t n, std::span<const T> x, std::span<T> out,
                int threads) {
  if (Status s = check_ids(ids); !s) return s;
  const std::int64_t elements = n * static_cast<std::int64_t>(ids.row.size());
  const auto parts = std::clamp<std::int64_t>(std::min(elements / kMinElements, n / kMinColumns), 1, threads);
  parallel::loop(std::int64_t{0}, parts, [&](std::int64_t part) {
    add_columns(ids, n, n * part / parts, n * (part + 1) / parts, x.data(), out.data());
  });
  return {};
}

template Status add_rows(const EntryIds<std::int32_t>&, std::int64_t, std::span<const float>,
                         std::span<float>, int);
template Status add_rows(const EntryIds<std::int64_t>&, std::int64_t, std::span<const float>,
                         std::span<float>, int);
template Status add_rows(const EntryIds<std::int32_t>&, std::int64_t, std::span<const double>,
                         std::span<double>, int);
template Status add_rows(const EntryIds<std::int64_t>&, std::int64_t, std::span<const double>,
                         std::span<double>, int);

}  // namespace sptile::formats
