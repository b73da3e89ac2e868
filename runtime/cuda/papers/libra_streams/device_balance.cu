#include "runtime/cuda/papers/libra_streams/device_balance.hpp"

#include "runtime/cuda/convert/cuda_run.cuh"

namespace sptile::runtime::cuda {

Result<DeviceBalance> balance_on_device(const formats::LibraView& a, const LibraSizes& sizes,
                                        int block_tiles) {
  CudaRun run(nullptr);
  auto result = balance_on(run, a, sizes, block_tiles);
  run.wait();
  return result;
}

}  // namespace sptile::runtime::cuda
