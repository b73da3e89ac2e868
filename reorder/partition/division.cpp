#include "reorder/partition/division.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "formats/core/row_order.hpp"

namespace sptile::reorder {

std::int32_t Division::owner(std::int64_t at) const {
  const auto next = std::upper_bound(offset.begin(), offset.end(), at);  // skips empty parts that start there
  return static_cast<std::int32_t>(next - offset.begin()) - 1;
}

bool Division::is_block(std::int32_t part) const {
  return in_order() || std::all_of(old_row.begin() + first(part), old_row.begin() + last(part),
                                   [&](std::int32_t row) { return row >= first(part) && row < last(part); });
}

Division divide_in_order(const formats::CsrView& a, std::vector<std::int32_t> new_to_old,
                         std::int32_t parts) {
  Division division;
  division.offset.assign(1, 0);
  const std::int64_t total = a.nnz() + a.rows, share = total / parts, rest = total % parts;
  std::int64_t weight = 0;
  for (std::int64_t at = 0; at < a.rows; ++at) {
    const std::int64_t row = new_to_old.empty() ? at : new_to_old[static_cast<std::size_t>(at)];
    const std::int64_t own = row_weight(a, row);
    // Part k ends before the row whose larger half is beyond the part's share.
    for (std::int64_t k = std::ssize(division.offset);
         k < parts && weight + own / 2 >= share * k + rest * k / parts; ++k)
      division.offset.push_back(at);
    weight += own;
  }
  division.offset.resize(static_cast<std::size_t>(parts) + 1, a.rows);
  if (!new_to_old.empty()) division.place = formats::invert_order(new_to_old);
  division.old_row = std::move(new_to_old);
  return division;
}

Division divide_by_part(std::span<const std::int32_t> part, std::int32_t parts,
                        std::span<const std::int32_t> new_to_old) {
  Division division;
  division.offset.assign(static_cast<std::size_t>(parts) + 1, 0);
  for (const std::int32_t p : part) {
    assert(p >= 0 && p < parts);
    ++division.offset[static_cast<std::size_t>(p) + 1];
  }
  std::partial_sum(division.offset.begin(), division.offset.end(), division.offset.begin());
  if (new_to_old.empty() && std::ranges::is_sorted(part)) return division;
  std::vector<std::int64_t> next(division.offset.begin(), division.offset.end() - 1);
  division.old_row.resize(part.size());
  division.place.resize(part.size());
  for (std::size_t i = 0; i < part.size(); ++i) {
    const std::size_t row = new_to_old.empty() ? i : static_cast<std::size_t>(new_to_old[i]);
    const std::int64_t at = next[static_cast<std::size_t>(part[row])]++;
    division.old_row[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(row);
    division.place[row] = static_cast<std::int32_t>(at);
  }
  return division;
}

void reorder_part(Division& division, std::int32_t part, std::span<const std::int32_t> order) {
  assert(std::ssize(order) == division.rows_of(part));
  if (division.in_order()) {
    division.old_row.resize(static_cast<std::size_t>(division.rows()));
    std::iota(division.old_row.begin(), division.old_row.end(), 0);
    division.place = division.old_row;
  }
  const auto first = static_cast<std::size_t>(division.first(part));
  const std::vector<std::int32_t> before(division.old_row.begin() + division.first(part),
                                         division.old_row.begin() + division.last(part));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int32_t row = before[static_cast<std::size_t>(order[i])];
    division.old_row[first + i] = row;
    division.place[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(first + i);
  }
}

}  // namespace sptile::reorder
