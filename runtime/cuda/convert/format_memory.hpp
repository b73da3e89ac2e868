// Memory of a converted matrix, and workspace of conversions.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <vector>

#include "runtime/cuda/convert/arena.hpp"
#include "runtime/cuda/device/qualifiers.hpp"
#include "runtime/cuda/device_format.hpp"

namespace sptile::runtime::cuda {

// Conversions are templates over a Run, which executes their steps:
//   run.each(n, step) calls step(i) for i in [0, n), concurrently, in any order
//   run.blocks(n, step) calls step(Phase<p>{}, {block, round, thread}, shared) for n blocks of
//                           Step::kThreads threads, in step.rounds(block) rounds of Step::kPhases phases;
//                           threads run a phase concurrently; shared is the block's Step::Shared
//   run.teams(n, step) calls step(block, team, shared) in n blocks; see team.hpp
//   run.sort(buffers, n, begin_bit, end_bit) stable sort by these bits
//   run.sum(x, n) exclusive prefix sum, in place
//   run.compose(maps, n) inclusive prefix composition; see RowMap
//   run.clear(x, bytes), run.fill(x, bytes) sets all bits to zero, to one
//   run.copy(to, from, bytes), run.download(host, x, count); download synchronizes
//   run.upload(to, host, count) copies from pageable host memory, which may change afterwards
//   run.allocate(bytes, what) memory that outlives the run
//   run.work(bytes, what) workspace for later steps; may be released after they were enqueued
//   run.status() the first error; later calls then do nothing
//   run.finish(format) synchronizes and returns the format or the error
// One implementation runs on a device (cuda_run.cuh), the other on the host, for tests.

/// Workspace of a conversion: Parts is a struct with place(Arena&, sizes...).
template <class Parts>
struct Workspace : Parts {
  std::shared_ptr<std::byte> memory;

  template <class Run, class... Sizes>
  Status make(Run& run, const Sizes&... sizes) {
    Arena count;
    Parts::place(count, sizes...);
    auto made = run.work(count.bytes(), "converting");
    if (!made) return tl::unexpected(made.error());
    memory = std::move(*made);
    Arena arena(memory.get());
    Parts::place(arena, sizes...);
    return {};
  }
};

/// Clears the padding after arrays, up to a multiple of Arena::kAlignment.
struct ClearTails {
  static constexpr std::int64_t kBytes = static_cast<std::int64_t>(Arena::kAlignment);

  std::byte* ends[formats::kMaxArrays] = {};
  std::int64_t bytes[formats::kMaxArrays] = {};

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    if (i % kBytes < bytes[i / kBytes]) ends[i / kBytes][i % kBytes] = std::byte{0};
  }
};

/// An unsigned 32- or 64-bit number in device memory.
struct Number {
  const void* at = nullptr;
  bool wide = false;

  Number() = default;
  Number(const std::uint32_t* number) : at(number) {}              // NOLINT(google-explicit-constructor)
  Number(const std::uint64_t* number) : at(number), wide(true) {}  // NOLINT(google-explicit-constructor)
};

template <int kCount>
struct CollectNumbers {
  Number numbers[kCount];
  std::uint64_t* to;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    to[i] = numbers[i].wide ? *static_cast<const std::uint64_t*>(numbers[i].at)
                            : *static_cast<const std::uint32_t*>(numbers[i].at);
  }
};

template <int kCount>
struct NumbersWorkspace {
  std::uint64_t* numbers = nullptr;

  void place(Arena& arena) { arena.take(numbers, kCount); }
};

/// Fetches separate numbers with a single synchronization.
template <class Run, int kCount>
Result<std::array<std::int64_t, kCount>> download_numbers(Run& run, const Number (&numbers)[kCount]) {
  Workspace<NumbersWorkspace<kCount>> workspace;
  if (Status s = workspace.make(run); !s) return tl::unexpected(s.error());
  CollectNumbers<kCount> collect{{}, workspace.numbers};
  std::copy_n(numbers, kCount, collect.numbers);
  run.each(kCount, collect);
  std::array<std::uint64_t, kCount> downloaded{};
  run.download(downloaded.data(), workspace.numbers, kCount);
  if (Status s = run.status(); !s) return tl::unexpected(s.error());
  std::array<std::int64_t, kCount> result{};
  std::copy(downloaded.begin(), downloaded.end(), result.begin());
  return result;
}

/// Allocates the arrays of a format, in their order, and clears the padding after them.
template <class Run>
Result<DeviceFormat> make_format(Run& run, const formats::FormatLayout& layout, const DeviceCsr& csr,
                                 std::initializer_list<std::int64_t> sizes) {
  DeviceFormat format;
  format.view = {&layout, csr.rows, csr.cols, csr.nnz, {}};
  std::size_t total = 0, i = 0;
  std::vector<std::size_t> offsets;
  for (const std::int64_t size : sizes) {
    const formats::ArraySpec& spec = layout.arrays[i];
    const DType dtype = spec.holds_values ? csr.value_dtype : spec.dtype;
    if (dtype != DType::none) format.view.arrays[i] = ArrayView(dtype, nullptr, size);
    offsets.push_back(total);
    total += Arena::padded(static_cast<std::size_t>(format.view.arrays[i].bytes()));
    ++i;
  }
  const std::string what = std::string(layout.name) + " on the device";
  auto memory = run.allocate(total, what.c_str());
  if (!memory) return tl::unexpected(memory.error());
  format.memory = std::move(*memory);
  format.bytes = total;
  format.ordinal = csr.ordinal;
  ClearTails tails;
  for (i = 0; i < offsets.size(); ++i) {
    ArrayView& array = format.view.arrays[i];
    if (array.size == 0) continue;
    std::byte* const data = format.memory.get() + offsets[i];
    array.data = data;
    const auto bytes = static_cast<std::size_t>(array.bytes());
    tails.ends[i] = data + bytes;
    tails.bytes[i] = static_cast<std::int64_t>(Arena::padded(bytes) - bytes);
  }
  run.each(total > 0 ? ClearTails::kBytes * std::ssize(offsets) : 0, tails);
  return format;
}

/// Returns an array of a format under construction.
template <class T>
T* array_of(const DeviceFormat& format, formats::ArrayIndex array) {
  return static_cast<T*>(const_cast<void*>(format.view.array(array).data));
}

}  // namespace sptile::runtime::cuda
