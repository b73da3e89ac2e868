#include "runtime/handle/host_batch.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "formats/layout/csr.hpp"
#include "runtime/threads/count.hpp"

namespace sptile::runtime {
namespace {

/// Arrays of the joined matrix, with values only if members have them.
struct JoinedArrays {
  std::unique_ptr<std::int64_t[]> row_ptr;
  std::unique_ptr<std::int32_t[]> col_idx;
  std::unique_ptr<std::byte[]> values;

  explicit JoinedArrays(const BatchMember& whole)
      : row_ptr(std::make_unique_for_overwrite<std::int64_t[]>(static_cast<std::size_t>(whole.rows) + 1)),
        col_idx(std::make_unique_for_overwrite<std::int32_t[]>(static_cast<std::size_t>(whole.nnz))),
        values(std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(whole.nnz) *
                                                           size_of(whole.values))) {
    row_ptr[0] = 0;
  }

  void put(const formats::CsrView& part, const BatchPlace& at) const {
    std::transform(part.row_ptr.begin() + 1, part.row_ptr.end(), row_ptr.get() + at.row + 1,
                   [&](std::int64_t offset) { return at.entry + offset; });
    std::transform(part.col_idx.begin(), part.col_idx.end(), col_idx.get() + at.entry,
                   [&](std::int32_t column) { return static_cast<std::int32_t>(at.col + column); });
    const auto width = static_cast<std::int64_t>(size_of(part.values.dtype));
    std::copy_n(static_cast<const std::byte*>(part.values.data), part.values.bytes(),
                values.get() + at.entry * width);
  }
};

BatchMember member_of(const formats::CsrView& part) {
  return {part.rows, part.cols, part.nnz(), part.values.dtype};
}

}  // namespace

Result<HostCsr> join_on_host(std::span<const formats::CsrView> parts, Arrangement arrangement, bool trusted) {
  std::vector<BatchMember> members(parts.size());
  std::transform(parts.begin(), parts.end(), members.begin(), member_of);
  const auto layout = arrange(members, arrangement);
  if (!layout) return tl::unexpected(layout.error());
  const BatchMember& whole = layout->whole;
  const auto owned = std::make_shared<const JoinedArrays>(whole);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!trusted)
      if (Status s = formats::check_csr(parts[i], max_threads()); !s) return in_batch(i, s.error());
    owned->put(parts[i], layout->begin[i]);
  }
  HostCsr joined;
  joined.view = {whole.rows,
                 whole.cols,
                 {owned->row_ptr.get(), static_cast<std::size_t>(whole.rows) + 1},
                 {owned->col_idx.get(), static_cast<std::size_t>(whole.nnz)},
                 {whole.values, owned->values.get(), whole.nnz}};
  if (whole.values == DType::none) joined.view.values = {};
  joined.owner = owned;
  return joined;
}

}  // namespace sptile::runtime
