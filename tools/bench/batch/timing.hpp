// Steps in CUDA graphs, and how long they take.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace sptile::tools::timing {

/// Enqueues work.
using Launch = std::function<void(cudaStream_t)>;
/// What is done one after the other on one stream.
using Step = std::vector<Launch>;

/// The stream of all work.
cudaStream_t work_stream();

/// Does a step once, without a graph, and waits for it.
void run(const Step& step);

/// Median microseconds of a step that is enqueued from the host, one step following the other.
double stream_us(const Step& step);

/// Median microseconds of a step, captured in a graph. `flush_bytes` of memory are overwritten before each
/// launch, to empty the L2 cache; 0: launches follow each other, and find there what the last one left.
double graph_us(const Step& step, std::size_t flush_bytes);

}  // namespace sptile::tools::timing
