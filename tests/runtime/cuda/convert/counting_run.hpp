// Counts the device operations of a conversion.
#pragma once

#include "tests/runtime/cuda/convert/host_run.hpp"

namespace sptile::test {

/// Fixed costs of a conversion, which dominate small ones.
struct RunCounts {
  int launches = 0;  ///< kernels, sorts, sums, copies and fills
  int waits = 0;     ///< of the host for the device
  int kept = 0;      ///< allocations that outlive the run
  int work = 0;      ///< temporary allocations
};

class CountingRun : public HostRun {
 public:
  RunCounts counts;

  template <class Step>
  void each(std::int64_t n, const Step& step) {
    counts.launches += n > 0;
    HostRun::each(n, step);
  }
  template <class Step>
  void blocks(std::int64_t n, const Step& step) {
    counts.launches += n > 0;
    HostRun::blocks(n, step);
  }
  void sort(runtime::cuda::SortBuffers& buffers, std::int64_t n, int begin_bit, int end_bit) {
    counts.launches += n > 1;
    counts.work += n > 1;
    HostRun::sort(buffers, n, begin_bit, end_bit);
  }
  template <class T>
  void sum(T* x, std::int64_t n) {
    ++counts.launches;
    ++counts.work;
    HostRun::sum(x, n);
  }
  void compose(runtime::cuda::RowMap* maps, std::int64_t n) {
    counts.launches += n > 0;
    counts.work += n > 0;
    HostRun::compose(maps, n);
  }
  void clear(void* x, std::size_t bytes) {
    counts.launches += bytes > 0;
    HostRun::clear(x, bytes);
  }
  void fill(void* x, std::size_t bytes) {
    counts.launches += bytes > 0;
    HostRun::fill(x, bytes);
  }
  void copy(void* to, const void* from, std::size_t bytes) {
    counts.launches += bytes > 0;
    HostRun::copy(to, from, bytes);
  }
  template <class T>
  void upload(T* to, const T* host, std::int64_t n) {
    counts.launches += n > 0;
    HostRun::upload(to, host, n);
  }
  template <class T>
  void download(T* host, const T* x, std::int64_t n) {
    counts.launches += n > 0;
    counts.waits += n > 0;
    HostRun::download(host, x, n);
  }
  Result<std::shared_ptr<std::byte>> allocate(std::size_t bytes, const char* what) {
    counts.kept += bytes > 0;
    return HostRun::allocate(bytes, what);
  }
  Result<std::shared_ptr<std::byte>> work(std::size_t bytes, const char* what) {
    counts.work += bytes > 0;
    return HostRun::allocate(bytes, what);
  }
  void wait() { ++counts.waits; }
  Result<runtime::cuda::DeviceFormat> finish(runtime::cuda::DeviceFormat&& format) {
    wait();
    return std::move(format);
  }
};

}  // namespace sptile::test
