// Compressed input: a table of codecs, recognised by their first bytes.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "formats/core/error.hpp"

namespace sptile::formats {

/// Decodes one stream, or several one after the other.
class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Moves bytes from the front of `in` to the front of `out`, shortening both; needs room in `out`. `last`
  /// says that nothing follows `in`. Zeros after the data are padding. Errc::bad_input for corrupt data and
  /// for anything else after the data, Errc::io where it needs more memory than there is, Errc::unsupported
  /// for options of the codec that are not available; `out` then has what was decoded before, and the decoder
  /// is of no more use.
  virtual Status decode(std::span<const char>& in, std::span<char>& out, bool last) = 0;
  /// True where the input may end: between two streams.
  [[nodiscard]] virtual bool complete() const = 0;
};

struct Codec {
  std::string_view name;    ///< "gzip"
  std::string_view ending;  ///< of names: ".gz"
  std::string_view magic;   ///< the bytes that every file of it starts with; '?' is any byte
  std::unique_ptr<Decoder> (*make)();
};

/// The longest magic of all codecs, in bytes.
inline constexpr std::size_t kLongestMagic = 6;

/// Finds the codec of data that starts with `head`; nullptr when it is not compressed.
const Codec* find_codec(std::string_view head);

/// The ending of a name that is that of a codec; empty where there is none.
std::string_view codec_ending(std::string_view name);

/// Errc::unsupported, naming the format, for data in a compressed format that sptile does not read.
Status check_codec(std::string_view head);

}  // namespace sptile::formats
