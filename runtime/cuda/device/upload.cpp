#include "runtime/cuda/device/upload.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>

#include "runtime/cuda/device/check.hpp"
#include "runtime/fork.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr std::size_t kHalf = std::size_t{8} << 20;
constexpr std::size_t kPiece = std::size_t{256} << 10;  ///< what one thread copies at a time

struct Staging {
  std::mutex mutex;
  std::byte* bytes = nullptr;  ///< two halves
};

/// Never destroyed: the driver may be gone before static objects are.
Staging& staging() {
  static auto* const one = new Staging;
  return *one;
}

/// One core fills memory slower than the bus empties it.
void copy_in_parallel(std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto pieces = static_cast<std::int64_t>((bytes + kPiece - 1) / kPiece);
#pragma omp parallel for schedule(static) num_threads(most_threads()) if (pieces > 1)
  for (std::int64_t i = 0; i < pieces; ++i) {
    const std::size_t begin = static_cast<std::size_t>(i) * kPiece;
    std::memcpy(to + begin, from + begin, std::min(kPiece, bytes - begin));
  }
}

Status pin(Staging& memory) {
  if (memory.bytes != nullptr) return {};
  void* bytes = nullptr;
  if (const cudaError_t code = cudaHostAlloc(&bytes, 2 * kHalf, cudaHostAllocPortable); code != cudaSuccess)
    return check(code, ("pinning " + std::to_string(2 * kHalf) + " bytes of host memory").c_str());
  memory.bytes = static_cast<std::byte*>(bytes);
  return {};
}

}  // namespace

Uploader::Uploader() {
  staging().mutex.lock();
  ready_ = pin(staging());
  if (ready_) ready_ = check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
  for (cudaEvent_t& event : sent_)
    if (ready_) ready_ = check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
}

Uploader::~Uploader() {
  if (stream_ != nullptr) cudaStreamSynchronize(stream_);
  for (cudaEvent_t event : sent_)
    if (event != nullptr) cudaEventDestroy(event);
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
  staging().mutex.unlock();
}

/// Goes to the other half, when what it held has left.
Status Uploader::turn() {
  if (Status s = check(cudaEventRecord(sent_[half_], stream_), "uploading"); !s) return s;
  half_ ^= 1;
  used_ = 0;
  return check(cudaEventSynchronize(sent_[half_]), "uploading");
}

Status Uploader::copy(void* to, const void* from, std::size_t bytes) {
  if (!ready_) return ready_;
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  while (bytes > 0) {
    if (used_ == kHalf)
      if (Status s = turn(); !s) return s;
    const std::size_t part = std::min(bytes, kHalf - used_);
    std::byte* const stage = staging().bytes + static_cast<std::size_t>(half_) * kHalf + used_;
    copy_in_parallel(stage, source, part);
    if (Status s = check(cudaMemcpyAsync(target, stage, part, cudaMemcpyHostToDevice, stream_), "uploading");
        !s)
      return s;
    used_ += part;
    target += part;
    source += part;
    bytes -= part;
  }
  return {};
}

Status Uploader::clear(void* to, std::size_t bytes) {
  if (!ready_ || bytes == 0) return ready_;
  return check(cudaMemsetAsync(to, 0, bytes, stream_), "clearing");
}

Status Uploader::finish() {
  if (!ready_) return ready_;
  return check(cudaStreamSynchronize(stream_), "uploading");
}

}  // namespace sptile::runtime::cuda
