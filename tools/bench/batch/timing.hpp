// Times of steps, on a stream or in CUDA graphs.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace sptile::tools::timing {

/// Enqueues work.
using Launch = std::function<void(cudaStream_t)>;
/// Work that is enqueued in order on one stream.
using Step = std::vector<Launch>;

/// Returns the stream of all work.
cudaStream_t work_stream();

/// Runs a step once without a graph, and waits for it.
void run(const Step& step);

/// Returns the median microseconds of consecutive steps that the host enqueues.
double stream_us(const Step& step);

/// Returns the median microseconds of a step captured in a graph. `flush_bytes` bytes of memory are
/// overwritten before each launch to flush L2; 0: consecutive launches share the contents of L2.
double graph_us(const Step& step, std::size_t flush_bytes);

}  // namespace sptile::tools::timing
