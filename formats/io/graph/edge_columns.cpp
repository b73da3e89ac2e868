#include "formats/io/graph/edge_columns.hpp"

#include <algorithm>
#include <iterator>

namespace sptile::formats {
namespace {

struct RoleRow {
  EdgeRole role;
  std::string_view names;  // lower case without punctuation, separated by blanks
};
constexpr RoleRow kRoles[] = {
    {EdgeRole::source,
     " source src from fromnode fromnodeid fromid sourceid sourcenode srcid start startid startnode u i row "
     "rows "
     "rowid node1 n1 v1 vertex1 id1 subject sender rater follower citing "},
    {EdgeRole::target,
     " target tgt trg dst dest destination to tonode tonodeid toid targetid targetnode dstid end endid "
     "endnode v j "
     "col cols column columns colid columnid node2 n2 v2 vertex2 id2 object receiver ratee followee cited "},
    {EdgeRole::weight,
     " weight weights w wgt value values val data x count rating sign score strength cost distance length "
     "capacity "
     "multiplicity "},
    {EdgeRole::time,
     " time times timestamp timestamps t ts date datetime epoch unixtime unixts unixtimestamp year "},
    {EdgeRole::id,
     " id index idx eid edge edgeid key rowname rownames unnamed0 no nr number label type timeset "},
};

// Returns the position of the closing quote of text that starts with a quote; npos if it is not closed.
std::size_t closing_quote(std::string_view text) {
  for (std::size_t at = 1; (at = text.find(text.front(), at)) != text.npos; at += 2)
    if (at + 1 == text.size() || text[at + 1] != text.front()) return at;
  return text.npos;
}

bool ends_field(std::string_view rest, char separator) {
  return rest.empty() || (separator == ' ' ? is_white(rest.front())
                                           : trimmed(rest).empty() || trimmed(rest).front() == separator);
}

// Returns the length of a field at the start in quotes or braces; 0 if it has neither.
std::size_t enclosed_length(std::string_view text, char separator) {
  if (text.empty()) return 0;
  std::size_t last = text.npos;
  if (text.front() == '"' || text.front() == '\'') last = closing_quote(text);
  if (text.front() == '{') last = text.rfind('}');
  return last != text.npos && ends_field(text.substr(last + 1), separator) ? last + 1 : 0;
}

std::string_view without_quotes(std::string_view field) {
  if (field.size() >= 2 && (field.front() == '"' || field.front() == '\'') && field.back() == field.front())
    return trimmed(field.substr(1, field.size() - 2));
  return field;
}

// Removes and returns the text before the first `end` outside quotes and brackets.
std::string_view take_until(std::string_view& text, char end) {
  int depth = 0;
  char quote = 0;
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (depth == 0 && c == end) {
      break;
    } else {
      depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    }
  }
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return trimmed(taken);
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_white(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_white(text.back())) text.remove_suffix(1);
  return text;
}

void split_fields(std::string_view line, char separator, EdgeFields& fields) {
  fields.count = 0;
  const auto is_end = [=](char c) { return separator == ' ' ? is_white(c) : c == separator; };
  std::size_t at = 0;
  for (;;) {
    while (at < line.size() && is_white(line[at]) && line[at] != separator) ++at;
    if (separator == ' ')
      while (at < line.size() && is_white(line[at])) ++at;
    if (at == line.size() && (separator == ' ' || fields.count == 0)) return;
    std::size_t end = at + enclosed_length(line.substr(at), separator);
    while (end < line.size() && !is_end(line[end])) ++end;
    fields.field[fields.count++] = without_quotes(trimmed(line.substr(at, end - at)));
    if (end == line.size() || fields.count > kMaxFields) return;
    at = end + 1;
  }
}

EdgeRole edge_role(std::string_view name) {
  std::string letters = " ";
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') letters += static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) letters += c;
    if (static_cast<unsigned char>(c) >= 0x80) return EdgeRole::unknown;
  }
  if (letters.size() == 1) return EdgeRole::id;  // heading of row names in files of pandas and R
  letters += ' ';
  for (const RoleRow& row : kRoles)
    if (row.names.find(letters) != row.names.npos) return row.role;
  return EdgeRole::unknown;
}

std::optional<std::string> assign_roles(const std::vector<EdgeRole>& roles, EdgeColumns& columns) {
  struct Place {
    EdgeRole role;
    std::size_t EdgeColumns::*column;
    const char* what;
  };
  constexpr Place kPlaces[] = {{EdgeRole::source, &EdgeColumns::source, "sources"},
                               {EdgeRole::target, &EdgeColumns::target, "targets"},
                               {EdgeRole::weight, &EdgeColumns::weight, "weights"}};
  columns = {};
  columns.count = roles.size();
  for (std::size_t i = 0; i < roles.size(); ++i)
    for (const Place& place : kPlaces) {
      if (roles[i] != place.role) continue;
      if (columns.*place.column != EdgeColumns::kNone)
        return "columns " + std::to_string(columns.*place.column + 1) + " and " + std::to_string(i + 1) +
               " are both " + place.what;
      columns.*place.column = i;
    }
  return std::nullopt;
}

std::string_view weight_attribute(std::string_view dictionary, std::vector<std::string>& others) {
  std::string_view weight;
  dictionary.remove_prefix(1);
  dictionary.remove_suffix(1);
  while (!trimmed(dictionary).empty()) {
    std::string_view item = take_until(dictionary, ',');
    const std::string_view key = without_quotes(take_until(item, ':'));
    item = trimmed(item);
    if (edge_role(key) == EdgeRole::weight && weight.empty()) {
      // NumPy 2 writes np.float64(0.5).
      if (const std::size_t open = item.find('('); open != item.npos && item.ends_with(')'))
        item = item.substr(open + 1, item.size() - open - 2);
      weight = without_quotes(item);
    } else if (std::find(others.begin(), others.end(), key) == others.end() && others.size() < kMaxFields) {
      others.emplace_back(key);
    }
  }
  return weight;
}

}  // namespace sptile::formats
