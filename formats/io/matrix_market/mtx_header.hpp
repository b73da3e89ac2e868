// The start of a Matrix Market file: banner, comments, size line.
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/core/error.hpp"
#include "formats/io/matrix_market/matrix_market.hpp"

namespace sptile::formats {

/// True where text starts with the first word of a banner, in upper or lower case. A byte-order mark, white
/// space in front of it and one '%' instead of two are accepted: files in circulation have them.
bool is_banner(std::string_view text);

/// What a line of a Matrix Market file is, by its first word; comments and blank lines may stand anywhere
/// after the banner.
bool is_comment_or_blank(std::string_view line);

/// Reads the header line by line. Errors carry no place; the caller knows the line.
class MtxHeaderReader {
 public:
  /// `real_part`: complex files are not refused.
  explicit MtxHeaderReader(bool real_part) : real_part_(real_part) {}

  /// Takes the next line (without its end); true when it was the size line, after which `header()` is
  /// complete. Errc::bad_input for what the format does not allow, Errc::unsupported for complex values and
  /// for more than 2^31 - 1 rows or columns.
  Result<bool> take(std::string_view line);

  [[nodiscard]] const MtxHeader& header() const { return header_; }
  /// What the file should go on with, for files that end too early.
  [[nodiscard]] std::string_view awaits() const;

 private:
  Status take_banner(std::string_view line);
  Status take_size(std::string_view line);

  MtxHeader header_;
  bool real_part_;
  bool has_banner_ = false;
};

/// Fewest bytes of text that `entries` entries need, whether or not the last line has an end; -1 when that is
/// more than 2^63 - 1.
std::int64_t fewest_bytes(const MtxHeader& header);

}  // namespace sptile::formats
