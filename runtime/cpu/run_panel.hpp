// SpMM of csr if values, B and C have the accumulator type: columns in blocks whose sums fit into registers,
// rows in ranges. Compiled once per instruction set.
#pragma once

#include "formats/layout/csr.hpp"
#include "runtime/cpu/row_run.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// The blocks of a range of columns.
template <class D>
struct RunPanel {
  static constexpr int kMaxBlocks = 16;
  static constexpr std::int64_t kMaxColumns = std::int64_t{kMaxBlocks - 1} * kRunVectors * kLanes<D>;
  RunBlock<D> blocks[kMaxBlocks];
  int count = 0;
  std::int64_t lead = 0;  ///< lanes of the first vector before the first column
};

/// Minimum bytes of a B whose rows are far: larger than any L2.
inline constexpr std::int64_t kFarBytes = std::int64_t{1} << 22;

/// Divides columns [first, last) of the task, at most kMaxColumns, into blocks with nearly equal numbers of
/// vectors. Without masks, a range narrower than a vector uses the widest vectors that fit.
template <class D, int L = kLanes<D>>
void cut_rows(const Task& task, std::int64_t first, std::int64_t last, RunPanel<D>& panel) {
  if constexpr (!kMasksLanes && L > 1)
    if (last - first < L) return cut_rows<D, L / 2>(task, first, last, panel);
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(D));
  const Operand& b = task.operands.dense[kSpmmB];
  const D* const b_first = static_cast<const D*>(b.data) + first;
  if (kMasksLanes && b.ld * kBytes % kVectorBytes == 0)
    panel.lead = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(b_first) % kVectorBytes) / kBytes;
  const std::int64_t width = panel.lead + last - first, vectors = (width + L - 1) / L;
  panel.count = static_cast<int>((vectors + kRunVectors - 1) / kRunVectors);
  const bool far = task.format.cols * b.ld * kBytes >= kFarBytes;
  for (int i = 0; i < panel.count; ++i) {
    const std::int64_t begin = vectors * i / panel.count, end = vectors * (i + 1) / panel.count;
    RunBlock<D>& block = panel.blocks[i];
    block.fn = rows_of<D, L>(end - begin, far);
    block.b = reinterpret_cast<const std::byte*>(b_first) + (begin * L - panel.lead) * kBytes;
    block.row_bytes = b.ld * kBytes;
    block.c_offset = (first + begin * L - panel.lead) * kBytes;
    block.last = (end - begin - 1) * L;
    block.alpha = static_cast<D>(task.operands.alpha);
    block.beta = static_cast<D>(task.operands.beta);
    block.chains = task.n * kBytes <= kMaxChainBytes;
  }
  const std::int64_t outside = vectors * L - width;
  RunBlock<D>&front = panel.blocks[0], &back = panel.blocks[panel.count - 1];
  if constexpr (kMasksLanes) {
    front.first_lanes = static_cast<LaneBits>(kAllLanes << panel.lead);
    back.last_lanes = static_cast<LaneBits>((1u << (L - outside)) - 1);
    if (back.last == 0) back.first_lanes &= back.last_lanes;  // a single vector is both first and last
  } else {
    back.last -= outside;
  }
}

/// Minimum bytes of a C that is stored with non-temporal stores: it would be evicted before it is read.
inline constexpr std::int64_t kStreamedBytes = std::int64_t{1} << 25;
/// Rows per range, whose entries stay in the cache for the next block of columns.
inline constexpr std::int64_t kRowsOfRun = 64;

/// Returns whether columns [first, last) of C can and should be stored with non-temporal stores: the panel's
/// vectors are aligned for it and none is partly outside.
template <class D>
bool is_streamed(const Task& task, const RunPanel<D>& panel, std::int64_t first, std::int64_t last) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(D));
  const Operand& c = task.operands.dense[kSpmmC];
  const std::int64_t row_bytes = c.ld * kBytes, lead_bytes = panel.lead * kBytes,
                     bytes = (last - first) * kBytes;
  if (task.operands.beta != 0 || task.format.rows * row_bytes < kStreamedBytes) return false;
  const auto start = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(c.data)) + first * kBytes;
  return ((start - lead_bytes) | row_bytes) % kStreamPlace == 0 &&
         (lead_bytes | bytes) % (kMasksLanes ? kStreamPart : kVectorBytes) == 0;
}

/// Kernel of `csr` for values of type D or ones, and B and C of type D.
template <class D>
void run_rows(const Task& task, const Chunk& chunk) noexcept {
  static constexpr D kOne = 1;
  const formats::CsrView csr = formats::as_csr(task.format);
  const bool pattern = csr.values.data == nullptr;
  RowRun<D> run = {.row_ptr = csr.row_ptr.data(),
                   .col = csr.col_idx.data(),
                   .nnz = task.format.nnz,
                   .value = pattern ? &kOne : static_cast<const D*>(csr.values.data),
                   .value_step = pattern ? 0 : 1,
                   .order = task.row_order,
                   .c = static_cast<std::byte*>(task.operands.dense[kSpmmC].data),
                   .c_row_bytes = task.operands.dense[kSpmmC].ld * static_cast<std::int64_t>(sizeof(D))};
  const std::int64_t end = chunk.last_col < task.n ? chunk.last_col : task.n;
  constexpr std::int64_t kMax = RunPanel<D>::kMaxColumns;
  for (std::int64_t col = chunk.first_col, next = 0; col < end; col = next) {
    next = end - col < kMax ? end : col + kMax;
    RunPanel<D> panel;
    cut_rows(task, col, next, panel);
    run.streamed = is_streamed(task, panel, col, next);
    // Non-temporal stores write row by row, since half a cache line costs more than a full one.
    const std::int64_t step = panel.count == 1 ? chunk.last - chunk.first : run.streamed ? 1 : kRowsOfRun;
    for (run.first = chunk.first; run.first < chunk.last; run.first = run.last) {
      run.last = chunk.last - run.first < step ? chunk.last : run.first + step;
      for (int i = 0; i < panel.count; ++i) panel.blocks[i].fn(panel.blocks[i], run);
    }
    if (run.streamed) end_streams();
  }
}

}  // namespace sptile::runtime::SPTILE_ISA
