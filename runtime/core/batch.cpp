#include "runtime/core/batch.hpp"

#include <algorithm>
#include <string>

#include "formats/layout/invariants.hpp"

namespace sptile::runtime {
namespace {

constexpr std::int64_t kMaxEntries = std::int64_t{1} << 60;

/// Checks that a matrix has the value type and, if stacked, the columns of the first one.
Status check_alike(const BatchMember& first, const BatchMember& one, Arrangement arrangement) {
  if (one.values != first.values)
    return fail(Errc::usage, "values of type " + std::string(name_of(one.values)) + ", but the first has " +
                                 std::string(name_of(first.values)));
  if (arrangement == Arrangement::stacked && one.cols != first.cols)
    return fail(Errc::usage, std::to_string(one.cols) + " columns, the first has " +
                                 std::to_string(first.cols) + "; stacked matrices must have equal columns");
  return {};
}

/// Adds `size` to `sum`; Errc::unsupported if the sum exceeds the limit.
Status add(std::int64_t& sum, std::int64_t size, std::int64_t max, const char* what) {
  if (size > max - sum)
    return fail(Errc::unsupported, std::to_string(size) + " " + what + " after " + std::to_string(sum) +
                                       "; a batch has at most " + std::to_string(max));
  sum += size;
  return {};
}

Status add(BatchMember& whole, const BatchMember& one, Arrangement arrangement) {
  Status s = add(whole.rows, one.rows, formats::kMaxId, "rows");
  if (s && arrangement == Arrangement::block_diagonal)
    s = add(whole.cols, one.cols, formats::kMaxId, "columns");
  if (s) s = add(whole.nnz, one.nnz, kMaxEntries, "entries");
  return s;
}

}  // namespace

Result<BatchLayout> arrange(std::span<const BatchMember> members, Arrangement arrangement) {
  if (members.empty()) return fail(Errc::usage, "empty batch; expected at least one matrix");
  const bool diagonal = arrangement == Arrangement::block_diagonal;
  BatchLayout layout;
  layout.whole.values = members.front().values;
  layout.begin.reserve(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    BatchMember& whole = layout.whole;
    layout.begin.push_back({whole.rows, diagonal ? whole.cols : 0, whole.nnz});
    if (Status s = check_alike(members.front(), members[i], arrangement); !s) return in_batch(i, s.error());
    if (Status s = add(whole, members[i], arrangement); !s) return in_batch(i, s.error());
  }
  if (!diagonal) layout.whole.cols = members.front().cols;
  return layout;
}

tl::unexpected<Error> in_batch(std::size_t member, const Error& error) {
  return fail(error.code, "matrix " + std::to_string(member) + " of the batch: " + error.text());
}

}  // namespace sptile::runtime
