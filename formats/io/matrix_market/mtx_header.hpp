// Start of a Matrix Market file: banner, comments and size line.
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/core/error.hpp"
#include "formats/io/matrix_market/matrix_market.hpp"

namespace sptile::formats {

/// Returns whether text starts with the first word of a banner, ignoring case. Accepts a leading byte-order
/// mark or white space, and one '%' instead of two, which occur in existing files.
bool is_banner(std::string_view text);

/// Returns whether a line is a comment or blank, both of which may be anywhere after the banner.
bool is_comment_or_blank(std::string_view line);

/// Parses the header line by line. Errors have no location; the caller has the line number.
class MtxHeaderReader {
 public:
  /// `real_part`: accept complex files.
  explicit MtxHeaderReader(bool real_part) : real_part_(real_part) {}

  /// Parses the next line (without its end). Returns true for the size line, after which `header()` is
  /// complete. Errc::bad_input for invalid lines, Errc::unsupported for complex values and for more than 2^31
  /// - 1 rows or columns.
  Result<bool> take(std::string_view line);

  [[nodiscard]] const MtxHeader& header() const { return header_; }
  /// Returns a description of the expected next line, for files that end too early.
  [[nodiscard]] std::string_view awaits() const;

 private:
  Status take_banner(std::string_view line);
  Status take_size(std::string_view line);

  MtxHeader header_;
  bool real_part_;
  bool has_banner_ = false;
};

/// Returns the minimum number of bytes for `entries` entries, with an optional final line end; -1 if it
/// exceeds 2^63 - 1.
std::int64_t min_bytes(const MtxHeader& header);

}  // namespace sptile::formats
