// Table of results in a CSV file that grows row by row, so that an interrupted benchmark can be resumed.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/json.hpp"

namespace sptile::tools {

/// A column: the key of the JSON row, whether it is text, and whether it is part of the row's identity.
struct CsvColumn {
  std::string_view key;
  bool text, identifies;
};

/// The rows of one CSV file. The file is opened once, so reading, truncating and appending apply to the same
/// file, even if it is replaced. Rows are JSON objects with a value for every column.
class CsvLog {
 public:
  /// Reads the rows of `path`, if it exists; an empty path stores nothing. A last line that was truncated by
  /// a crash is dropped. A file with other columns or invalid lines is not modified: Errc::bad_input, with
  /// file:line. Errc::usage if it is not a regular file, Errc::io if it cannot be read.
  static Result<CsvLog> open(const std::string& path, std::span<const CsvColumn> columns);

  /// Returns the rows of a file in order, without modifying it. A last line without newline is ignored.
  /// Errc::io if the file does not exist, other errors as for `open`.
  static Result<std::vector<Json>> read(const std::string& path, std::span<const CsvColumn> columns);

  /// Returns the row that equals `predicate` in all identifying columns; nullptr if there is none.
  [[nodiscard]] const Json* find(const Json& predicate) const;

  /// Returns the rows that the file had, in order.
  [[nodiscard]] const std::vector<Json>& rows() const { return rows_; }

  /// Appends a row to the file and flushes it.
  Status append(const Json& row);

 private:
  [[nodiscard]] std::string identity(const Json& row) const;
  [[nodiscard]] std::string line(const Json& row) const;
  [[nodiscard]] std::string head() const;
  Status open_file(int flags);
  Result<std::string> read_text();
  Status read_lines(const std::string& text);
  [[nodiscard]] Status drop_torn_line(const std::string& text, std::size_t keep) const;
  [[nodiscard]] Status add_text(const std::string& text) const;

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::span<const CsvColumn> columns_;
  std::vector<Json> rows_;
  std::map<std::string, std::size_t> places_;  // index in rows_, by identity
};

}  // namespace sptile::tools
