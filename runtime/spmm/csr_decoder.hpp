// Rows of csr, and the residual rows of rs_tile: a run of column ids and values, used where they are or
// widened piece by piece. Compiled once per instruction set.
#pragma once

#include <type_traits>

#include "formats/layout/csr.hpp"
#include "runtime/spmm/values.hpp"
#include "runtime/spmm/walk.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// Yields a run of entries in pieces of kPiece, with widened values; the whole run at once where the values
/// need no widening.
template <class V, class A>
class EntryRun {
 public:
  EntryRun() {
    if constexpr (kConstant)
      for (A& x : values_) x = A{1};
  }

  void open(const std::int32_t* col, const V* value, std::int64_t count) {
    col_ = col;
    value_ = value;
    count_ = count;
  }

  [[nodiscard]] int pieces() const {
    if constexpr (kDirect) return 1;
    return count_ <= kPiece ? 1 : static_cast<int>((count_ + kPiece - 1) / kPiece);
  }

  Entries<A> piece(int i) {
    if constexpr (kDirect) return {col_, value_, count_};
    const std::int64_t begin = std::int64_t{i} * kPiece;
    const std::int64_t count = count_ - begin < kPiece ? count_ - begin : kPiece;
    if constexpr (!kConstant) widen_values(value_ + begin, count);
    return {col_ + begin, values_, count};
  }

 private:
  static constexpr bool kDirect = std::is_same_v<V, A>;
  static constexpr bool kConstant = std::is_same_v<V, Ones>;
  static constexpr std::int64_t kPiece = kDirect ? 1 : 1024;

  void widen_values(const V* from, std::int64_t count) {
    constexpr int kStep = kLanes<A>;
    std::int64_t k = 0;
    for (; k + kStep <= count; k += kStep) store<kStep>(values_ + k, load<kStep>(from + k));
    for (; k < count; ++k) store<1>(values_ + k, load<1>(from + k));
  }

  const std::int32_t* col_ = nullptr;
  const V* value_ = nullptr;
  std::int64_t count_ = 0;
  alignas(kVectorBytes) A values_[kPiece];
};

template <class V, class A>
class CsrDecoder {
 public:
  using Acc = A;
  static constexpr int kRows = 1;

  explicit CsrDecoder(const SpmmTask& task) {
    const formats::CsrView csr = formats::as_csr(task.format);
    row_ptr_ = csr.row_ptr.data();
    col_ = csr.col_idx.data();
    value_ = static_cast<const V*>(csr.values.data);
  }

  void open(std::int64_t row) {
    row_ = row;
    const std::int64_t begin = row_ptr_[row];
    run_.open(col_ + begin, skip(value_, begin), row_ptr_[row + 1] - begin);
  }
  [[nodiscard]] int rows() const { return 1; }
  [[nodiscard]] std::int64_t row_id(int) const { return row_; }
  [[nodiscard]] int groups() const { return run_.pieces(); }
  void prepare(int piece) { piece_ = piece; }
  Entries<A> row(int) { return run_.piece(piece_); }

 private:
  const std::int64_t* row_ptr_ = nullptr;
  const std::int32_t* col_ = nullptr;
  const V* value_ = nullptr;
  std::int64_t row_ = 0;
  int piece_ = 0;
  EntryRun<V, A> run_;
};

/// Kernel of `csr`; a unit is a row.
struct CsrKernel {
  template <class V, class A>
  static void walk_units(const SpmmTask& task, std::int64_t c_row_bytes, const Chunk& chunk,
                         const Panel<A>& panel) {
    walk<CsrDecoder<V, A>>(task, c_row_bytes, chunk.first, chunk.last, panel);
  }
};

}  // namespace sptile::runtime::SPTILE_ISA
