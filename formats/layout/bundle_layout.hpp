// Header and table of a bundle's user block (layout version 1, little-endian), which precede the HDF5 data.
// The writer and the runtime share these definitions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "formats/layout/format_layout.hpp"

namespace sptile::formats {

static_assert(std::endian::native == std::endian::little, "bundles are mapped as they are: little-endian");

inline constexpr unsigned char kBundleMagic[8] = {0xD3, 's', 'p', 't', 'l', '\r', '\n', 0x1A};
inline constexpr std::uint32_t kBundleVersion = 1;
inline constexpr std::uint64_t kBundleAlignment = 4096;  ///< bytes, for arrays and the size of user blocks
inline constexpr std::uint64_t kBundleUserBlockMax = 1 << 20;
inline constexpr std::uint32_t kBundleEntriesMax = 4096;
inline constexpr std::uint64_t kSuperblockBytes = 48;  ///< hashed bytes of HDF5's superblock

/// May-ignore flag: the matrix is a pattern; /csr/values holds the one iso value 1 and the formats have no
/// values.
inline constexpr std::uint32_t kBundlePattern = 1;
/// May-ignore flags: the matrix equals its transpose bit for bit, or does not; neither is set if unknown.
inline constexpr std::uint32_t kBundleSymmetric = 2;
inline constexpr std::uint32_t kBundleNotSymmetric = 4;

/// Selects A or its stored transpose A^T.
enum class Side { matrix, transpose };

struct BundleHeader {
  unsigned char magic[8];
  std::uint32_t version;
  std::uint32_t entries;
  std::uint64_t user_block;  ///< offset of HDF5's superblock
  std::uint64_t file_size;
  std::uint64_t header_hash;  ///< XXH3-64 of the header with this field zero, followed by the table entries
  std::uint64_t superblock_hash;  ///< XXH3-64 of the superblock
  std::uint32_t may_ignore;       ///< feature flags
  std::uint32_t must_know;        ///< feature flags; readers reject unknown ones
  unsigned char zero[8];
};
static_assert(sizeof(BundleHeader) == 64);

struct BundleEntry {
  char path[72];          ///< HDF5 path, NUL-padded
  std::uint32_t dtype;    ///< DType
  std::uint32_t rank;     ///< 1 or 2
  std::uint64_t dims[2];  ///< dims[1] is 1 for rank 1
  std::uint64_t offset;   ///< absolute; 0 for an empty array
  std::uint64_t bytes;
  std::uint64_t hash;  ///< XXH3-64 of the bytes
  std::uint64_t zero;
};
static_assert(sizeof(BundleEntry) == 128);

/// Returns the group of a matrix of a bundle: "" for the first one, "/NAME" for others. The group of another
/// matrix has the same structure as the root ("/halo/shape", "/halo/csr/values").
std::string matrix_group(std::string_view matrix);

inline constexpr const char* kShapePath = "/shape";
inline constexpr const char* kChoicesPath = "/choices";  ///< also the name of an attribute of "/"
inline constexpr const char* kRowOrderPath = "/row_order";
inline constexpr const char* kTransposeGroup = "/transpose";  ///< has its own row_order and formats
inline constexpr const char* kCsrPointersPath = "/csr/pointers_to_1";
inline constexpr const char* kCsrIndicesPath = "/csr/indices_1";
inline constexpr const char* kCsrValuesPath = "/csr/values";
inline constexpr const char* kValueSourceName = "value_source";  ///< optional array in the group of a format

/// Stored plans: groups /plans/0000, /plans/0001, ..., each with three arrays.
inline constexpr const char* kPlansPath = "/plans";
inline constexpr const char* kPlanKeyName = "key";            ///< u8: text that must match exactly
inline constexpr const char* kPlanNumbersName = "numbers";    ///< i64
inline constexpr const char* kPlanScheduleName = "schedule";  ///< u8: schedule that launches read

/// Returns the group of a format: "/formats/bittcf", "/csr", "/transpose/formats/bittcf",
/// "/transpose/formats/csr".
std::string bundle_group(const FormatLayout& layout, Side side = Side::matrix);

/// Returns the path of an array of a format, given its index in layout.arrays: "/formats/bittcf/tc_offset".
/// The arrays of /csr have their binsparse names.
std::string bundle_path(const FormatLayout& layout, std::size_t array, Side side = Side::matrix);

/// Returns the path of the array that maps a format's values to positions in /csr/values.
std::string value_source_path(const FormatLayout& layout, Side side = Side::matrix);

/// Returns the path of the row order of the formats.
std::string row_order_path(Side side);

/// Returns XXH3-64 of `bytes` bytes; `data` may be null if `bytes` is 0.
std::uint64_t bundle_hash(const void* data, std::uint64_t bytes);

/// Returns the correct value of BundleHeader::header_hash, which is hashed as zero.
std::uint64_t bundle_header_hash(BundleHeader header, std::span<const BundleEntry> entries);

/// Incremental XXH3-64.
class BundleHasher {
 public:
  BundleHasher();
  ~BundleHasher();
  void add(const void* data, std::uint64_t bytes);
  [[nodiscard]] std::uint64_t hash() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sptile::formats
