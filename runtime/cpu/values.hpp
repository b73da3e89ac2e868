// Conversion of stored values to the accumulator type. Compiled once per instruction set.
#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/cpu/lanes.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// Value type of a pattern: nothing is stored, every entry is 1.
struct Ones {};

/// Value type that yields positions instead of values: each entry yields its position in packed order, the
/// concatenated value arrays.
struct Positions {};

/// Copies the last values of an array one by one. Not inlined, because it is rare.
template <class V, class A>
[[gnu::noinline]] void copy_last_values(const V* from, int count, A* to) {
  for (int i = 0; i < count; ++i) store<1>(to + i, load<1>(from + i));
}

/// Writes the next `count` <= 8 values to `to`, which must hold 8. Reads 8 at once if the array, which ends
/// at `end`, has them; excess values are overwritten later or never read.
template <class V, class A>
[[gnu::always_inline]] inline void copy_values(const V* from, const V* end, int count, A* to) {
  if (end - from >= 8)
    store<8>(to, load<8>(from));
  else
    copy_last_values(from, count, to);
}

/// A value array of a matrix, read as type V.
template <class V>
class ValueArray {
 public:
  /// Binds the array; `packed` is the position of its first value in packed order.
  void bind(const ArrayView& values, std::int64_t packed = 0) {
    static_cast<void>(packed);
    begin_ = static_cast<const V*>(values.data);
    end_ = begin_ + values.size;
  }
  /// Writes `count` <= 8 values from position `from` to `to`, which must hold 8.
  template <class A>
  [[gnu::always_inline]] void copy_few(std::int64_t from, int count, A* to) const {
    copy_values(begin_ + from, end_, count, to);
  }
  /// Writes any number of values.
  template <class A>
  void copy(std::int64_t from, std::int64_t count, A* to) const {
    constexpr int kStep = kVectorBytes / static_cast<int>(sizeof(A));
    const V* const source = begin_ + from;
    std::int64_t k = 0;
    for (; k + kStep <= count; k += kStep) store<kStep>(to + k, load<kStep>(source + k));
    for (; k < count; ++k) store<1>(to + k, load<1>(source + k));
  }
  [[nodiscard]] const V* at(std::int64_t position) const { return begin_ + position; }

 private:
  const V* begin_ = nullptr;
  const V* end_ = nullptr;  ///< end of the array, beyond which reads of eight must not go
};

/// Copies nothing: fill_constant has written the ones.
template <>
class ValueArray<Ones> {
 public:
  void bind(const ArrayView& values, std::int64_t packed = 0) {
    static_cast<void>(values);
    static_cast<void>(packed);
  }
  template <class A>
  void copy_few(std::int64_t, int, A*) const {}
  template <class A>
  void copy(std::int64_t, std::int64_t, A*) const {}
};

template <>
class ValueArray<Positions> {
 public:
  void bind(const ArrayView& values, std::int64_t packed = 0) {
    static_cast<void>(values);
    packed_ = packed;
  }
  template <class A>
  [[gnu::always_inline]] void copy_few(std::int64_t from, int, A* to) const {
    for (int i = 0; i < 8; ++i) to[i] = packed_ + from + i;
  }
  template <class A>
  void copy(std::int64_t from, std::int64_t count, A* to) const {
    for (std::int64_t i = 0; i < count; ++i) to[i] = packed_ + from + i;
  }

 private:
  std::int64_t packed_ = 0;
};

/// Initializes the destination of values that ValueArray<V> does not copy.
template <class V, class A, int N>
void fill_constant(A (&storage)[N]) {
  if constexpr (std::is_same_v<V, Ones>)
    for (A& x : storage) x = A{1};
}

}  // namespace sptile::runtime::SPTILE_ISA
