// Walks the units of a chunk for SDDMM: finds out which entries a row has and where their numbers stand, and
// forms their dot products. Compiled once per instruction set.
#pragma once

#include "runtime/spmm/cpu_kernels.hpp"
#include "runtime/spmm/dot_kernel.hpp"
#include "runtime/spmm/row_kernel.hpp"
#include "runtime/spmm/values.hpp"
#include "runtime/spmm/walk.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// Type of Positions: every position of a matrix fits.
using Position = std::int64_t;

/// The values of A by their position in the packed order, whatever their type and in however many arrays.
template <class Acc>
class PackedValues {
 public:
  explicit PackedValues(const SddmmTask& task) {
    if (!task.scaled || task.values == DType::none) return;
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

  /// 1 when dot products are not scaled.
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

/// Samples X Y^T at the entries of units, as a decoder of Positions yields them.
template <class D>
class Sample {
 public:
  Sample(const SddmmTask& task, const Chunk& chunk) : task_(task), chunk_(chunk), values_(task) {}

  template <class Decoder>
  void walk(std::int64_t first, std::int64_t last) const {
    Decoder decoder(task_);
    for (std::int64_t unit = first; unit < last; ++unit) {
      decoder.open(unit);
      for (int g = 0; g < decoder.groups(); ++g) {
        decoder.prepare(g);
        for (int r = 0; r < decoder.rows(); ++r) sample_row(decoder.row_id(r), decoder.row(r));
      }
    }
  }

 private:
  using Acc = Accumulator<D>;

  /// Takes the chunk's share of the entries of a row. Every entry is worth n products, so a chunk of a part
  /// of the columns is here the same part of the entries: no sum is ever split.
  void sample_row(std::int64_t row, const Entries<Position>& entries) const {
    const std::int64_t begin = entries.count * chunk_.first_col / task_.n,
                       end = entries.count * chunk_.last_col / task_.n;
    if (begin == end) return;
    const D* const x = static_cast<const D*>(task_.x) + original_row(task_, row) * task_.ldx;
    for (std::int64_t k = begin; k < end; k += kDots) {
      const D* y[kDots];
      Acc dots[kDots];
      const int count = end - k < kDots ? static_cast<int>(end - k) : kDots;
      for (int j = 0; j < count; ++j) y[j] = static_cast<const D*>(task_.y) + entries.col[k + j] * task_.ldy;
      dot_rows(x, y, count, task_.n, dots);
      for (int j = 0; j < count; ++j) write(entries.value[k + j], dots[j]);
    }
  }

  void write(Position position, Acc dot) const {
    D* const out = static_cast<D*>(task_.out) + position;
    Acc number = static_cast<Acc>(task_.alpha) * dot * values_[position];
    if (task_.beta != 0) number += static_cast<Acc>(task_.beta) * load<1>(out);
    store<1>(out, number);
  }

  const SddmmTask& task_;
  const Chunk& chunk_;
  const PackedValues<Acc> values_;
};

/// The kernel of one format for dense type D.
template <class F, class D>
void sample_chunk(const MatrixTask& matrix, const Chunk& chunk) noexcept {
  const auto& task = static_cast<const SddmmTask&>(matrix);
  F::template walk_units<Positions, Position>(task, chunk, Sample<D>(task, chunk));
}

}  // namespace sptile::runtime::SPTILE_ISA
