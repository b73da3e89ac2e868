// A table of results in a CSV file that grows row by row, so that an interrupted benchmark goes on where it
// was.
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

/// One column: the key of the JSON row, whether it is text, and whether it takes part in telling rows apart.
struct CsvColumn {
  std::string_view key;
  bool text, identifies;
};

/// Keeps the rows of one CSV file. The file is opened once, so reading, cutting and appending concern one
/// file, even where another one has taken its name. Rows are JSON objects that have a value for every column.
class CsvLog {
 public:
  /// Reads the rows that `path` has, if it exists; an empty path keeps nothing. A last line that was cut off
  /// by a crash is dropped. A file that has other columns or broken lines is left as it is: Errc::bad_input,
  /// with file:line. Errc::usage for what is no regular file, Errc::io when it cannot be read.
  static Result<CsvLog> open(const std::string& path, std::span<const CsvColumn> columns);

  /// The rows of a file, in its order, for reading only: it is left as it is, a last line without end is not
  /// taken. Errc::io when there is none; else as `open`.
  static Result<std::vector<Json>> read(const std::string& path, std::span<const CsvColumn> columns);

  /// Finds the row that agrees with `wanted` in all identifying columns; nullptr when there is none.
  [[nodiscard]] const Json* find(const Json& wanted) const;

  /// Lists the rows that the file had, in its order.
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
  std::map<std::string, std::size_t> places_;  // in rows_, by identity
};

}  // namespace sptile::tools
