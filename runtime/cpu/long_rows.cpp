#include "runtime/cpu/long_rows.hpp"

#include <algorithm>
#include <cstddef>

#include "formats/core/half.hpp"
#include "formats/layout/csr.hpp"
#include "runtime/operation/spmm.hpp"

namespace sptile::runtime {
namespace {

constexpr std::int64_t kPiece = 1 << 13;  ///< minimum nonzeros of a segment, about 3 us
constexpr std::int64_t kPiecesOfMatrix = 256;

float widen(float x) { return x; }
double widen(double x) { return x; }
float widen(Half x) { return to_float(x); }
float widen(BFloat16 x) { return to_float(x); }
void narrow(float x, float& to) { to = x; }
void narrow(double x, double& to) { to = x; }
void narrow(float x, Half& to) { to = to_half(x); }
void narrow(float x, BFloat16& to) { to = to_bfloat16(x); }

template <class R>
void write(const Task& task, const std::vector<RowPiece>& pieces, const PieceSums& all) {
  using Sum = decltype(widen(R{}));
  const auto* sums = reinterpret_cast<const Sum*>(all.numbers);
  const Operand& c = task.operands.dense[kSpmmC];
  const auto alpha = static_cast<Sum>(task.operands.alpha), beta = static_cast<Sum>(task.operands.beta);
  for (std::size_t first = 0, last = 0; first < pieces.size(); first = last) {
    const std::int64_t row = pieces[first].row;
    while (last < pieces.size() && pieces[last].row == row) ++last;
    R* const to = static_cast<R*>(c.data) + (task.row_order != nullptr ? task.row_order[row] : row) * c.ld;
    for (std::int64_t j = 0; j < task.n; ++j) {
      Sum sum = 0;
      for (std::size_t p = first; p < last; ++p) sum += sums[static_cast<std::int64_t>(p) * task.n + j];
      sum *= alpha;
      if (beta != 0) sum += beta * widen(to[j]);
      narrow(sum, to[j]);
    }
  }
}

}  // namespace

std::vector<RowPiece> split_long_rows(const formats::CsrView& csr) {
  std::vector<RowPiece> pieces;
  const auto nnz = static_cast<std::int64_t>(csr.col_idx.size());
  const std::int64_t max = std::max(kPiece, nnz / kPiecesOfMatrix);
  for (std::int64_t row = 0; row < csr.rows; ++row) {
    const std::int64_t first = csr.row_ptr[static_cast<std::size_t>(row)],
                       count = csr.row_ptr[static_cast<std::size_t>(row) + 1] - first;
    if (count < 2 * max) continue;
    const std::int64_t parts = count / max;
    for (std::int64_t i = 0; i < parts; ++i)
      pieces.push_back({row, {first + count * i / parts, first + count * (i + 1) / parts}});
  }
  return pieces;
}

std::vector<Chunk> without_rows(const std::vector<Chunk>& chunks, const std::vector<RowPiece>& pieces) {
  std::vector<Chunk> rest;
  for (Chunk chunk : chunks) {
    const auto before = [](const RowPiece& piece, std::int64_t row) { return piece.row < row; };
    for (auto piece = std::lower_bound(pieces.begin(), pieces.end(), chunk.first, before);
         piece != pieces.end() && piece->row < chunk.last; ++piece) {
      if (chunk.first < piece->row)
        rest.push_back({chunk.first, piece->row, chunk.first_col, chunk.last_col});
      chunk.first = piece->row + 1;
    }
    if (chunk.first < chunk.last) rest.push_back(chunk);
  }
  return rest;
}

void sum_piece(const Task& task, ChunkFn run, const RowPiece& piece, void* sums) {
  Task alone = task;
  alone.format.rows = 1;
  alone.format.arrays[static_cast<std::size_t>(formats::CsrArray::row_ptr)].data = piece.entries;
  alone.format.arrays[static_cast<std::size_t>(formats::CsrArray::row_ptr)].size = 2;
  alone.row_order = nullptr;
  alone.operands.alpha = 1;
  alone.operands.beta = 0;
  alone.operands.dense[kSpmmC] = {.data = sums, .ld = task.n};
  run(alone, {0, 1, 0, task.n});
}

void write_long_rows(const Task& task, DType result, const std::vector<RowPiece>& pieces,
                     const PieceSums& sums) {
  using Write = void (*)(const Task&, const std::vector<RowPiece>&, const PieceSums&);
  struct Row {
    DType result;
    Write write;
  };
  static constexpr Row kWrite[] = {{DType::f16, write<Half>},
                                   {DType::bf16, write<BFloat16>},
                                   {DType::f32, write<float>},
                                   {DType::f64, write<double>}};
  for (const Row& row : kWrite)
    if (row.result == result) row.write(task, pieces, sums);
}

}  // namespace sptile::runtime
