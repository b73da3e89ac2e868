// The bytes in front of a bundle: header and table of the user block, layout version 1. Writer and runtime
// share these definitions. All little-endian.
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
inline constexpr std::uint64_t kBundleAlignment = 4096;  ///< of arrays; user blocks are multiples of it
inline constexpr std::uint64_t kBundleUserBlockMax = 1 << 20;
inline constexpr std::uint32_t kBundleEntriesMax = 4096;
inline constexpr std::uint64_t kSuperblockBytes = 48;  ///< of HDF5's superblock, hashed

/// May-ignore flag: the matrix is a pattern; /csr/values holds the one iso value 1 and the formats have no
/// values.
inline constexpr std::uint32_t kBundlePattern = 1;
/// May-ignore flags: the matrix is its own transpose, bit by bit, or it is not; without either nobody looked.
inline constexpr std::uint32_t kBundleSymmetric = 2;
inline constexpr std::uint32_t kBundleNotSymmetric = 4;

/// Which of the two matrices of a bundle: A, or A^T where it is there.
enum class Side { matrix, transpose };

struct BundleHeader {
  unsigned char magic[8];
  std::uint32_t version;
  std::uint32_t entries;
  std::uint64_t user_block;  ///< where HDF5's superblock starts
  std::uint64_t file_size;
  std::uint64_t header_hash;      ///< XXH3-64 of the header with this field zero, followed by the entries
  std::uint64_t superblock_hash;  ///< XXH3-64 of the superblock
  std::uint32_t may_ignore;       ///< feature flags
  std::uint32_t must_know;        ///< feature flags; a reader refuses unknown ones
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

/// Where the one matrix of a bundle stands, and its other ones: a group of the root that has, below it, all
/// that the root has of the first ("/halo/shape", "/halo/csr/values").
std::string matrix_group(std::string_view matrix);

inline constexpr const char* kShapePath = "/shape";
inline constexpr const char* kChoicesPath = "/choices";  ///< also the name of an attribute of "/"
inline constexpr const char* kRowOrderPath = "/row_order";
inline constexpr const char* kTransposeGroup = "/transpose";  ///< has row_order and formats of its own
inline constexpr const char* kCsrPointersPath = "/csr/pointers_to_1";
inline constexpr const char* kCsrIndicesPath = "/csr/indices_1";
inline constexpr const char* kCsrValuesPath = "/csr/values";
inline constexpr const char* kValueSourceName = "value_source";  ///< optional array in the group of a format

/// Stored plans: /plans/0000, /plans/0001, ..., each with three arrays.
inline constexpr const char* kPlansPath = "/plans";
inline constexpr const char* kPlanKeyName = "key";            ///< u8: text, all that must match
inline constexpr const char* kPlanNumbersName = "numbers";    ///< i64
inline constexpr const char* kPlanScheduleName = "schedule";  ///< u8: what launches read

/// Group of a format: "/formats/bittcf", "/csr", "/transpose/formats/bittcf", "/transpose/formats/csr".
std::string bundle_group(const FormatLayout& layout, Side side = Side::matrix);

/// Path of one array of a format, by its position in layout.arrays: "/formats/bittcf/tc_offset"; the arrays
/// of /csr have their binsparse names.
std::string bundle_path(const FormatLayout& layout, std::size_t array, Side side = Side::matrix);

/// Path of the positions in /csr/values that a format's values come from.
std::string value_source_path(const FormatLayout& layout, Side side = Side::matrix);

/// Path of the order of the rows in the formats.
std::string row_order_path(Side side);

/// XXH3-64 of some bytes; `data` may be null when there are none.
std::uint64_t bundle_hash(const void* data, std::uint64_t bytes);

/// The value that BundleHeader::header_hash must have; the field itself counts as zero.
std::uint64_t bundle_header_hash(BundleHeader header, std::span<const BundleEntry> entries);

/// XXH3-64 of bytes that come piece by piece.
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
