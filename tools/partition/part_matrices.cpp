#include "tools/partition/part_matrices.hpp"

#include <cstring>

#include "formats/core/parallel_loop.hpp"
#include "formats/core/value_types.hpp"

namespace sptile::tools {
namespace {

// The columns that a part owns, found without their positions if the part is a block.
class OwnedColumns {
 public:
  OwnedColumns(const reorder::Division& division, std::int32_t part)
      : division_(division),
        first_(division.first(part)),
        last_(division.last(part)),
        is_block_(division.is_block(part)) {}
  [[nodiscard]] bool has(std::int32_t column) const {
    const std::int64_t place = is_block_ ? column : division_.place_of(column);
    return place >= first_ && place < last_;
  }

 private:
  const reorder::Division& division_;
  std::int64_t first_, last_;
  bool is_block_;
};

// Copies the entries of a part in the columns that it owns, or in the others. number(position of a column)
// returns the new column.
template <class Number>
formats::Csr take_columns(const formats::CsrView& a, const reorder::Division& division, std::int32_t part,
                          bool owned, std::int64_t cols, const Number& number) {
  const OwnedColumns columns(division, part);
  formats::Csr taken;
  taken.rows = division.rows_of(part);
  taken.cols = cols;
  taken.row_ptr = formats::Buffer<std::int64_t>(taken.rows + 1);
  taken.row_ptr[0] = 0;
  // Calls visit(index in a, column of a) for each selected entry of a row.
  const auto each = [&](std::int64_t row, const auto& visit) {
    const auto r = static_cast<std::size_t>(division.row_at(division.first(part) + row));
    for (std::int64_t i = a.row_ptr[r]; i < a.row_ptr[r + 1]; ++i)
      if (const std::int32_t column = a.col_idx[static_cast<std::size_t>(i)]; columns.has(column) == owned)
        visit(i, column);
  };
  parallel::loop(std::int64_t{0}, taken.rows, [&](std::int64_t row) {
    std::int64_t count = 0;
    each(row, [&](std::int64_t, std::int32_t) { ++count; });
    taken.row_ptr[row + 1] = count;
  });
  for (std::int64_t row = 0; row < taken.rows; ++row) taken.row_ptr[row + 1] += taken.row_ptr[row];
  const std::int64_t entries = taken.row_ptr[taken.rows];
  taken.col_idx = formats::Buffer<std::int32_t>(entries);
  if (!a.is_pattern()) taken.values = formats::Array(a.values.dtype, entries);
  formats::visit_word(a.values.dtype, [&](auto word) {
    using Word = decltype(word);
    const auto* const from = static_cast<const Word*>(a.values.data);
    auto* const to = static_cast<Word*>(taken.values.data());
    parallel::loop(std::int64_t{0}, taken.rows, [&](std::int64_t row) {
      std::int64_t at = taken.row_ptr[row];
      each(row, [&](std::int64_t i, std::int32_t column) {
        taken.col_idx[at] = static_cast<std::int32_t>(number(division.place_of(column)));
        if (to != nullptr) to[at] = from[i];
        ++at;
      });
    });
  });
  // there are no duplicates: it only sorts
  if (!division.in_order()) formats::sort_and_sum_duplicates(taken);
  return taken;
}

}  // namespace

formats::Csr local_matrix(const formats::CsrView& a, const reorder::Division& division, std::int32_t part) {
  const std::int64_t first = division.first(part);
  return take_columns(a, division, part, true, division.rows_of(part),
                      [=](std::int64_t place) { return place - first; });
}

formats::Csr halo_matrix(const formats::CsrView& a, const reorder::Division& division, std::int32_t part,
                         const PlaceSet& needed) {
  const PlaceRanks ranks(needed, division.rows());
  return take_columns(a, division, part, false, needed.size(),
                      [&](std::int64_t place) { return ranks.rank(place); });
}

PartLists part_lists(const reorder::Division& division, const Survey& survey, std::int32_t part) {
  PartLists lists;
  const std::int64_t first = division.first(part), last = division.last(part);
  for (std::int64_t at = first; at < last; ++at)
    lists.old_ids.push_back(static_cast<std::int32_t>(division.row_at(at)));
  const PlaceSet& needed = survey.needed[static_cast<std::size_t>(part)];
  needed.each(0, division.rows(), [&](std::int64_t at) {
    lists.halo_ids.push_back(static_cast<std::int32_t>(division.row_at(at)));
  });
  lists.send_offset.push_back(0);
  lists.receive_offset.push_back(0);
  for (std::int32_t other = 0; other < division.parts(); ++other) {
    survey.needed[static_cast<std::size_t>(other)].each(first, last, [&](std::int64_t at) {
      lists.send_rows.push_back(static_cast<std::int32_t>(at - first));
    });
    lists.send_offset.push_back(std::ssize(lists.send_rows));
    lists.receive_offset.push_back(lists.receive_offset.back() +
                                   needed.count(division.first(other), division.last(other)));
  }
  return lists;
}

}  // namespace sptile::tools
