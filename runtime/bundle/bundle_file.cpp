#include "runtime/bundle/bundle_file.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/bundle/bundle_table.hpp"

namespace sptile::runtime {

using formats::BundleEntry;

Result<std::shared_ptr<const BundleFile>> BundleFile::open(FileBytes bytes, bool copy) {
  const std::shared_ptr<BundleFile> file(new BundleFile(std::move(bytes)));
  if (Status s = file->read(copy); !s) return tl::unexpected(std::move(s.error()));
  return file;
}

Status BundleFile::read(bool copy) {
  const Result<BundleTable> table = read_bundle_table(bytes_);
  if (!table) return tl::unexpected(table.error());
  header_ = table->header;
  std::vector<ByteRange> pieces;
  for (const BundleEntry& e : table->entries) pieces.push_back({e.offset, e.bytes});
  if (Status s = copy ? bytes_.load(pieces) : bytes_.map(); !s) return s;
  for (const BundleEntry& e : table->entries) {
    const ArrayView view(static_cast<DType>(e.dtype), e.bytes == 0 ? nullptr : bytes_.data() + e.offset,
                         elements_of(e));
    arrays_.push_back({std::string(path_of(e)), view, e.hash, e.rank});
  }
  by_path_.resize(arrays_.size());
  std::iota(by_path_.begin(), by_path_.end(), 0u);
  std::sort(by_path_.begin(), by_path_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return arrays_[a].path < arrays_[b].path; });
  return {};
}

const BundleArray* BundleFile::find(std::string_view path) const {
  const auto before = [&](std::uint32_t position, std::string_view bound) {
    return arrays_[position].path < bound;
  };
  const auto found = std::lower_bound(by_path_.begin(), by_path_.end(), path, before);
  return found != by_path_.end() && arrays_[*found].path == path ? &arrays_[*found] : nullptr;
}

std::span<const std::uint32_t> BundleFile::group(const std::string& path) const {
  const auto before = [&](std::uint32_t position, const std::string& bound) {
    return arrays_[position].path < bound;
  };
  const auto first = std::lower_bound(by_path_.begin(), by_path_.end(), path + "/", before);
  const auto last = std::lower_bound(first, by_path_.end(), path + '0', before);  // the character after '/'
  return {first, last};
}

}  // namespace sptile::runtime
