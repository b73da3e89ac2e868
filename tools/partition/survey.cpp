#include "tools/partition/survey.hpp"

#include <tbb/blocked_range.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "formats/core/parallel_loop.hpp"
#include "formats/core/parallel_reduce.hpp"

namespace sptile::tools {
namespace {

constexpr std::int64_t kNoRow = std::numeric_limits<std::int64_t>::max();

// Sums over rows of a part.
struct RowSums {
  Digest digest;
  std::int64_t local = 0, halo = 0;
  std::int64_t bad_row = kNoRow;

  static RowSums add(RowSums a, const RowSums& b) {
    a.digest += b.digest;
    a.local += b.local;
    a.halo += b.halo;
    a.bad_row = std::min(a.bad_row, b.bad_row);
    return a;
  }
};

bool is_sound(std::span<const std::int32_t> columns, std::int64_t cols) {
  std::int64_t before = -1;
  for (const std::int32_t c : columns) {
    if (c <= before || c >= cols) return false;
    before = c;
  }
  return true;
}

// Sets a bit atomically. Bits that are already set, as most are, are not written.
void mark(std::vector<std::uint64_t>& bits, std::int64_t place) {
  const std::atomic_ref<std::uint64_t> word(bits[static_cast<std::size_t>(place / kBitsPerWord)]);
  const std::uint64_t bit = std::uint64_t{1} << (place % kBitsPerWord);
  if ((word.load(std::memory_order_relaxed) & bit) == 0) word.fetch_or(bit, std::memory_order_relaxed);
}

class Surveyor {
 public:
  Surveyor(const formats::CsrView& a, const reorder::Division& division)
      : a_(a), division_(division), bits_(static_cast<std::size_t>(words_for(a.rows))), boundary_(bits_) {}

  // Computes the positions that the part needs, in bits().
  RowSums survey(std::int32_t part, const RowSource& source, Progress* progress) {
    std::ranges::fill(bits_, 0);
    RowSums sums;
    for (std::int64_t first = division_.first(part), last = first;
         first < division_.last(part) && !cancelled(progress); first = last) {
      last = end_of_run(first, division_.last(part));
      sums = RowSums::add(sums, survey_run(part, first, last, progress));
      if (division_.in_order()) source.done_with(first, last);
    }
    return sums;
  }

  [[nodiscard]] std::span<const std::uint64_t> bits() const { return bits_; }
  /// Returns the positions of the boundary rows of all surveyed parts.
  [[nodiscard]] std::span<const std::uint64_t> boundary() const { return boundary_; }

 private:
  // Returns the end of rows that may be in memory together: about 64 MiB of columns, or one row.
  [[nodiscard]] std::int64_t end_of_run(std::int64_t first, std::int64_t last) const {
    if (!division_.in_order()) return last;
    constexpr std::int64_t kEntries = 16 << 20;
    const auto from = a_.row_ptr.begin() + first;
    const auto end = std::upper_bound(from + 1, a_.row_ptr.begin() + last, *from + kEntries);
    return end - a_.row_ptr.begin();
  }

  RowSums survey_run(std::int32_t part, std::int64_t first, std::int64_t last, Progress* progress) {
    constexpr std::int64_t kGrain = 512;
    return parallel::reduce(
        tbb::blocked_range<std::int64_t>(first, last, kGrain), RowSums{},
        [&](const tbb::blocked_range<std::int64_t>& block, RowSums sums) {
          for (std::int64_t at = block.begin(); at < block.end(); ++at) add_row(at, part, sums);
          advance(progress, block.end() - block.begin());
          return sums;
        },
        RowSums::add);
  }

  void add_row(std::int64_t at, std::int32_t part, RowSums& sums) {
    const std::int64_t row = division_.row_at(at);
    const auto begin = static_cast<std::size_t>(a_.row_ptr[static_cast<std::size_t>(row)]);
    const auto columns = a_.col_idx.subspan(begin, static_cast<std::size_t>(a_.row_nnz(row)));
    if (!is_sound(columns, a_.cols)) {
      sums.bad_row = std::min(sums.bad_row, row);
      return;
    }
    const std::size_t width = size_of(a_.values.dtype);
    maker_.add(sums.digest, row, columns, static_cast<const std::byte*>(a_.values.data) + begin * width,
               width);
    const std::int64_t first = division_.first(part), last = division_.last(part);
    std::int64_t local = 0;
    for (const std::int32_t c : columns) {
      const std::int64_t place = division_.place_of(c);
      if (place >= first && place < last)
        ++local;
      else
        mark(bits_, place);
    }
    if (local < std::ssize(columns)) mark(boundary_, at);
    sums.local += local;
    sums.halo += std::ssize(columns) - local;
  }

  formats::CsrView a_;
  const reorder::Division& division_;
  std::vector<std::uint64_t> bits_, boundary_;
  DigestMaker maker_;
};

// Computes the rows that parts send from those that other parts need.
void count_exchange(const reorder::Division& division, Survey& survey) {
  for (std::int32_t to = 0; to < division.parts(); ++to) {
    const PlaceSet& needed = survey.needed[static_cast<std::size_t>(to)];
    PartCounts& receiver = survey.parts[static_cast<std::size_t>(to)];
    receiver.received = needed.size();
    std::vector<std::int64_t> from(static_cast<std::size_t>(division.parts()), 0);
    std::int32_t owner = 0;
    needed.each(0, division.rows(), [&](std::int64_t place) {
      while (place >= division.last(owner)) ++owner;
      ++from[static_cast<std::size_t>(owner)];
    });
    for (std::size_t p = 0; p < from.size(); ++p) {
      if (from[p] == 0) continue;
      ++receiver.senders;
      ++survey.parts[p].receivers;
      survey.parts[p].sent += from[p];
    }
  }
}

// Positions in the part, from 0: those of interior rows, then those of boundary rows.
std::vector<std::int32_t> boundary_last(const PlaceSet& boundary, std::int64_t first, std::int64_t last) {
  std::vector<std::int32_t> order, trailing;
  std::int64_t next = first;
  const auto interior_until = [&](std::int64_t end) {
    for (; next < end; ++next) order.push_back(static_cast<std::int32_t>(next - first));
  };
  boundary.each(first, last, [&](std::int64_t at) {
    interior_until(at);
    trailing.push_back(static_cast<std::int32_t>(next++ - first));
  });
  interior_until(last);
  order.insert(order.end(), trailing.begin(), trailing.end());
  return order;
}

}  // namespace

Result<Survey> survey_parts(const RowSource& source, const reorder::Division& division, Progress* progress) {
  begin(progress, "survey", division.rows());
  Survey survey;
  Surveyor surveyor(source.a, division);
  for (std::int32_t part = 0; part < division.parts(); ++part) {
    if (cancelled(progress)) return fail(Errc::io, "cancelled");
    const RowSums sums = surveyor.survey(part, source, progress);
    if (sums.bad_row != kNoRow)
      return fail(Errc::bad_input, "row " + std::to_string(sums.bad_row) +
                                       ": columns must ascend and be less than " +
                                       std::to_string(source.a.cols));
    survey.digest += sums.digest;
    survey.parts.push_back({division.rows_of(part), sums.local, sums.halo});
    survey.needed.emplace_back(surveyor.bits());
  }
  survey.boundary = PlaceSet(surveyor.boundary());
  count_exchange(division, survey);
  return survey;
}

void put_boundary_last(reorder::Division& division, Survey& survey) {
  std::vector<std::int32_t> to;  // new position of each position; empty if none changes
  for (std::int32_t part = 0; part < division.parts(); ++part) {
    const std::int64_t first = division.first(part);
    const std::vector<std::int32_t> order = boundary_last(survey.boundary, first, division.last(part));
    if (std::ranges::is_sorted(order)) continue;
    if (to.empty()) {
      to.resize(static_cast<std::size_t>(division.rows()));
      std::iota(to.begin(), to.end(), 0);
    }
    for (std::size_t i = 0; i < order.size(); ++i)
      to[static_cast<std::size_t>(first + order[i])] =
          static_cast<std::int32_t>(first) + static_cast<std::int32_t>(i);
    reorder::reorder_part(division, part, order);
  }
  if (to.empty()) return;
  parallel::loop(std::size_t{0}, survey.needed.size(),
                 [&](std::size_t part) { survey.needed[part] = survey.needed[part].moved(to); });
  survey.boundary = survey.boundary.moved(to);
}

Totals totals_of(const std::vector<PartCounts>& parts) {
  Totals totals;
  std::int64_t max = 0;
  for (const PartCounts& part : parts) {
    totals.entries += part.entries();
    totals.halo_entries += part.halo_entries;
    totals.volume += part.sent;
    totals.largest_send = std::max(totals.largest_send, part.sent);
    max = std::max(max, part.entries());
  }
  if (totals.entries > 0)
    totals.imbalance =
        static_cast<double>(max) * static_cast<double>(parts.size()) / static_cast<double>(totals.entries);
  return totals;
}

}  // namespace sptile::tools
