#include "runtime/bundle/part.hpp"

#include <algorithm>
#include <functional>
#include <string>

namespace sptile::runtime {
namespace {

using std::to_string;

std::string path_in_part(const char* name) { return std::string(formats::kPartGroup) + "/" + name; }

Status bad(const std::string& message) {
  return fail(Errc::bad_input, message + "; partition the matrix again");
}

/// Reads an array of the group; any length if `size` < 0.
template <class T>
Status take(const Bundle& bundle, const char* name, std::int64_t size, std::span<const T>& to) {
  const ArrayView array = bundle.array(path_in_part(name));
  if (!array.present()) return bad(path_in_part(name) + " is missing; expected a part of a partition");
  if (array.dtype != dtype_of<T>)
    return bad(path_in_part(name) + " has type " + std::string(name_of(array.dtype)) + ", expected " +
               std::string(name_of(dtype_of<T>)));
  if (size >= 0 && array.size != size)
    return bad(path_in_part(name) + " has " + to_string(array.size) + " elements, expected " +
               to_string(size));
  to = array.as<T>();
  return {};
}

Status check_numbers(const formats::PartNumbers& n) {
  if (n.version != formats::kPartLayoutVersion)
    return fail(Errc::unsupported, "has part layout version " + to_string(n.version) +
                                       "; this sptile reads " + to_string(formats::kPartLayoutVersion));
  constexpr std::int64_t kMax = std::int64_t{1} << 31;
  if (n.parts < 1 || n.parts >= kMax || n.rank < 0 || n.rank >= n.parts)
    return bad("declares itself part " + to_string(n.rank) + " of " + to_string(n.parts));
  if (n.rows < 0 || n.rows >= kMax || n.entries < 0 || (n.symmetric != 0 && n.symmetric != 1))
    return bad("declares that the matrix has " + to_string(n.rows) + " rows and " + to_string(n.entries) +
               " entries, symmetric " + to_string(n.symmetric));
  return {};
}

Status check_offsets(const char* name, std::span<const std::int64_t> offset, std::int64_t last,
                     std::int64_t rank) {
  if (offset.front() != 0 || offset.back() != last || !std::is_sorted(offset.begin(), offset.end()))
    return bad(path_in_part(name) + " does not increase from 0 to " + to_string(last));
  const auto own = static_cast<std::size_t>(rank);
  return offset[own] == offset[own + 1] ? Status()
                                        : bad(path_in_part(name) + " has rows for the part itself");
}

Status check_ids(const char* name, std::span<const std::int32_t> ids, std::int64_t below) {
  const auto wrong =
      std::find_if(ids.begin(), ids.end(), [&](std::int32_t id) { return id < 0 || id >= below; });
  return wrong == ids.end() ? Status()
                            : bad(path_in_part(name) + " has " + to_string(*wrong) + "; there are " +
                                  to_string(below) + " rows");
}

Status check_sent(const Part& part) {
  if (Status s = check_ids(formats::kPartSendRows, part.send_rows, part.local->rows()); !s) return s;
  for (std::int64_t to = 0; to < part.numbers.parts; ++to) {
    const auto rows = part.sent_to(to);
    if (std::adjacent_find(rows.begin(), rows.end(), std::greater_equal<>()) != rows.end())
      return bad(path_in_part(formats::kPartSendRows) + " does not ascend for part " + to_string(to));
  }
  return {};
}

Status check_shapes(const Part& part) {
  const Bundle &local = *part.local, &halo = *part.halo;
  if (local.rows() != local.cols() || halo.rows() != local.rows())
    return bad("local is " + to_string(local.rows()) + " x " + to_string(local.cols()) + " and halo has " +
               to_string(halo.rows()) + " rows; all three must be equal");
  if (local.is_pattern() != halo.is_pattern() || local.dtype() != halo.dtype())
    return bad("local and halo have values of different types");
  if (local.rows() > part.numbers.rows || local.nnz() > part.numbers.entries - halo.nnz())
    return bad("has more rows or entries than the partitioned matrix");
  return {};
}

/// Returns the number of rows before the first one with entries. Offsets are unchecked, the result is in
/// range.
std::int64_t empty_rows(const formats::CsrView& a) {
  const auto above = std::upper_bound(a.row_ptr.begin() + 1, a.row_ptr.end(), std::int64_t{0});
  return above - a.row_ptr.begin() - 1;
}

Status take_lists(Part& part) {
  const Bundle& bundle = *part.local;
  std::span<const std::uint64_t> id;
  std::span<const std::int64_t> numbers;
  Status s = take(bundle, formats::kPartId, 1, id);
  if (s)
    s = take(bundle, formats::kPartNumbers, sizeof(formats::PartNumbers) / sizeof(std::int64_t), numbers);
  if (!s) return s;
  part.id = id[0];
  part.numbers = {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
  s = check_numbers(part.numbers);
  if (s) s = check_shapes(part);
  const std::int64_t offsets = part.numbers.parts + 1, rank = part.numbers.rank;
  if (s) s = take(bundle, formats::kPartOldIds, bundle.rows(), part.old_ids);
  if (s) s = take(bundle, formats::kPartHaloIds, part.halo->cols(), part.halo_ids);
  if (s) s = take(bundle, formats::kPartSendOffset, offsets, part.send_offset);
  if (s) s = take(bundle, formats::kPartReceiveOffset, offsets, part.receive_offset);
  if (s) s = take(bundle, formats::kPartSendRows, -1, part.send_rows);
  if (s) s = check_offsets(formats::kPartSendOffset, part.send_offset, std::ssize(part.send_rows), rank);
  if (s) s = check_offsets(formats::kPartReceiveOffset, part.receive_offset, part.halo->cols(), rank);
  if (s) s = check_ids(formats::kPartOldIds, part.old_ids, part.numbers.rows);
  if (s) s = check_ids(formats::kPartHaloIds, part.halo_ids, part.numbers.rows);
  part.interior = empty_rows(part.halo->csr());
  return s ? check_sent(part) : s;
}

}  // namespace

Result<Part> open_part(const std::string& path, const BundleOpenOptions& options) {
  Part part;
  auto local = Bundle::open(path, options);
  if (!local) return tl::unexpected(std::move(local.error()));
  if (!(*local)->array(path_in_part(formats::kPartNumbers)).present())
    return fail(Errc::bad_input, "is a bundle, but not a part of a partition", path);
  auto halo = (*local)->other(formats::kHaloMatrix);
  if (!halo) return tl::unexpected(std::move(halo.error()));
  part.local = std::move(*local);
  part.halo = std::move(*halo);
  if (Status s = take_lists(part); !s) return fail(s.error().code, s.error().message, path);
  return part;
}

}  // namespace sptile::runtime
