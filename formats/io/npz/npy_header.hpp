// Header of a .npy array, the content of .npz members.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/core/error.hpp"
#include "formats/io/text/numbers.hpp"

namespace sptile::formats {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

/// Bytes before the length of the dictionary: magic and version.
inline constexpr std::int64_t kNpyStart = 8;

struct NpyHeader {
  std::string descr;                ///< "<f8"
  bool columns_first = false;       ///< fortran_order
  std::vector<std::int64_t> shape;  ///< no negative sizes; their product is count
  std::int64_t count = 1;           ///< elements
};

/// Parses the dictionary "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }". Errc::bad_input for
/// invalid text, Errc::unsupported for pickled objects and structures.
Result<NpyHeader> parse_npy_header(std::string_view dictionary);

/// Returns a complete header, padded to a multiple of 64 bytes.
std::string npy_header(std::string_view descr, const std::vector<std::int64_t>& shape);

/// Returns the number type of a descr such as "<f8"; Errc::unsupported for other elements.
Result<NumberType> number_type(std::string_view descr);

}  // namespace sptile::formats
