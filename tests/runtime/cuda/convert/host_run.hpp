// Runs the steps of conversions sequentially on the host; see format_memory.hpp.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/cuda/convert/conversions.hpp"
#include "runtime/cuda/convert/row_map.hpp"
#include "tests/runtime/cuda/convert/host_team.hpp"

namespace sptile::test {

class HostRun {
 public:
  /// Optionally runs iterations in reverse order, which must not matter.
  explicit HostRun(bool backwards = false) : backwards_(backwards) {}

  template <class Step>
  void each(std::int64_t n, const Step& step) {
    for (std::int64_t i = 0; i < n; ++i) step(backwards_ ? n - 1 - i : i);
  }
  template <class Step>
  void blocks(std::int64_t n, const Step& step) {
    const auto shared = std::make_unique<typename Step::Shared>();
    for (std::int64_t block = 0; block < n; ++block) {
      std::memset(shared.get(), 0xA5, sizeof *shared);
      for (std::int64_t round = 0; round < step.rounds(block); ++round)
        run_phases(step, block, round, *shared, std::make_integer_sequence<int, Step::kPhases>{});
    }
  }
  template <class Step>
  void teams(std::int64_t n, const Step& step) {
    const auto shared = std::make_unique<typename Step::Shared>();
    for (std::int64_t block = 0; block < n; ++block) {
      std::memset(static_cast<void*>(shared.get()), 0xA5, sizeof *shared);
      run_team(HostTeam::kThreads, backwards_,
               [&](int thread) { step(backwards_ ? n - 1 - block : block, HostTeam(thread), *shared); });
    }
  }
  void sort(runtime::cuda::SortBuffers& buffers, std::int64_t n, int begin_bit, int end_bit) {
    const std::uint64_t bits = end_bit == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << end_bit) - 1;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> pairs;
    for (std::int64_t i = 0; i < n; ++i) pairs.emplace_back(buffers.keys[i], buffers.items[i]);
    std::stable_sort(pairs.begin(), pairs.end(), [&](const auto& x, const auto& y) {
      return (x.first & bits) >> begin_bit < (y.first & bits) >> begin_bit;
    });
    std::swap(buffers.keys, buffers.other_keys);
    std::swap(buffers.items, buffers.other_items);
    for (std::int64_t i = 0; i < n; ++i) {
      buffers.keys[i] = pairs[static_cast<std::size_t>(i)].first;
      buffers.items[i] = pairs[static_cast<std::size_t>(i)].second;
    }
  }
  template <class T>
  void sum(T* x, std::int64_t n) {
    T before{};
    for (std::int64_t i = 0; i < n; ++i) before += std::exchange(x[i], before);
  }
  void compose(runtime::cuda::RowMap* maps, std::int64_t n) {
    for (std::int64_t i = 1; i < n; ++i) maps[i] = runtime::cuda::ComposeRowMaps{}(maps[i - 1], maps[i]);
  }
  void clear(void* x, std::size_t bytes) {
    if (bytes > 0) std::memset(x, 0, bytes);
  }
  void fill(void* x, std::size_t bytes) {
    if (bytes > 0) std::memset(x, 0xFF, bytes);
  }
  void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  template <class T>
  void upload(T* to, const T* host, std::int64_t n) {
    copy(to, host, static_cast<std::size_t>(n) * sizeof(T));
  }
  template <class T>
  void download(T* host, const T* x, std::int64_t n) {
    copy(host, x, static_cast<std::size_t>(n) * sizeof(T));
  }
  /// Allocates memory filled with garbage, so that uninitialized reads are detected.
  Result<std::shared_ptr<std::byte>> allocate(std::size_t bytes, const char*) {
    std::shared_ptr<std::byte> memory(
        static_cast<std::byte*>(std::aligned_alloc(256, (bytes + 256) / 256 * 256)), std::free);
    std::memset(memory.get(), 0xA5, bytes);
    return memory;
  }
  Result<std::shared_ptr<std::byte>> work(std::size_t bytes, const char* what) {
    return allocate(bytes, what);
  }
  void wait() {}
  [[nodiscard]] Status status() const { return {}; }
  Result<runtime::cuda::DeviceFormat> finish(runtime::cuda::DeviceFormat&& format) {
    return std::move(format);
  }

 private:
  template <class Step, int... phase>
  void run_phases(const Step& step, std::int64_t block, std::int64_t round, typename Step::Shared& shared,
                  std::integer_sequence<int, phase...>) {
    const auto run_phase = [&](auto which) {
      for (int thread = 0; thread < Step::kThreads; ++thread)
        step(which, {block, round, backwards_ ? Step::kThreads - 1 - thread : thread}, shared);
    };
    (run_phase(runtime::cuda::Phase<phase>{}), ...);
  }

  bool backwards_;
};

}  // namespace sptile::test
