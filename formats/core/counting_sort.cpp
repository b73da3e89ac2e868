#include "formats/core/counting_sort.hpp"

#include "formats/core/parallel_loop.hpp"

namespace sptile::formats {

Buffer<std::int64_t> start_positions(std::vector<Buffer<std::int64_t>>& counts, std::int64_t keys) {
  constexpr std::int64_t kBlock = 1 << 14;
  const std::int64_t blocks = (keys + kBlock - 1) / kBlock;
  std::vector<std::int64_t> block_start(static_cast<std::size_t>(blocks) + 1, 0);
  const auto for_each_block = [&](const auto& work) {
    parallel::loop(std::int64_t{0}, blocks, [&](std::int64_t block) {
      work(static_cast<std::size_t>(block), block * kBlock, std::min(keys, (block + 1) * kBlock));
    });
  };

  for_each_block([&](std::size_t block, std::int64_t begin, std::int64_t end) {
    std::int64_t total = 0;
    for (const Buffer<std::int64_t>& count : counts)
      for (std::int64_t key = begin; key < end; ++key) total += count[key];
    block_start[block + 1] = total;
  });
  for (std::size_t block = 1; block < block_start.size(); ++block)
    block_start[block] += block_start[block - 1];

  Buffer<std::int64_t> starts(keys + 1);
  starts[keys] = block_start.back();
  for_each_block([&](std::size_t block, std::int64_t begin, std::int64_t end) {
    std::int64_t position = block_start[block];
    for (std::int64_t key = begin; key < end; ++key) {
      starts[key] = position;
      for (Buffer<std::int64_t>& count : counts) position += std::exchange(count[key], position);
    }
  });
  return starts;
}

}  // namespace sptile::formats
