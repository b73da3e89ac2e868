#include "formats/convert/window_merger.hpp"

#include <algorithm>
#include <cassert>

namespace sptile::formats {

/// A two-way merge from both ends towards the middle. After k steps the k smallest and the k largest keys are
/// in place; i and j of them came from the first run. An exhausted run yields its sentinel.
template <class Key>
class WindowMerger<Key>::Merge {
 public:
  Merge(const Run& a, const Run& b, Key* out)
      : a_(a.keys),
        b_(b.keys),
        out_(out),
        a_last_(a_ + a.size - 1),
        b_last_(b_ + b.size - 1),
        size_(a.size + b.size) {}

  [[nodiscard]] std::int64_t steps() const { return size_ / 2; }

  void step(std::int64_t k) {
    const Key a = a_[i_], b = b_[k - i_];
    out_[k] = a < b ? a : b;
    i_ += a < b;
    const Key x = a_last_[-j_], y = b_last_[j_ - k];
    out_[size_ - 1 - k] = x > y ? x : y;
    j_ += x > y;
  }

  Run finish() {
    if (size_ % 2 != 0) out_[steps()] = std::min(a_[i_], b_[steps() - i_]);
    out_[-1] = 0;
    out_[size_] = static_cast<Key>(-1);
    return {out_, size_};
  }

 private:
  const Key *a_, *b_;
  Key* out_;
  const Key *a_last_, *b_last_;
  std::int64_t size_, i_ = 0, j_ = 0;
};

template <class Key>
void WindowMerger<Key>::load_row(std::span<const std::int32_t> columns, Key row, Key*& out, Run& run) {
  *out++ = 0;
  run = {out, static_cast<std::int64_t>(columns.size())};
  for (const std::int32_t column : columns) *out++ = (static_cast<Key>(column) + 1) << 4 | row;
  *out++ = static_cast<Key>(-1);
}

template <class Key>
void WindowMerger<Key>::load(const CsrView& a, std::span<const std::int32_t> starts) {
  const auto last_row = [&](std::int64_t start) { return std::min(start + height_, a.rows); };
  const auto at = [&](std::int64_t row) {
    return static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(row)]);
  };
  std::size_t capacity = 2 * runs_.size();
  for (const std::int32_t start : starts) capacity += at(last_row(start)) - at(start);
  for (std::vector<Key>& keys : keys_)
    if (keys.size() < capacity) keys.resize(capacity + capacity / 2);

  Key* out = keys_[0].data();
  Run* run = runs_.data();
  for (const std::int32_t start : starts)
    for (std::int64_t row = start; row < std::int64_t{start} + height_; ++row, ++run) {
      std::span<const std::int32_t> columns;
      if (row < a.rows) columns = a.col_idx.subspan(at(row), at(row + 1) - at(row));
      load_row(columns, static_cast<Key>(row - start), out, *run);
    }
}

template <class Key>
void WindowMerger<Key>::merge(const CsrView& a, std::span<const std::int32_t> starts) {
  assert(starts.size() <= kBatch && a.cols <= kMaxCols);
  load(a, starts);
  std::size_t runs = starts.size() * static_cast<std::size_t>(height_);
  int from = 0;
  // A merged run starts at the same offset as its first half, in the other buffer.
  const auto merge_of = [&](std::size_t i) {
    const Run &a_run = runs_[2 * i], &b_run = runs_[2 * i + 1];
    return Merge(a_run, b_run, keys_[1 - from].data() + (a_run.keys - keys_[from].data()));
  };
  for (int level = height_; level > 1; level /= 2, from = 1 - from) {
    runs /= 2;
    std::size_t i = 0;
    for (; i + 2 <= runs; i += 2) {
      Merge first = merge_of(i), second = merge_of(i + 1);
      const std::int64_t both = std::min(first.steps(), second.steps());
      for (std::int64_t k = 0; k < both; ++k) first.step(k), second.step(k);
      for (std::int64_t k = both; k < first.steps(); ++k) first.step(k);
      for (std::int64_t k = both; k < second.steps(); ++k) second.step(k);
      runs_[i] = first.finish();
      runs_[i + 1] = second.finish();
    }
    if (i < runs) {
      Merge merge = merge_of(i);
      for (std::int64_t k = 0; k < merge.steps(); ++k) merge.step(k);
      runs_[i] = merge.finish();
    }
  }
}

template <class Key>
std::int64_t WindowMerger<Key>::columns(int i, std::int32_t* columns, std::uint8_t* low,
                                        std::uint8_t* high) const {
  const Run& run = runs_[static_cast<std::size_t>(i)];
  const auto collect = [&](auto&& store_rows) {
    std::int64_t last = -1;
    Key previous = 0;  // not a valid column: they are stored as column + 1
    unsigned rows = 0;
    for (std::int64_t k = 0; k < run.size; ++k) {
      const Key column = run.keys[k] >> 4;
      const bool is_new = column != previous;
      previous = column;
      last += is_new;
      rows = (rows & (unsigned{is_new} - 1)) | 1u << (run.keys[k] & 15);  // a new column starts without rows
      columns[last] = static_cast<std::int32_t>(column - 1);
      store_rows(last, rows);
    }
    return last + 1;
  };
  if (height_ == 8)
    return collect([&](std::int64_t c, unsigned rows) { low[c] = static_cast<std::uint8_t>(rows); });
  return collect([&](std::int64_t c, unsigned rows) {
    low[c] = static_cast<std::uint8_t>(rows);
    high[c] = static_cast<std::uint8_t>(rows >> 8);
  });
}

template class WindowMerger<std::uint32_t>;
template class WindowMerger<std::uint64_t>;

}  // namespace sptile::formats
