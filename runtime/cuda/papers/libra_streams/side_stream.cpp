#include "runtime/cuda/papers/libra_streams/side_stream.hpp"

#include "runtime/cuda/device/check.hpp"

namespace sptile::runtime::cuda {
namespace {

/// Capture of a stream; 0 if it is not being captured.
struct Capture {
  bool known = false;
  unsigned long long id = 0;
};

Capture capture_of(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  if (cudaStreamGetCaptureInfo(stream, &status, &id) != cudaSuccess) {
    cudaGetLastError();  // the launch itself returns the error
    return {};
  }
  if (status == cudaStreamCaptureStatusInvalidated) return {};
  return {true, status == cudaStreamCaptureStatusActive ? id : 0};
}

}  // namespace

Result<std::unique_ptr<SideStream>> SideStream::make() {
  std::unique_ptr<SideStream> side(new SideStream);
  cudaError_t code = cudaStreamCreateWithFlags(&side->stream_, cudaStreamNonBlocking);
  for (cudaEvent_t* event : {&side->forked_, &side->joined_})
    if (code == cudaSuccess) code = cudaEventCreateWithFlags(event, cudaEventDisableTiming);
  if (Status s = check(code, "creating a second stream"); !s) return tl::unexpected(s.error());
  return side;
}

SideStream::~SideStream() {
  for (cudaEvent_t event : {forked_, joined_})
    if (event != nullptr) cudaEventDestroy(event);
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

/// Returns false if the side stream is part of another capture, which must end first.
bool SideStream::may_follow(cudaStream_t main) const {
  const Capture mine = capture_of(stream_), its = capture_of(main);
  return mine.known && its.known && (mine.id == 0 || mine.id == its.id);
}

int SideStream::fork(cudaStream_t main) {
  const cudaError_t code = cudaEventRecord(forked_, main);
  return static_cast<int>(code != cudaSuccess ? code : cudaStreamWaitEvent(stream_, forked_, 0));
}

int SideStream::join(cudaStream_t main) {
  const cudaError_t code = cudaEventRecord(joined_, stream_);
  return static_cast<int>(code != cudaSuccess ? code : cudaStreamWaitEvent(main, joined_, 0));
}

}  // namespace sptile::runtime::cuda
