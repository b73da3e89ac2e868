#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "runtime/cuda/convert/primitives.hpp"

namespace sptile::runtime::cuda {

cudaError_t sort_pairs(void* scratch, std::size_t& bytes, SortBuffers& buffers, std::int64_t n, int begin_bit,
                       int end_bit, cudaStream_t stream) {
  cub::DoubleBuffer<std::uint64_t> keys(buffers.keys, buffers.other_keys);
  cub::DoubleBuffer<std::uint32_t> items(buffers.items, buffers.other_items);
  const cudaError_t code = cub::DeviceRadixSort::SortPairs(
      scratch, bytes, keys, items, static_cast<std::uint32_t>(n), begin_bit, end_bit, stream);
  if (scratch == nullptr) return code;
  buffers = {keys.Current(), items.Current(), keys.Alternate(), items.Alternate()};
  return code;
}

cudaError_t exclusive_sum(void* scratch, std::size_t& bytes, std::uint32_t* x, std::int64_t n,
                          cudaStream_t stream) {
  return cub::DeviceScan::ExclusiveSum(scratch, bytes, x, x, n, stream);
}

cudaError_t exclusive_sum(void* scratch, std::size_t& bytes, std::int64_t* x, std::int64_t n,
                          cudaStream_t stream) {
  return cub::DeviceScan::ExclusiveSum(scratch, bytes, x, x, n, stream);
}

cudaError_t compose_maps(void* scratch, std::size_t& bytes, RowMap* maps, std::int64_t n,
                         cudaStream_t stream) {
  return cub::DeviceScan::InclusiveScan(scratch, bytes, maps, maps, ComposeRowMaps{}, n, stream);
}

}  // namespace sptile::runtime::cuda
