// Reader of the matrix in a tar archive of the SuiteSparse Matrix Collection.
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

/// Reads the single Matrix Market file of an archive in one pass, without extracting it. Files that belong to
/// the matrix NAME/NAME.mtx, such as NAME/NAME_b.mtx or _x.mtx, are ignored.
class TarMatrix {
 public:
  /// Finds the file; `head` and `archive` as in TarReader. Errc::bad_input, listing the contents, if there is
  /// none; Errc::unsupported for links and sparse files.
  static Result<TarMatrix> open(DecodedStream& archive, std::string_view head);

  /// Reads at least one byte of the file, or returns 0 at its end, after reading the rest of the archive.
  /// Errc::bad_input if the archive contains another matrix.
  Result<std::int64_t> read(std::span<char> out);

  [[nodiscard]] const std::string& member() const { return member_; }

 private:
  TarMatrix(DecodedStream& archive, std::string_view head)
      : reader_(archive, head), archive_name_(archive.input().name()) {}
  Status find();
  Status check_end();
  void note(const std::string& name);
  [[nodiscard]] tl::unexpected<Error> refuse(Errc code, const std::string& what) const;

  TarReader reader_;
  std::string archive_name_;
  std::string member_;
  std::vector<std::string> held_;  // first names in the archive, for messages
  bool more_held_ = false;
  std::optional<Status> end_;  // result of reading the rest, once the end is reached
};

}  // namespace sptile::formats
