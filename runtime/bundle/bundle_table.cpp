#include "runtime/bundle/bundle_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <string>

#include "formats/core/dtype.hpp"

namespace sptile::runtime {
namespace {

using formats::BundleEntry;
using formats::BundleHeader;
using std::to_string;

constexpr std::string_view kHdf5Signature{"\x89HDF\r\n\x1a\n", 8};
constexpr std::uint64_t kSmallestBlock = formats::kBundleAlignment;

/// Start of another kind of file, and the message for it.
struct Lookalike {
  std::string_view start, message;
};
constexpr Lookalike kLookalikes[] = {
    {kHdf5Signature, "is HDF5, but not a sptile bundle (no user block); create one with `sptile convert`"},
    {"%%MatrixMarket", "is Matrix Market text, not a bundle; create one with `sptile convert`"},
    {"\x1f\x8b", "is gzip data, not a bundle; a bundle must be unpacked before it can be mapped"},
    {"\xfd"
     "7zXZ",
     "is xz data, not a bundle; a bundle must be unpacked before it can be mapped"},
    {"\x28\xb5\x2f\xfd", "is zstd data, not a bundle; a bundle must be unpacked before it can be mapped"},
    {"\xd3sptl\r\n\x1a", "is a bundle truncated in its header; copy it again"},
    {"\xd3sptl",
     "is a bundle whose line ends or high bytes were changed in transfer; copy it again in binary mode"},
    {"\xc3\x93sptl", "is a bundle that was converted as if it were text; copy it again in binary mode"},
    {"sptl", "is a bundle whose high bytes were lost in transfer; copy it again in binary mode"},
    {"Ssptl", "is a bundle whose high bits were cleared in transfer; copy it again in binary mode"},
};

Status bad(std::string message) { return fail(Errc::bad_input, std::move(message)); }

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

Status read_to(const FileBytes& file, std::uint64_t offset, void* to, std::size_t bytes) {
  return file.read(offset, {static_cast<std::byte*>(to), bytes});
}

/// Returns the error for a file that is not a bundle.
Status not_a_bundle(const FileBytes& file) {
  if (file.size() == 0) return bad("is empty; create a bundle with `sptile convert`");
  std::array<char, 16> start{};
  const std::size_t got = static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), start.size()));
  if (Status s = read_to(file, 0, start.data(), got); !s) return s;
  for (const Lookalike& row : kLookalikes)
    if (std::string_view(start.data(), got).starts_with(row.start)) return bad(std::string(row.message));
  for (std::uint64_t block = 512; block + kHdf5Signature.size() <= file.size(); block *= 2) {
    std::array<char, 8> found{};
    if (Status s = read_to(file, block, found.data(), found.size()); !s) return s;
    if (std::string_view(found.data(), found.size()) == kHdf5Signature)
      return bad("is HDF5 with a user block that is not sptile's; create a bundle with `sptile convert`");
  }
  return bad("is not a sptile bundle; create one with `sptile convert`");
}

/// Checks the sizes that bound the next reads.
Status check_sizes(const BundleHeader& h) {
  if (h.version > formats::kBundleVersion)
    return fail(Errc::unsupported, "needs layout version " + to_string(h.version) + "; this sptile reads " +
                                       to_string(formats::kBundleVersion) + "; use a newer sptile");
  if (h.version < formats::kBundleVersion)
    return bad("layout version " + to_string(h.version) + " is invalid; versions start at 1; convert again");
  if (!std::has_single_bit(h.user_block) || h.user_block < kSmallestBlock ||
      h.user_block > formats::kBundleUserBlockMax)
    return bad("user block of " + to_string(h.user_block) +
               " bytes; it must be a power of two from 4096 to 1 MiB; convert again");
  if (h.entries > formats::kBundleEntriesMax)
    return bad(to_string(h.entries) + " arrays; at most 4096 are allowed; convert again");
  if (sizeof(BundleHeader) + h.entries * sizeof(BundleEntry) > h.user_block)
    return bad("table of " + to_string(h.entries) + " arrays does not fit the user block of " +
               to_string(h.user_block) + " bytes; convert again");
  if (h.file_size < h.user_block + formats::kSuperblockBytes)
    return bad("size " + to_string(h.file_size) + " leaves no space after the user block of " +
               to_string(h.user_block) + " bytes; convert again");
  return {};
}

/// Returns whether the HDF5 superblock is the one that was written with the bundle.
Result<bool> superblock_is_intact(const FileBytes& file, const BundleHeader& h) {
  std::array<std::byte, formats::kSuperblockBytes> superblock{};
  // beyond the end: truncated, not rewritten
  if (file.size() < h.user_block + superblock.size()) return true;
  if (Status s = file.read(h.user_block, superblock); !s) return tl::unexpected(s.error());
  return std::memcmp(superblock.data(), kHdf5Signature.data(), kHdf5Signature.size()) == 0 &&
         formats::bundle_hash(superblock.data(), superblock.size()) == h.superblock_hash;
}

/// Checks the file size. The superblock contains it, so a rewritten file is distinguished from a truncated or
/// extended one.
Status check_container(const FileBytes& file, const BundleHeader& h) {
  const Result<bool> intact = superblock_is_intact(file, h);
  if (!intact) return tl::unexpected(intact.error());
  if (!*intact && file.size() == h.file_size)
    return bad("rewritten by an HDF5 tool: the superblock's hash differs from the header; convert again");
  if (file.size() == h.file_size) return {};
  const std::string sizes =
      "size " + to_string(file.size()) + " differs from " + to_string(h.file_size) + " in the header";
  if (!*intact) return bad("rewritten by an HDF5 tool: " + sizes + "; convert again");
  return bad((file.size() < h.file_size ? "truncated: " : "data was appended: ") + sizes + "; copy it again");
}

Status check_header(const BundleTable& table) {
  const BundleHeader& h = table.header;
  if (formats::bundle_header_hash(h, table.entries) != h.header_hash)
    return bad("header is damaged: its XXH3 hash differs; copy the file again or convert again");
  if (h.must_know != 0)
    return fail(Errc::unsupported,
                "needs feature " + hex(h.must_know) +
                    " unknown to this version; use the version that wrote it (h5dump -a /sptile_version)");
  if (std::any_of(std::begin(h.zero), std::end(h.zero), [](unsigned char c) { return c != 0; }))
    return bad("reserved bytes 56 to 63 of the header are not zero; convert again");
  return {};
}

Status check_path(const BundleEntry& e) {
  const std::size_t length = ::strnlen(e.path, sizeof e.path);
  if (length == sizeof e.path) return bad("path is not zero-terminated");
  if (e.path[0] != '/' || length < 2) return bad("path must start with / and name an array");
  const auto printable = [](char c) { return c > ' ' && c < 0x7f; };
  if (!std::all_of(e.path, e.path + length, printable)) return bad("path has unprintable bytes");
  if (std::any_of(e.path + length, std::end(e.path), [](char c) { return c != 0; }))
    return bad("path has bytes after its end");
  return {};
}

Status check_extent(const BundleEntry& e) {
  if (!is_known(static_cast<DType>(e.dtype)))
    return bad("dtype " + to_string(e.dtype) + " is unknown; expected 1 to 9");
  if (e.rank != 1 && e.rank != 2) return bad("rank " + to_string(e.rank) + ", must be 1 or 2");
  if (e.rank == 1 && e.dims[1] != 1)
    return bad("dims[1] is " + to_string(e.dims[1]) + ", must be 1 for rank 1");
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(e.dims[0], e.dims[1], &bytes) ||
      __builtin_mul_overflow(bytes, size_of(static_cast<DType>(e.dtype)), &bytes))
    return bad("dims " + to_string(e.dims[0]) + " x " + to_string(e.dims[1]) + " overflow");
  if (bytes != e.bytes)
    return bad("has " + to_string(e.bytes) + " bytes, its dims and dtype need " + to_string(bytes));
  if (e.zero != 0) return bad("reserved bytes are not zero");
  return {};
}

/// Checks the position of an array; `end` is the end of the previous one, or of HDF5's superblock.
Status check_place(const BundleEntry& e, std::uint64_t end, std::uint64_t file_size) {
  if (e.bytes == 0) {
    if (e.offset != 0) return bad("is empty, so its offset must be 0, not " + to_string(e.offset));
    return {};
  }
  if (e.offset % formats::kBundleAlignment != 0)
    return bad("offset " + to_string(e.offset) + " is not a multiple of 4096");
  if (e.offset < end)
    return bad("offset " + to_string(e.offset) + " overlaps the preceding data, up to " + to_string(end) +
               "; arrays must be sorted by offset");
  if (e.offset > file_size || e.bytes > file_size - e.offset)
    return bad("reaches to " + to_string(e.offset) + " + " + to_string(e.bytes) +
               " bytes, past the end of the file at " + to_string(file_size));
  return {};
}

Status check_entries(const BundleTable& table) {
  std::uint64_t end = table.header.user_block + formats::kSuperblockBytes;
  bool data_seen = false;
  for (std::size_t i = 0; i < table.entries.size(); ++i) {
    const BundleEntry& e = table.entries[i];
    Status s = check_path(e);
    if (!s) return bad("array " + to_string(i) + ": " + s.error().message + "; convert again");
    s = check_extent(e);
    if (s) s = check_place(e, end, table.header.file_size);
    if (s && e.bytes == 0 && data_seen) s = bad("is empty and must precede the others");
    if (!s) return bad(std::string(path_of(e)) + ": " + s.error().message + "; convert again");
    if (e.bytes > 0) end = e.offset + e.bytes, data_seen = true;
  }
  return {};
}

Status check_unique(const BundleTable& table) {
  std::vector<std::string_view> paths;
  for (const BundleEntry& e : table.entries) paths.push_back(path_of(e));
  std::sort(paths.begin(), paths.end());
  const auto twice = std::adjacent_find(paths.begin(), paths.end());
  if (twice != paths.end()) return bad(std::string(*twice) + " is listed twice; convert again");
  return {};
}

}  // namespace

Result<BundleTable> read_bundle_table(const FileBytes& file) {
  BundleTable table;
  BundleHeader& h = table.header;
  if (file.size() >= sizeof h)
    if (Status s = read_to(file, 0, &h, sizeof h); !s) return tl::unexpected(s.error());
  Status s = std::equal(std::begin(h.magic), std::end(h.magic), formats::kBundleMagic) ? check_sizes(h)
                                                                                       : not_a_bundle(file);
  if (!s) return tl::unexpected(s.error());
  table.entries.resize(h.entries);
  const std::size_t table_bytes = h.entries * sizeof(BundleEntry);
  if (file.size() >= sizeof h + table_bytes) {
    s = read_to(file, sizeof h, table.entries.data(), table_bytes);
    if (s) s = check_header(table);
  }
  if (s) s = check_container(file, h);
  if (s) s = check_entries(table);
  if (s) s = check_unique(table);
  if (!s) return tl::unexpected(s.error());
  return table;
}

std::string_view path_of(const BundleEntry& entry) {
  return {entry.path, ::strnlen(entry.path, sizeof entry.path)};
}

std::int64_t elements_of(const BundleEntry& entry) {
  return static_cast<std::int64_t>(entry.bytes / size_of(static_cast<DType>(entry.dtype)));
}

}  // namespace sptile::runtime
