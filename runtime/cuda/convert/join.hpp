// Joins CSR matrices in device memory, checking and copying them in one pass.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "runtime/core/batch.hpp"
#include "runtime/cuda/convert/entries.hpp"

namespace sptile::runtime::cuda {

/// A matrix of a batch, and its position in the result.
struct JoinedPart {
  Ids row_ptr, col_idx;
  const void* values = nullptr;
  std::int64_t rows = 0, cols = 0, nnz = 0;
  BatchPlace begin;
};

/// Matrices of a batch in device memory; at least one.
struct JoinedParts {
  const JoinedPart* parts = nullptr;
  std::int64_t count = 0;

  /// Returns the start of a part's row offsets, which are concatenated (rows + 1 per part).
  SPTILE_HOST_DEVICE std::int64_t first_offset(std::int64_t part) const {
    return parts[part].begin.row + part;
  }
  /// Returns the last part with begin(part) <= x.
  template <class Begin>
  SPTILE_HOST_DEVICE std::int64_t find(std::int64_t x, const Begin& begin) const {
    std::int64_t low = 0, high = count;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (begin(middle) <= x ? low : high) = middle;
    }
    return low;
  }
  /// Returns the part that contains an entry of the result.
  SPTILE_HOST_DEVICE std::int64_t part_of(std::int64_t entry) const {
    return find(entry, [this](std::int64_t part) { return parts[part].begin.entry; });
  }
};

/// Copies the offsets of all parts, and records parts with invalid offsets.
struct JoinOffsets {
  JoinedParts batch;
  std::int64_t* row_ptr;
  std::uint64_t* broken;  ///< the first invalid part

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t p = batch.find(i, [&](std::int64_t part) { return batch.first_offset(part); });
    const JoinedPart& part = batch.parts[p];
    const std::int64_t row = i - batch.first_offset(p), offset = part.row_ptr[row];
    const bool good = row == 0 ? offset == 0 : offset >= part.row_ptr[row - 1];
    if (!good || (row == part.rows && offset != part.nnz)) note_place(broken, p);
    const bool last = p + 1 == batch.count;
    if (row < part.rows || last) row_ptr[part.begin.row + row] = part.begin.entry + offset;
  }
};

/// Copies the columns of all parts, and records parts with a column out of range.
struct JoinColumns {
  JoinedParts batch;
  std::int32_t* col_idx;
  std::uint64_t* broken;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t p = batch.part_of(i);
    const JoinedPart& part = batch.parts[p];
    const std::int64_t column = part.col_idx[i - part.begin.entry];
    if (column < 0 || column >= part.cols) note_place(broken, p);
    col_idx[i] = static_cast<std::int32_t>(part.begin.col + column);
  }
};

template <class Word>
struct JoinValues {
  JoinedParts batch;
  Word* values;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const JoinedPart& part = batch.parts[batch.part_of(i)];
    values[i] = static_cast<const Word*>(part.values)[i - part.begin.entry];
  }
};

struct JoinWorkspace {
  JoinedPart* parts = nullptr;
  std::uint64_t* broken = nullptr;

  void place(Arena& arena, std::int64_t count) {
    arena.take(parts, count);
    arena.take(broken, 1);
  }
};

/// Errc::usage and Errc::unsupported, naming the matrix, for errors that do not depend on the arrays'
/// contents.
inline Result<BatchLayout> arrange_parts(std::span<const DeviceEntries> parts, Arrangement arrangement,
                                         Disorder disorder) {
  std::vector<BatchMember> members;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (Status s = check_entries(parts[i], disorder); !s) return in_batch(i, s.error());
    if (!parts[i].row_is_pointer)
      return in_batch(i, {Errc::unsupported, "its entries are COO; expected a CSR matrix", {}});
    members.push_back({parts[i].rows, parts[i].cols, parts[i].nnz, parts[i].value_dtype});
  }
  auto layout = arrange(members, arrangement);
  if (layout && layout->whole.nnz > kMaxEntries)
    return fail(Errc::unsupported, "the batch has " + std::to_string(layout->whole.nnz) +
                                       " entries; a matrix on a device has at most 4294967295");
  return layout;
}

/// Copies the parts into the arrays of the result. Returns false if a part has invalid offsets or columns.
template <class Run>
Result<bool> copy_parts(Run& run, std::span<const DeviceEntries> parts, const BatchLayout& layout,
                        const DeviceCsr& whole) {
  std::vector<JoinedPart> described;
  for (std::size_t i = 0; i < parts.size(); ++i)
    described.push_back({Ids(parts[i].row, parts[i].row_type), Ids(parts[i].col, parts[i].col_type),
                         parts[i].values, parts[i].rows, parts[i].cols, parts[i].nnz, layout.begin[i]});
  Workspace<JoinWorkspace> workspace;
  const std::int64_t count = std::ssize(parts);
  if (Status s = workspace.make(run, count); !s) return tl::unexpected(s.error());
  run.upload(workspace.parts, described.data(), count);
  run.fill(workspace.broken, sizeof *workspace.broken);
  const JoinedParts batch{workspace.parts, count};
  run.each(whole.rows + count, JoinOffsets{batch, made_array<std::int64_t>(whole.row_ptr), workspace.broken});
  run.each(whole.nnz, JoinColumns{batch, made_array<std::int32_t>(whole.col_idx), workspace.broken});
  visit_value_word(whole.value_dtype, [&](auto word) {
    using Word = decltype(word);
    run.each(whole.nnz, JoinValues<Word>{batch, made_array<Word>(whole.values)});
  });
  std::uint64_t broken = 0;
  run.download(&broken, workspace.broken, 1);
  if (Status s = run.status(); !s) return tl::unexpected(s.error());
  return broken == kNowhere;
}

/// Returns the error of the first matrix that is invalid by itself.
template <class Run>
tl::unexpected<Error> name_broken(Run& run, std::span<const DeviceEntries> parts, Disorder disorder,
                                  const Error& found) {
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (const auto one = canonical_on(run, parts[i], {.disorder = disorder, .borrow = true}); !one)
      return in_batch(i, one.error());
  return tl::unexpected(found);
}

/// Implements join_csr.
template <class Run>
Result<OwnedCsr> join_on(Run& run, std::span<const DeviceEntries> parts, Arrangement arrangement,
                         const EntryOptions& options) {
  const auto layout = arrange_parts(parts, arrangement, options.disorder);
  if (!layout) return tl::unexpected(layout.error());
  DeviceCsr shape;
  shape.rows = layout->whole.rows, shape.cols = layout->whole.cols, shape.nnz = layout->whole.nnz;
  shape.value_dtype = layout->whole.values, shape.ordinal = parts.front().ordinal;
  auto joined = make_csr(run, shape);
  if (!joined) return joined;
  const auto good = copy_parts(run, parts, *layout, joined->csr);
  if (!good) return tl::unexpected(good.error());
  if (!*good)
    return name_broken(run, parts, options.disorder,
                       {Errc::bad_input, "the batch changed while it was read", {}});
  const DeviceCsr& csr = joined->csr;
  const DeviceEntries entries{csr.rows,    csr.cols,   csr.nnz,    csr.row_ptr,     DType::i64, true,
                              csr.col_idx, DType::i32, csr.values, csr.value_dtype, csr.ordinal};
  auto taken = canonical_on(run, entries, {options.disorder, true, options.trusted});
  if (!taken) return name_broken(run, parts, options.disorder, taken.error());
  return taken->csr.row_ptr == csr.row_ptr ? std::move(joined) : std::move(taken);
}

}  // namespace sptile::runtime::cuda
