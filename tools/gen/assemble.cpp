#include "tools/gen/assemble.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "formats/core/parallel_sort.hpp"
#include "formats/io/files/available_memory.hpp"

namespace sptile::tools::gen {

formats::Buffer<std::int64_t> row_pointers(std::int64_t rows) {
  const std::int64_t bytes = 8 * (rows + 1);
  if (bytes > formats::available_memory()) throw formats::OutOfMemory(static_cast<std::uint64_t>(bytes));
  return formats::Buffer<std::int64_t>(rows + 1);
}

void draw_distinct(RandomStream random, std::int64_t bound, std::span<std::int32_t> out) {
  thread_local std::vector<std::int32_t> slots;
  const std::size_t mask = std::bit_ceil(2 * out.size() + 1) - 1;
  slots.assign(mask + 1, -1);
  const auto insert = [&](std::int64_t value) {
    std::size_t i = mix_bits(static_cast<std::uint64_t>(value)) & mask;
    while (slots[i] >= 0 && slots[i] != value) i = (i + 1) & mask;
    const bool fresh = slots[i] < 0;
    slots[i] = static_cast<std::int32_t>(value);
    return fresh;
  };
  std::int64_t top = bound - static_cast<std::int64_t>(out.size());
  for (std::int32_t& column : out) {
    std::int64_t value = random.below(top + 1);
    if (!insert(value)) insert(value = top);
    column = static_cast<std::int32_t>(value);
    ++top;
  }
  std::sort(out.begin(), out.end());
}

formats::Csr csr_from_edges(EdgeList edges, std::int64_t vertices, Progress* progress) {
  begin(progress, "sort", 0);
  std::uint64_t* const keys = edges.keys.data();
  parallel::sort(keys, keys + edges.keys.size());
  const std::uint64_t* const last =
      std::unique(keys, std::lower_bound(keys, edges.keys.end(), EdgeList::kDropped));
  const std::int64_t nnz = last - keys;
  const auto row_of = [&](std::int64_t k) { return static_cast<std::int64_t>(keys[k] >> 32); };

  formats::Csr a;
  a.rows = a.cols = vertices;
  a.row_ptr = row_pointers(vertices);
  a.col_idx = formats::Buffer<std::int32_t>(nnz);
  // Entry k starts all rows after the row of entry k - 1 up to its own row; the position after the last entry
  // ends the remaining rows.
  parallel::loop(std::int64_t{0}, nnz + 1, [&](std::int64_t k) {
    const std::int64_t previous = k == 0 ? -1 : row_of(k - 1);
    const std::int64_t current = k == nnz ? vertices : row_of(k);
    for (std::int64_t r = previous + 1; r <= current; ++r) a.row_ptr[r] = k;
    if (k < nnz) a.col_idx[k] = static_cast<std::int32_t>(keys[k] & 0xffffffffu);
  });
  return a;
}

}  // namespace sptile::tools::gen
