#include "tools/measure/csv_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "formats/core/printable.hpp"
#include "tools/pipeline/json_text.hpp"

namespace sptile::tools {
namespace {

// Quotes text as RFC 4180: text with commas, quotes or newlines is quoted, quotes are doubled.
std::string quote(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

// Returns a value as stored in the file: names of matrices may contain any bytes.
Json shown(const Json& value) {
  return value.is_string() ? Json(printable(value.get<std::string>())) : value;
}

// Splits one record at `at` and moves `at` past its newline. Nullopt if the text ends before the record does.
std::optional<std::vector<std::string>> next_record(const std::string& text, std::size_t& at) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted && c == '"' && at + 1 < text.size() && text[at + 1] == '"') {
      fields.back() += text[at++];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      fields.emplace_back();
    } else if (!quoted && c == '\n') {
      ++at;
      return fields;
    } else {
      fields.back() += c;
    }
  }
  return std::nullopt;
}

// Returns the length of the text up to its last newline.
std::size_t whole_lines(const std::string& text) { return text.find_last_of('\n') + 1; }  // npos + 1 == 0

// Parses a cell. Of JSON, only numbers, true and false are accepted, because lists may be nested too deeply.
Json parse_field(const CsvColumn& column, const std::string& field) {
  if (column.text) return printable(field);
  if (field.empty()) return nullptr;
  const bool is_scalar = field.find_first_of("[{\"") == std::string::npos;
  return is_scalar ? Json::parse(field, nullptr, false) : Json(Json::value_t::discarded);
}

// Rows with other columns have other keys, so they are neither used nor appended to.
Status check_head(const std::vector<std::string>& fields, std::span<const CsvColumn> columns,
                  const std::string& path) {
  const auto refuse = [&](const std::string& what) {
    return fail(Errc::bad_input,
                fmt::format("{}; it was written by another version or program; name a new file", what),
                path + ":1");
  };
  for (const CsvColumn& column : columns)
    if (std::find(fields.begin(), fields.end(), column.key) == fields.end())
      return refuse(fmt::format("has no column '{}'", column.key));
  const bool same = std::equal(fields.begin(), fields.end(), columns.begin(), columns.end(),
                               [](const std::string& field, const CsvColumn& c) { return field == c.key; });
  return same ? Status() : refuse("has more columns or a different column order");
}

// Other files cannot be read back or truncated.
Status not_regular(const std::string& path) {
  return fail(Errc::usage, "is not a regular file; expected a file that can be read back", path);
}

}  // namespace

std::string CsvLog::identity(const Json& row) const {
  std::string text;
  for (const CsvColumn& column : columns_)
    if (column.identifies) text += json_text(shown(row.at(std::string(column.key)))) + "\n";
  return text;
}

std::string CsvLog::line(const Json& row) const {
  std::string text;
  for (const CsvColumn& column : columns_) {
    const Json& value = row.at(std::string(column.key));
    if (!text.empty() || &column != columns_.data()) text += ",";
    if (!value.is_null()) text += value.is_string() ? quote(shown(value)) : json_text(value);
  }
  return text + "\n";
}

Status CsvLog::read_lines(const std::string& text) {
  std::size_t at = 0;
  for (std::size_t number = 1; at < text.size(); ++number) {
    const auto fields = next_record(text, at);
    if (!fields) break;
    if (number == 1) {
      if (Status s = check_head(*fields, columns_, path_); !s) return s;
      continue;
    }
    const std::string where = fmt::format("{}:{}", path_, number);
    if (fields->size() != columns_.size())
      return fail(Errc::bad_input,
                  fmt::format("{} fields, expected {}; name a new file", fields->size(), columns_.size()),
                  where);
    Json row = Json::object();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      Json value = parse_field(columns_[i], (*fields)[i]);
      if (value.is_discarded())
        return fail(Errc::bad_input, fmt::format("'{}' is not a valid {}", (*fields)[i], columns_[i].key),
                    where);
      row[std::string(columns_[i].key)] = std::move(value);
    }
    const auto [known, is_new] = places_.try_emplace(identity(row), rows_.size());
    if (is_new)
      rows_.push_back(std::move(row));
    else  // the last row of equal keys counts
      rows_[known->second] = std::move(row);
  }
  return {};
}

std::string CsvLog::head() const {
  std::string text;
  for (const CsvColumn& column : columns_) text.append(text.empty() ? "" : ",").append(column.key);
  return text + "\n";
}

// Text after the last newline was truncated by a crash, or the file is not a log.
Status CsvLog::drop_torn_line(const std::string& text, std::size_t keep) const {
  if (keep == text.size()) return {};
  if (keep == 0 && !head().starts_with(text))
    return fail(Errc::bad_input, "is not a bench CSV file; name a new file", path_);
  return ::ftruncate(::fileno(file_.get()), static_cast<off_t>(keep)) == 0
             ? Status()
             : fail(Errc::io, std::strerror(errno), path_);
}

// O_NONBLOCK, so that a named pipe does not block.
Status CsvLog::open_file(int flags) {
  const int fd = ::open(path_.c_str(), flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
  if (fd < 0) return errno == EISDIR ? not_regular(path_) : fail(Errc::io, std::strerror(errno), path_);
  file_.reset(::fdopen(fd, (flags & O_ACCMODE) == O_RDONLY ? "rb" : "a+b"));
  if (!file_) {
    ::close(fd);
    return fail(Errc::io, std::strerror(errno), path_);
  }
  struct stat facts {};
  return ::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) ? Status() : not_regular(path_);
}

// Reads the entire file and parses its complete lines.
Result<std::string> CsvLog::read_text() {
  std::string text;
  std::vector<char> block(1 << 16);
  std::rewind(file_.get());
  while (const std::size_t count = std::fread(block.data(), 1, block.size(), file_.get()))
    text.append(block.data(), count);
  if (std::ferror(file_.get()) != 0) return fail(Errc::io, std::strerror(errno), path_);
  if (Status s = read_lines(text.substr(0, whole_lines(text))); !s)
    return tl::unexpected(std::move(s.error()));
  return text;
}

Result<std::vector<Json>> CsvLog::read(const std::string& path, std::span<const CsvColumn> columns) {
  CsvLog log;
  log.path_ = path;
  log.columns_ = columns;
  if (Status s = log.open_file(O_RDONLY); !s) return tl::unexpected(std::move(s.error()));
  const auto text = log.read_text();
  if (!text) return tl::unexpected(text.error());
  if (whole_lines(*text) == 0) return fail(Errc::bad_input, "is not a bench CSV file", path);
  return std::move(log.rows_);
}

Result<CsvLog> CsvLog::open(const std::string& path, std::span<const CsvColumn> columns) {
  CsvLog log;
  log.path_ = path;
  log.columns_ = columns;
  if (path.empty()) return log;
  if (Status s = log.open_file(O_RDWR | O_CREAT | O_APPEND); !s) return tl::unexpected(std::move(s.error()));
  const auto text = log.read_text();
  if (!text) return tl::unexpected(text.error());
  const std::size_t whole = whole_lines(*text);
  if (Status s = log.drop_torn_line(*text, whole); !s) return tl::unexpected(std::move(s.error()));
  if (whole > 0) return log;
  if (Status s = log.add_text(log.head()); !s) return tl::unexpected(std::move(s.error()));
  return log;
}

const Json* CsvLog::find(const Json& predicate) const {
  const auto found = places_.find(identity(predicate));
  return found == places_.end() ? nullptr : &rows_[found->second];
}

Status CsvLog::add_text(const std::string& text) const {
  const bool written = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size();
  if (std::fflush(file_.get()) == 0 && written) return {};
  return fail(Errc::io, std::strerror(errno), path_);
}

Status CsvLog::append(const Json& row) { return path_.empty() ? Status() : add_text(line(row)); }

}  // namespace sptile::tools
