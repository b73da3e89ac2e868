// SDDMM over the units of a chunk: determines the entries of each row and their output positions, and
// computes their dot products. Compiled once per instruction set.
#pragma once

#include "runtime/cpu/cpu_kernels.hpp"
#include "runtime/cpu/dot_kernel.hpp"
#include "runtime/cpu/row_kernel.hpp"
#include "runtime/cpu/values.hpp"
#include "runtime/cpu/walk.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// Type of Positions, which represents every position of a matrix.
using Position = std::int64_t;

/// Values of A by position in packed order, for any value type and number of arrays.
template <class Acc>
class PackedValues {
 public:
  PackedValues(const Task& task, bool requested) {
    if (!requested || task.values == DType::none) return;
    const auto& specs = task.format.layout->arrays;
    const formats::ArraySpec* const spec = specs.data();
    const auto count = static_cast<int>(specs.size());
    for (int i = count - 1; i >= 0; --i)
      if (spec[i].holds_values) {
        second_ = first_;
        first_ = static_cast<const std::byte*>(task.format.arrays.data()[i].data);
        first_size_ = task.format.arrays.data()[i].size;
      }
    read_ = reader_of(task.values);
  }

  /// Returns 1 if values are not stored or not requested.
  [[nodiscard]] Acc operator[](Position position) const {
    if (read_ == nullptr) return 1;
    return position < first_size_ ? read_(first_, position) : read_(second_, position - first_size_);
  }

 private:
  using Reader = Acc (*)(const std::byte* array, std::int64_t i);

  template <class V>
  static Acc read(const std::byte* array, std::int64_t i) {
    return static_cast<Acc>(load<1>(reinterpret_cast<const V*>(array) + i));
  }
  static Reader reader_of(DType values) {
    struct Row {
      DType values;
      Reader read;
    };
    static constexpr Row kReaders[] = {{DType::f16, read<Half>},
                                       {DType::bf16, read<BFloat16>},
                                       {DType::f32, read<float>},
                                       {DType::f64, read<double>}};
    for (const Row& row : kReaders)
      if (row.values == values) return row.read;
    return nullptr;
  }

  const std::byte* first_ = nullptr;
  const std::byte* second_ = nullptr;
  std::int64_t first_size_ = 0;
  Reader read_ = nullptr;
};

/// Returns the output position of an entry.
inline Position list_place(const Task& task, Position packed) {
  return task.list_order != nullptr ? task.list_order[packed] : packed;
}

/// Writes the results of some entries of one row, of type R for X and Y of type D.
template <class D, class R>
void sample_row(const Task& task, std::int64_t row, const Entries<Position>& entries) {
  using Acc = Accumulator<D>;
  const PackedValues<Acc> values(task, task.operands.scaled);
  const auto alpha = static_cast<Acc>(task.operands.alpha), beta = static_cast<Acc>(task.operands.beta);
  const Operand &x_rows = task.operands.dense[kSddmmX], &y_rows = task.operands.dense[kSddmmY];
  const D* const x = static_cast<const D*>(x_rows.data) + row * x_rows.ld;
  for (std::int64_t k = 0; k < entries.count; k += kDots) {
    const D* y[kDots];
    Acc dots[kDots];
    const int count = entries.count - k < kDots ? static_cast<int>(entries.count - k) : kDots;
    for (int j = 0; j < count; ++j)
      y[j] = static_cast<const D*>(y_rows.data) + entries.col[k + j] * y_rows.ld;
    dot_rows(x, y, count, task.n, dots);
    for (int j = 0; j < count; ++j) {
      const Position position = entries.value[k + j];
      R* const out = static_cast<R*>(task.operands.dense[kSddmmOut].data) + list_place(task, position);
      Acc number = alpha * dots[j] * values[position];
      if (beta != 0) number += beta * load<1>(out);
      store<1>(out, number);
    }
  }
}

/// Samples X Y^T at the entries of units that a decoder of Positions yields. Independent of the types of X
/// and Y, so that each format is instantiated once.
struct Sample {
  const Task& task;
  const Chunk& chunk;
  void (*sample_row)(const Task&, std::int64_t row, const Entries<Position>&);

  /// Computes the chunk's share of the entries of each row. Each entry costs n products, so a fraction of the
  /// columns becomes the same fraction of the entries: no sum is split.
  template <class Decoder>
  void walk(std::int64_t first, std::int64_t last) const {
    Decoder decoder(task);
    for (std::int64_t unit = first; unit < last; ++unit) {
      decoder.open(unit);
      for (int g = 0; g < decoder.groups(); ++g) {
        decoder.prepare(g);
        for (int r = 0; r < decoder.rows(); ++r) {
          const Entries<Position> all = decoder.row(r);
          const std::int64_t begin = all.count * chunk.first_col / task.planned_n,
                             end = all.count * chunk.last_col / task.planned_n;
          if (begin < end)
            sample_row(task, original_row(task, decoder.row_id(r)),
                       {all.col + begin, all.value + begin, end - begin});
        }
      }
    }
  }
};

/// Kernel of one format for X and Y of type D and results of type R.
template <class F, class D, class R = D>
void sample_chunk(const Task& task, const Chunk& chunk) noexcept {
  F::template walk_units<Positions, Position>(task, chunk, Sample{task, chunk, sample_row<D, R>});
}

}  // namespace sptile::runtime::SPTILE_ISA
