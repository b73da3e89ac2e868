// Emulated streams and events. Work is executed later, by any thread that polls or waits, in a random order
// that streams and events permit, which depends on the seed: missing synchronization gives wrong numbers.
// Each thread is a separate device.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

namespace sptile::test {

/// One operation in a stream.
struct Work {
  std::function<void()> act;
  std::function<bool()> possible = [] { return true; };
};

/// Starts a new random order.
void seed_emulated_devices(unsigned seed);
/// Adds work to a stream.
void enqueue(cudaStream_t stream, Work work);
/// Makes devices refuse to map the memory of others, or not.
void refuse_mapping(bool refuse);
/// Runs `at` under the lock of all work, after executing some of it.
void look(const std::function<void()>& at);

}  // namespace sptile::test
