// Iteration over the units of a chunk: decode a row, multiply it. Compiled once per instruction set.
//
// A decoder converts one unit (a window of up to kRows rows) to rows of entries:
//   using Acc;                       accumulator type of the values that it yields
//   static constexpr int kRows;      maximum number of rows of a unit
//   void open(unit)                  starts a unit
//   int rows()                       number of rows of the unit
//   std::int64_t row_id(r)           row of the matrix, in the format's order
//   int groups()                     number of groups: units whose tiles exceed the scratch have several
//   void prepare(g)                  starts a group; called in ascending order from 0
//   Entries<Acc> row(r)              entries of row r in the group; called once per row, in order
#pragma once

#include "runtime/cpu/panel.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// Kernel of a format whose units are windows.
template <template <class, class> class Decoder>
struct WindowKernel {
  template <class V, class A, class Walker>
  static void walk_units(const Task&, const Chunk& chunk, const Walker& walker) {
    walker.template walk<Decoder<V, A>>(chunk.first, chunk.last);
  }
};

/// Sums of each row of a unit between its groups.
template <class Acc, int H>
struct alignas(kVectorBytes) Carry {
  Acc sums[H][kBlockColumns<Acc>];
};

/// Multiplies a unit of one group. Each row is decoded once and multiplied by all column blocks.
template <class Decoder>
void multiply_unit(Decoder& decoder, const Panel<typename Decoder::Acc>& panel, std::byte* const* c_rows) {
  decoder.prepare(0);
  for (int r = 0; r < decoder.rows(); ++r) {
    const auto entries = decoder.row(r);
    for (int i = 0; i < panel.count; ++i)
      panel.blocks[i].fn(panel.blocks[i], entries, c_rows[r], nullptr, nullptr);
  }
}

/// Multiplies a unit of several groups. A carry buffer keeps the sums, so they are added in the same order.
template <class Decoder>
void multiply_long_unit(Decoder& decoder, const Panel<typename Decoder::Acc>& panel,
                        std::byte* const* c_rows) {
  Carry<typename Decoder::Acc, Decoder::kRows> carry;
  for (int i = 0; i < panel.count; ++i) {
    for (int g = 0; g < decoder.groups(); ++g) {
      decoder.prepare(g);
      const bool first = g == 0, last = g + 1 == decoder.groups();
      for (int r = 0; r < decoder.rows(); ++r)
        panel.blocks[i].fn(panel.blocks[i], decoder.row(r), c_rows[r], first ? nullptr : carry.sums[r],
                           last ? nullptr : carry.sums[r]);
    }
  }
}

/// Returns the row of the original matrix for a row of the format.
inline std::int64_t original_row(const Task& task, std::int64_t row) {
  return task.row_order != nullptr ? task.row_order[row] : row;
}

/// Multiplies the rows that a decoder yields with a panel.
template <class Acc>
struct Multiply {
  const Task& task;
  std::byte* c;
  std::int64_t c_row_bytes;
  const Panel<Acc>& panel;

  template <class Decoder>
  void walk(std::int64_t first, std::int64_t last) const {
    Decoder decoder(task);
    std::byte* c_rows[Decoder::kRows];
    for (std::int64_t unit = first; unit < last; ++unit) {
      decoder.open(unit);
      for (int r = 0; r < decoder.rows(); ++r)
        c_rows[r] = c + original_row(task, decoder.row_id(r)) * c_row_bytes;
      if (decoder.groups() == 1)
        multiply_unit(decoder, panel, c_rows);
      else
        multiply_long_unit(decoder, panel, c_rows);
    }
  }
};

/// Element sizes of B and C, which are all that the iteration over a format needs of their types.
template <class Acc>
struct DenseColumns {
  void (*cut)(const Task&, std::int64_t first, std::int64_t last, Panel<Acc>&);
  std::int64_t result_bytes;  ///< bytes of an element of C
};

template <class F, class V, class Acc>
[[gnu::noinline]] void multiply_chunk(const Task& task, const Chunk& chunk,
                                      const DenseColumns<Acc>& columns) noexcept {
  const Operand& c = task.operands.dense[kSpmmC];
  const std::int64_t end = chunk.last_col < task.n ? chunk.last_col : task.n;
  Panel<Acc> panel;
  for (std::int64_t col = chunk.first_col; col < end; col += Panel<Acc>::kMaxColumns) {
    const std::int64_t rest = end - col;
    columns.cut(task, col, col + (rest < Panel<Acc>::kMaxColumns ? rest : Panel<Acc>::kMaxColumns), panel);
    const Multiply<Acc> multiply = {task, static_cast<std::byte*>(c.data), c.ld * columns.result_bytes,
                                    panel};
    F::template walk_units<V, Acc>(task, chunk, multiply);
  }
}

/// Kernel of one format: F::walk_units<V, Acc> for values of type V, a B of type D and a C of type R.
template <class F, class V, class D, class R = D>
void run_chunk(const Task& task, const Chunk& chunk) noexcept {
  using Acc = Accumulator<D>;
  multiply_chunk<F, V, Acc>(task, chunk, DenseColumns<Acc>{cut_columns<D, R>, sizeof(R)});
}

}  // namespace sptile::runtime::SPTILE_ISA
