// The matrix in a tar archive, as the SuiteSparse Matrix Collection packs it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/core/error.hpp"
#include "formats/io/stream/tar_reader.hpp"

namespace sptile::formats {

/// Gives the text of the one Matrix Market file of an archive, in one pass and without unpacking it.
/// NAME/NAME_b.mtx, _x.mtx and the like are what comes with the matrix NAME/NAME.mtx, and are left aside.
class TarMatrix {
 public:
  /// Goes to the file; `head` and `archive` as of TarReader. Errc::bad_input, saying what the archive holds,
  /// where there is none; Errc::unsupported for links and for files stored with holes.
  static Result<TarMatrix> open(DecodedStream& archive, std::string_view head);

  /// Gives at least one byte of the file, 0 at its end. There it reads on to the end of the archive:
  /// Errc::bad_input where another matrix stands in it.
  Result<std::int64_t> read(std::span<char> out);

  [[nodiscard]] const std::string& member() const { return member_; }

 private:
  TarMatrix(DecodedStream& archive, std::string_view head)
      : reader_(archive, head), archive_name_(archive.input().name()) {}
  Status find();
  Status look_behind();
  void note(const std::string& name);
  [[nodiscard]] tl::unexpected<Error> refuse(Errc code, const std::string& what) const;

  TarReader reader_;
  std::string archive_name_;
  std::string member_;
  std::vector<std::string> held_;  // the first names, for messages
  bool more_held_ = false;
  std::optional<Status> end_;  // how it was, once reached
};

}  // namespace sptile::formats
