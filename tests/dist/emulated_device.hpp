// Streams and events without a device. What is put on a stream is done later, by whoever looks or waits, and
// in any order that streams and events leave open, drawn anew with each seed: where a wait is missing,
// numbers come out wrong. Each thread is a device of its own.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

namespace sptile::test {

/// One piece of work of a stream.
struct Work {
  std::function<void()> act;
  std::function<bool()> possible = [] { return true; };
};

/// Begins a new order.
void seed_emulated_devices(unsigned seed);
/// Puts work on a stream.
void enqueue(cudaStream_t stream, Work work);
/// Runs under the lock that all work has, after a little of it was done.
void look(const std::function<void()>& at);

}  // namespace sptile::test
