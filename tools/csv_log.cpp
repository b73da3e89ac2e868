#include "tools/csv_log.hpp"

#include "tools/json.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

namespace sptile::tools {
namespace {

// RFC 4180: text with commas, quotes or line ends is quoted, quotes are doubled.
std::string quote(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

// Splits one record at `at`; moves `at` past its line end. Nothing when the text ends before the record does.
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

Json parse_field(const CsvColumn& column, const std::string& field) {
  if (column.text) return field;
  return field.empty() ? Json(nullptr) : Json::parse(field, nullptr, false);
}

}  // namespace

std::string CsvLog::identity(const Json& row) const {
  std::string text;
  for (const CsvColumn& column : columns_)
    if (column.identifies) text += row.at(std::string(column.key)).dump() + "\n";
  return text;
}

std::string CsvLog::line(const Json& row) const {
  std::string text;
  for (const CsvColumn& column : columns_) {
    const Json& value = row.at(std::string(column.key));
    if (!text.empty() || &column != columns_.data()) text += ",";
    if (!value.is_null()) text += value.is_string() ? quote(value.get<std::string>()) : value.dump();
  }
  return text + "\n";
}

Status CsvLog::read_lines(const std::string& text) {
  std::size_t at = 0;
  for (std::size_t number = 1; at < text.size(); ++number) {
    const auto fields = next_record(text, at);
    if (!fields) break;
    const std::string where = fmt::format("{}:{}", path_, number);
    if (fields->size() != columns_.size())
      return fail(Errc::bad_input,
                  fmt::format("{} fields, expected {}; name a new file to start over", fields->size(),
                              columns_.size()),
                  where);
    Json row = Json::object();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (number == 1 && (*fields)[i] != columns_[i].key)
        return fail(Errc::bad_input,
                    fmt::format("column '{}', expected '{}'; name a new file to start over", (*fields)[i],
                                columns_[i].key),
                    where);
      if (number == 1) continue;
      Json value = parse_field(columns_[i], (*fields)[i]);
      if (value.is_discarded())
        return fail(Errc::bad_input, fmt::format("'{}' is no value for {}", (*fields)[i], columns_[i].key),
                    where);
      row[std::string(columns_[i].key)] = std::move(value);
    }
    if (number == 1) continue;
    const auto [known, is_new] = places_.try_emplace(identity(row), rows_.size());
    if (is_new)
      rows_.push_back(std::move(row));
    else  // the last one counts
      rows_[known->second] = std::move(row);
  }
  return {};
}

Result<CsvLog> CsvLog::open(const std::string& path, std::span<const CsvColumn> columns) {
  CsvLog log;
  log.path_ = path;
  log.columns_ = columns;
  if (path.empty()) return log;
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (in && in.peek() != std::ifstream::traits_type::eof()) text << in.rdbuf();
  std::string whole = text.str();
  whole.erase(whole.find_last_of('\n') + 1);
  if (Status s = log.read_lines(whole); !s) return tl::unexpected(std::move(s.error()));
  if (in.is_open() && whole.size() != text.str().size() &&
      ::truncate(path.c_str(), static_cast<off_t>(whole.size())) != 0)
    return fail(Errc::io, std::strerror(errno), path);
  if (!whole.empty()) return log;
  std::ofstream out(path, std::ios::binary);
  for (const CsvColumn& column : columns) out << (&column == columns.data() ? "" : ",") << column.key;
  if (!(out << std::endl)) return fail(Errc::io, std::strerror(errno), path);
  return log;
}

const Json* CsvLog::find(const Json& wanted) const {
  const auto found = places_.find(identity(wanted));
  return found == places_.end() ? nullptr : &rows_[found->second];
}

Status CsvLog::append(const Json& row) {
  if (path_.empty()) return {};
  std::ofstream out(path_, std::ios::binary | std::ios::app);
  if (!(out << line(row) << std::flush)) return fail(Errc::io, std::strerror(errno), path_);
  return {};
}

}  // namespace sptile::tools
