// Decoder of rs_tile: windows of the tensor-core part, residual rows, and empty rows. Compiled once per
// instruction set.
#pragma once

#include "formats/layout/rs_tile.hpp"
#include "runtime/cpu/csr_decoder.hpp"
#include "runtime/cpu/tile_group.hpp"
#include "runtime/cpu/walk.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// A unit is a window. The pieces of a split window and their tiles are consecutive, so the first piece is
/// opened as one long window, and the other pieces have no rows.
template <class V, class A>
class RsWindowDecoder {
 public:
  using Acc = A;
  static constexpr int kRows = 8;

  explicit RsWindowDecoder(const Task& task) : view_(formats::as_rs_tile(task.format)) {
    group_.bind(view_.values);
    windows_ = static_cast<std::int64_t>(view_.row_window_id.size());
  }

  void open(std::int64_t window) {
    const std::int32_t* id = view_.row_window_id.data();
    first_row_ = id[window];
    rows_ = 0;
    if (window > 0 && id[window - 1] == id[window]) return;
    std::int64_t last = window + 1;
    while (last < windows_ && id[last] == id[window]) ++last;
    tiles_ = {view_.row_window_offset.data()[window], view_.row_window_offset.data()[last]};
    first_value_ = view_.value_offset.data()[window];
    rows_ = window_rows(first_row_, view_.rows, kRows);
  }
  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] std::int64_t row_id(int r) const { return first_row_ + r; }
  [[nodiscard]] int groups() const { return rows_ == 0 ? 0 : tiles_.groups(); }

  [[gnu::noinline]] void prepare(int g) {
    if (g == 0) next_value_ = first_value_;
    const TileRange range = tiles_.group(g);
    group_.start(view_.col_id.data() + 8 * range.first);
    for (std::int64_t t = range.first; t < range.last; ++t) {
      const std::uint64_t* mask = view_.bitmap.data() + t;
      group_.add(mask, next_value_);
      next_value_ += __builtin_popcountll(*mask);
    }
  }
  Entries<A> row(int r) { return group_.row(r); }

 private:
  formats::RsTileView view_;
  std::int64_t windows_ = 0;
  TileRange tiles_;
  std::int64_t first_row_ = 0, first_value_ = 0, next_value_ = 0;
  int rows_ = 0;
  TileGroup<V, A, 1> group_;
};

/// A unit is a position in residual_row_id. Entry offsets are computed: each row of class c has c entries.
template <class V, class A>
class RsResidualDecoder {
 public:
  using Acc = A;
  static constexpr int kRows = 1;

  explicit RsResidualDecoder(const Task& task) : view_(formats::as_rs_tile(task.format)) {
    const auto entries = static_cast<std::int64_t>(view_.residual_col_id.size());
    values_.bind(view_.residual_values, task.format.nnz - entries);
  }

  void open(std::int64_t position) {
    const std::int32_t* classes = view_.residual_class_offset.data();
    if (position < next_) {  // a new iteration: search the class from the start
      class_ = 0;
      begin_ = 0;
      next_ = 0;
    }
    while (position >= classes[class_ + 1]) {
      begin_ += class_ * (classes[class_ + 1] - next_);
      next_ = classes[++class_];
    }
    begin_ += class_ * (position - next_);
    next_ = position;
    row_ = view_.residual_row_id.data()[position];
    run_.open(view_.residual_col_id.data() + begin_, values_, begin_, class_);
  }
  [[nodiscard]] int rows() const { return 1; }
  [[nodiscard]] std::int64_t row_id(int) const { return row_; }
  [[nodiscard]] int groups() const { return run_.pieces(); }
  void prepare(int piece) { piece_ = piece; }
  Entries<A> row(int) { return run_.piece(piece_); }

 private:
  formats::RsTileView view_;
  std::int64_t next_ = 0;  ///< position of the row whose first entry is begin_
  std::int64_t begin_ = 0;
  std::int64_t class_ = 0;  ///< entries per row
  std::int64_t row_ = 0;
  int piece_ = 0;
  ValueArray<V> values_;
  EntryRun<V, A> run_;
};

/// A unit is a position in Task::empty_rows: C = beta * C.
template <class A>
class EmptyRowDecoder {
 public:
  using Acc = A;
  static constexpr int kRows = 1;

  explicit EmptyRowDecoder(const Task& task) : rows_(task.empty_rows) {}
  void open(std::int64_t position) { row_ = rows_[position]; }
  [[nodiscard]] int rows() const { return 1; }
  [[nodiscard]] std::int64_t row_id(int) const { return row_; }
  [[nodiscard]] int groups() const { return 1; }
  void prepare(int) {}
  Entries<A> row(int) { return {}; }

 private:
  const std::int32_t* rows_;
  std::int64_t row_ = 0;
};

/// Kernel of `rs_tile`. Units are first the windows, then the residual rows, then the empty rows. A chunk
/// contains one of the three kinds, and pieces of a split window are in one chunk (runtime/cpu/units.cpp).
struct RsTileKernel {
  template <class V, class A, class Walker>
  static void walk_units(const Task& task, const Chunk& chunk, const Walker& walker) {
    const formats::RsTileView view = formats::as_rs_tile(task.format);
    const auto windows = static_cast<std::int64_t>(view.row_window_id.size());
    const auto filled = windows + static_cast<std::int64_t>(view.residual_row_id.size());
    if (chunk.first < windows)
      walker.template walk<RsWindowDecoder<V, A>>(chunk.first, chunk.last);
    else if (chunk.first < filled)
      walker.template walk<RsResidualDecoder<V, A>>(chunk.first - windows, chunk.last - windows);
    else
      walker.template walk<EmptyRowDecoder<A>>(chunk.first - filled, chunk.last - filled);
  }
};

}  // namespace sptile::runtime::SPTILE_ISA
