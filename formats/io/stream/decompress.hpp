// Compressed input: a table of codecs, recognized by their first bytes.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "formats/core/error.hpp"

namespace sptile::formats {

/// Decoder of one or more concatenated streams.
class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Decodes from the start of `in` to the start of `out`, which must not be empty, and advances both.
  /// `last`: no input follows `in`. Zeros after the data are padding. Errc::bad_input for corrupt data and
  /// for other bytes after the data; Errc::io if memory is short; Errc::unsupported for unsupported codec
  /// options. After an error, `out` has been advanced past the valid output, and the decoder must not be
  /// used.
  virtual Status decode(std::span<const char>& in, std::span<char>& out, bool last) = 0;
  /// Returns whether the input may end here, between two streams.
  [[nodiscard]] virtual bool complete() const = 0;
};

struct Codec {
  std::string_view name;    ///< "gzip"
  std::string_view ending;  ///< name extension: ".gz"
  std::string_view magic;   ///< first bytes of every file; '?' matches any byte
  std::unique_ptr<Decoder> (*make)();
};

/// Maximum length of the magics, in bytes.
inline constexpr std::size_t kLongestMagic = 6;

/// Returns the codec of data that starts with `head`; nullptr if it is not compressed.
const Codec* find_codec(std::string_view head);

/// Returns the codec's extension at the end of a name; empty if there is none.
std::string_view codec_ending(std::string_view name);

/// Errc::unsupported, naming the format, for data in a compressed format that sptile does not read.
Status check_codec(std::string_view head);

}  // namespace sptile::formats
