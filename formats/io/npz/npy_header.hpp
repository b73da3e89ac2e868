// The header of a .npy array, which is what members of .npz archives are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/core/error.hpp"
#include "formats/io/text/numbers.hpp"

namespace sptile::formats {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

/// The bytes in front of the dictionary: magic, version and its length, 2 or 4 bytes of that.
inline constexpr std::int64_t kNpyStart = 8;

struct NpyHeader {
  std::string descr;                ///< "<f8"
  bool columns_first = false;       ///< fortran_order
  std::vector<std::int64_t> shape;  ///< none negative; their product is count
  std::int64_t count = 1;           ///< elements
};

/// Reads the dictionary, "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }". Errc::bad_input for
/// anything else, Errc::unsupported for pickled objects and for structures.
Result<NpyHeader> parse_npy_header(std::string_view dictionary);

/// Makes one, magic and all, of a multiple of 64 bytes.
std::string npy_header(std::string_view descr, const std::vector<std::int64_t>& shape);

/// The numbers that "<f8" stands for; Errc::unsupported for other elements.
Result<NumberType> number_type(std::string_view descr);

}  // namespace sptile::formats
