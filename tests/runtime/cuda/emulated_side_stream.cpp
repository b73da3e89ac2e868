// The second stream of emulated kernels: what goes there is done at once, before what stays here.
#include <cuda_runtime_api.h>

#include "runtime/cuda/papers/libra_streams/side_stream.hpp"

namespace sptile::runtime::cuda {

Result<std::unique_ptr<SideStream>> SideStream::make() { return std::unique_ptr<SideStream>(new SideStream); }
SideStream::~SideStream() = default;
bool SideStream::may_follow(cudaStream_t) const { return true; }
int SideStream::fork(cudaStream_t) { return cudaSuccess; }
int SideStream::join(cudaStream_t) { return cudaSuccess; }

}  // namespace sptile::runtime::cuda
