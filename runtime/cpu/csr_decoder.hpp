// Decoder of csr rows and of the residual rows of rs_tile: contiguous column ids and values, used in place or
// widened piece by piece. Compiled once per instruction set.
#pragma once

#include <type_traits>

#include "formats/layout/csr.hpp"
#include "runtime/cpu/values.hpp"
#include "runtime/cpu/walk.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// Yields the entries of a row in pieces of kPiece with widened values, or all at once if the values need no
/// widening.
template <class V, class A>
class EntryRun {
 public:
  EntryRun() { fill_constant<V>(values_); }

  /// Starts a row of `count` entries with columns at `col` and values from position `first`.
  void open(const std::int32_t* col, const ValueArray<V>& source, std::int64_t first, std::int64_t count) {
    col_ = col;
    source_ = source;
    first_ = first;
    count_ = count;
  }

  [[nodiscard]] int pieces() const {
    if constexpr (kDirect) return 1;
    return count_ <= kPiece ? 1 : static_cast<int>((count_ + kPiece - 1) / kPiece);
  }

  Entries<A> piece(int i) {
    if constexpr (kDirect) return {col_, source_.at(first_), count_};
    const std::int64_t begin = std::int64_t{i} * kPiece;
    const std::int64_t count = count_ - begin < kPiece ? count_ - begin : kPiece;
    source_.copy(first_ + begin, count, values_);
    return {col_ + begin, values_, count};
  }

 private:
  static constexpr bool kDirect = std::is_same_v<V, A>;
  static constexpr std::int64_t kPiece = kDirect ? 1 : 1024;

  const std::int32_t* col_ = nullptr;
  ValueArray<V> source_;
  std::int64_t first_ = 0, count_ = 0;
  alignas(kVectorBytes) A values_[kPiece];
};

template <class V, class A>
class CsrDecoder {
 public:
  using Acc = A;
  static constexpr int kRows = 1;

  explicit CsrDecoder(const Task& task) {
    const formats::CsrView csr = formats::as_csr(task.format);
    row_ptr_ = csr.row_ptr.data();
    col_ = csr.col_idx.data();
    values_.bind(csr.values);
  }

  void open(std::int64_t row) {
    row_ = row;
    const std::int64_t begin = row_ptr_[row];
    run_.open(col_ + begin, values_, begin, row_ptr_[row + 1] - begin);
  }
  [[nodiscard]] int rows() const { return 1; }
  [[nodiscard]] std::int64_t row_id(int) const { return row_; }
  [[nodiscard]] int groups() const { return run_.pieces(); }
  void prepare(int piece) { piece_ = piece; }
  Entries<A> row(int) { return run_.piece(piece_); }

 private:
  const std::int64_t* row_ptr_ = nullptr;
  const std::int32_t* col_ = nullptr;
  ValueArray<V> values_;
  std::int64_t row_ = 0;
  int piece_ = 0;
  EntryRun<V, A> run_;
};

/// Kernel of `csr`; a unit is a row.
struct CsrKernel {
  template <class V, class A, class Walker>
  static void walk_units(const Task&, const Chunk& chunk, const Walker& walker) {
    walker.template walk<CsrDecoder<V, A>>(chunk.first, chunk.last);
  }
};

}  // namespace sptile::runtime::SPTILE_ISA
