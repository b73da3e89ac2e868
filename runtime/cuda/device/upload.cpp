#include "runtime/cuda/device/upload.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "runtime/cuda/device/check.hpp"
#include "runtime/threads/count.hpp"

namespace sptile::runtime::cuda {

constexpr int kStages = 4;

struct UploadLane {
  cudaStream_t stream = nullptr;
  std::array<cudaEvent_t, kStages> left = {};  ///< events after the copies from each stage
};

namespace {

constexpr std::size_t kStage = std::size_t{4} << 20;
/// Bytes of the first stage, small so that transfers start early. Stages double in size up to kStage.
constexpr std::size_t kFirstStage = std::size_t{512} << 10;
constexpr std::size_t kPiece = std::size_t{64} << 10;                      ///< minimum bytes per thread
constexpr std::size_t kPinned = kStages * kStage + sizeof(std::uint32_t);  ///< stages, then the flag

struct Staging {
  std::mutex mutex;
  std::byte* bytes = nullptr;
  std::map<int, UploadLane> lanes;  ///< by device
};

/// Never destroyed: the driver may shut down before static objects are destroyed.
Staging& staging() {
  static auto* const one = new Staging;
  return *one;
}

/// One core fills memory more slowly than the bus transfers it.
void copy_in_parallel(std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto pieces = static_cast<std::int64_t>((bytes + kPiece - 1) / kPiece);
#pragma omp parallel for schedule(static) num_threads(max_threads()) if (pieces > 1)
  for (std::int64_t i = 0; i < pieces; ++i) {
    const std::size_t begin = static_cast<std::size_t>(i) * kPiece;
    std::memcpy(to + begin, from + begin, std::min(kPiece, bytes - begin));
  }
}

Status pin(Staging& memory) {
  if (memory.bytes != nullptr) return {};
  void* bytes = nullptr;
  if (const cudaError_t code = cudaHostAlloc(&bytes, kPinned, cudaHostAllocPortable); code != cudaSuccess)
    return check(code, ("pinning " + std::to_string(kPinned) + " bytes of host memory").c_str());
  memory.bytes = static_cast<std::byte*>(bytes);
  return {};
}

/// Creates the missing resources of a lane.
Status open(UploadLane& lane) {
  if (lane.stream == nullptr)
    if (Status s = check(cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking), "creating a stream");
        !s)
      return s;
  for (cudaEvent_t& event : lane.left)
    if (event == nullptr)
      if (Status s = check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "creating an event"); !s)
        return s;
  return {};
}

}  // namespace

Uploader::Uploader() : limit_(kFirstStage) {
  staging().mutex.lock();
  int ordinal = 0;
  ready_ = check(cudaGetDevice(&ordinal), "uploading");
  if (ready_) ready_ = pin(staging());
  if (!ready_) return;
  *flag() = 0;
  lane_ = &staging().lanes[ordinal];
  ready_ = open(*lane_);
}

Uploader::~Uploader() {
  if (!idle_) cudaStreamSynchronize(lane_->stream);
  staging().mutex.unlock();
}

cudaStream_t Uploader::stream() const { return lane_->stream; }

std::uint32_t* Uploader::flag() const {
  return reinterpret_cast<std::uint32_t*>(staging().bytes + kStages * kStage);
}

Status Uploader::send() {
  if (!ready_ || filled_ == sent_) return ready_;
  const std::byte* const from = staging().bytes + static_cast<std::size_t>(stage_) * kStage + sent_;
  const std::size_t bytes = filled_ - sent_;
  idle_ = false;
  sent_ = filled_;
  return check(cudaMemcpyAsync(to_, from, bytes, cudaMemcpyHostToDevice, lane_->stream), "uploading");
}

/// Switches to the next stage, after its previous contents were transferred.
Status Uploader::turn() {
  if (Status s = send(); !s) return s;
  if (Status s =
          check(cudaEventRecord(lane_->left[static_cast<std::size_t>(stage_)], lane_->stream), "uploading");
      !s)
    return s;
  stage_ = (stage_ + 1) % kStages;
  sent_ = filled_ = 0;
  limit_ = std::min(2 * limit_, kStage);
  return check(cudaEventSynchronize(lane_->left[static_cast<std::size_t>(stage_)]), "uploading");
}

/// Calls fill(stage, offset, bytes) for each part of the data for `to`.
template <class Fill>
Status Uploader::gather(std::byte* to, std::size_t bytes, const Fill& fill) {
  if (!ready_ || bytes == 0) return ready_;
  if (to != to_ + (filled_ - sent_))
    if (Status s = send(); !s) return s;
  for (std::size_t done = 0; done < bytes;) {
    if (filled_ == limit_)
      if (Status s = turn(); !s) return s;
    if (filled_ == sent_) to_ = to + done;
    const std::size_t part = std::min(bytes - done, limit_ - filled_);
    fill(staging().bytes + static_cast<std::size_t>(stage_) * kStage + filled_, done, part);
    filled_ += part;
    done += part;
  }
  return {};
}

Status Uploader::copy(void* to, const void* from, std::size_t bytes) {
  const auto* const source = static_cast<const std::byte*>(from);
  return gather(static_cast<std::byte*>(to), bytes,
                [&](std::byte* stage, std::size_t offset, std::size_t part) {
                  copy_in_parallel(stage, source + offset, part);
                });
}

Status Uploader::pad(void* to, std::size_t bytes) {
  return gather(
      static_cast<std::byte*>(to), bytes,
      [](std::byte* stage, std::size_t /*offset*/, std::size_t part) { std::memset(stage, 0, part); });
}

Status Uploader::clear(void* to, std::size_t bytes) {
  if (!ready_ || bytes == 0) return ready_;
  idle_ = false;
  return check(cudaMemsetAsync(to, 0, bytes, lane_->stream), "clearing");
}

Status Uploader::finish() {
  if (Status s = send(); !s) return s;
  Status s = check(cudaStreamSynchronize(lane_->stream), "uploading");
  idle_ = s.has_value();
  return s;
}

}  // namespace sptile::runtime::cuda
