// The memory of a converted matrix, and the memory that a conversion works in.
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

// Conversions are written once for everything that can run their steps, a Run:
//   run.each(n, step)       calls step(i) for i from 0 to n - 1, in any order and at once
//   run.blocks(n, step)     calls step(Phase<p>{}, {block, round, thread}, shared) for n blocks of
//                           Step::kThreads threads: for each of step.rounds(block) rounds, phase after phase,
//                           in a phase for all threads at once; shared is a Step::Shared of the block
//   run.sort(buffers, n, begin_bit, end_bit)  sorts by these bits, keeping the order of equals
//   run.sum(x, n)           replaces each of n numbers by the sum of those in front of it
//   run.compose(maps, n)    see RowMap; inclusive
//   run.clear(x, bytes), run.fill(x, bytes)  with zeros, with ones
//   run.copy(to, from, bytes), run.fetch(host, x, count), which waits
//   run.bring(to, host, count)  copies from pageable host memory, which may change when this returns
//   run.allocate(bytes, what)  memory that outlives the run
//   run.work(bytes, what)   memory for steps that come later; may go when they were called
//   run.status()            the first thing that went wrong; what comes after that does nothing
//   run.finish(format)      waits, then gives the format, or what went wrong
// One runs on a device (cuda_run.cuh); another on the host, for tests.

/// Room that a conversion works in: Parts is a struct with place(Arena&, sizes...).
template <class Parts>
struct Room : Parts {
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

/// Clears what stands behind arrays, up to a multiple of Arena::kAlignment.
struct ClearTails {
  static constexpr std::int64_t kBytes = static_cast<std::int64_t>(Arena::kAlignment);

  std::byte* ends[formats::kMaxArrays] = {};
  std::int64_t bytes[formats::kMaxArrays] = {};

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    if (i % kBytes < bytes[i / kBytes]) ends[i / kBytes][i % kBytes] = std::byte{0};
  }
};

/// A number in device memory, of 32 or 64 bits, without a sign.
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
struct NumbersRoom {
  std::uint64_t* numbers = nullptr;

  void place(Arena& arena) { arena.take(numbers, kCount); }
};

/// Fetches numbers that stand apart; waits once, which a fetch of each would do as often.
template <class Run, int kCount>
Result<std::array<std::int64_t, kCount>> fetch_numbers(Run& run, const Number (&numbers)[kCount]) {
  Room<NumbersRoom<kCount>> room;
  if (Status s = room.make(run); !s) return tl::unexpected(s.error());
  CollectNumbers<kCount> collect{{}, room.numbers};
  std::copy_n(numbers, kCount, collect.numbers);
  run.each(kCount, collect);
  std::array<std::uint64_t, kCount> fetched{};
  run.fetch(fetched.data(), room.numbers, kCount);
  if (Status s = run.status(); !s) return tl::unexpected(s.error());
  std::array<std::int64_t, kCount> result{};
  std::copy(fetched.begin(), fetched.end(), result.begin());
  return result;
}

/// Allocates the arrays of a format, in their order; what stands behind them is cleared.
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

/// An array of a format that is being made.
template <class T>
T* array_of(const DeviceFormat& format, formats::ArrayIndex array) {
  return static_cast<T*>(const_cast<void*>(format.view.array(array).data));
}

}  // namespace sptile::runtime::cuda
