#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "formats/core/quote.hpp"
#include "formats/io/entries/growing_array.hpp"
#include "formats/io/entries/sparse_arrays.hpp"
#include "formats/io/graph/edge_columns.hpp"
#include "formats/io/graph/edge_list.hpp"
#include "formats/io/text/parse_value.hpp"
#include "formats/io/text/text_lines.hpp"
#include "formats/io/text/text_loss.hpp"
#include "formats/io/text/words.hpp"

namespace sptile::formats {
namespace {

constexpr std::int64_t kLargestId = std::numeric_limits<std::int32_t>::max();
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_comment(std::string_view line) {
  return line.starts_with('#') || line.starts_with('%') || line.starts_with("//");
}

std::string_view comment_text(std::string_view line) {
  return trimmed(line.substr(std::min(line.find_first_not_of("#%/"), line.size())));
}

// Parses a vertex id in integer or floating-point notation: 3, 3.0, 3.000e+00.
bool parse_id(std::string_view word, double& id) {
  return parse_real(word, id) && std::isfinite(id) && id == std::trunc(id);
}

bool is_number(std::string_view word) {
  double number = 0;
  return parse_real(word, number);
}

bool starts_with_vertices(const EdgeFields& fields) {
  double id = 0;
  return fields.count >= 2 && parse_id(fields.field[0], id) && parse_id(fields.field[1], id);
}

// A heading contains no number. The index column of pandas has an empty name.
bool is_heading(const EdgeFields& fields) {
  if (fields.count < 2) return false;
  const auto* const first = fields.field.begin();
  return first->empty() || std::none_of(first, first + fields.count, is_number);
}

std::vector<EdgeRole> roles_of(const EdgeFields& fields) {
  std::vector<EdgeRole> roles(fields.count);
  std::transform(fields.field.begin(), fields.field.begin() + fields.count, roles.begin(), edge_role);
  return roles;
}

bool names_vertices(const std::vector<EdgeRole>& roles) {
  const auto has = [&](EdgeRole role) { return std::find(roles.begin(), roles.end(), role) != roles.end(); };
  return has(EdgeRole::source) && has(EdgeRole::target);
}

// Returns the separator that splits the line into vertices or column names; 0 if there is none.
char find_separator(std::string_view line, EdgeFields& fields) {
  for (const auto& row : kEdgeSeparators) {
    split_fields(line, row.separator, fields);
    if (starts_with_vertices(fields)) return row.separator == '\t' ? ' ' : row.separator;
  }
  for (const auto& row : kEdgeSeparators) {
    split_fields(line, row.separator, fields);
    if (names_vertices(roles_of(fields))) return row.separator;
  }
  return 0;
}

// Shape comment: "# 3 x 4, base 0".
struct Shape {
  std::int64_t rows = 0, cols = 0, base = 0;
};
std::optional<Shape> parse_own_header(std::string_view line) {
  EdgeFields words, shape;
  split_fields(comment_text(line), ',', words);
  if (words.count != 2 || !words.field[1].starts_with("base ")) return std::nullopt;
  split_fields(words.field[0], ' ', shape);
  if (shape.count != 3 || shape.field[1] != "x") return std::nullopt;
  Shape header;
  if (!parse_whole(shape.field[0], header.rows) || !parse_whole(shape.field[2], header.cols) ||
      !parse_whole(words.field[1].substr(5), header.base) || header.base < 0 || header.base > 1 ||
      !check_matrix_shape(header.rows, header.cols))
    return std::nullopt;
  return header;
}

// Header of the KONECT collection: "% bip unweighted" and "% EDGES ROWS COLUMNS"; vertices are 1-based.
struct Konect {
  bool bipartite = false, undirected = false;
  std::optional<std::int64_t> edges;
};
std::optional<Konect> parse_konect(std::string_view line) {
  constexpr std::string_view kFormats = " sym asym bip ";
  constexpr std::string_view kWeights =
      " unweighted positive posweighted signed multisigned weighted multiweighted dynamic multiposweighted ";
  const Words words = split_words(comment_text(line));
  const auto is_in = [&](std::string_view list, std::size_t i) {
    return list.find(" " + std::string(words.word[i]) + " ") != list.npos;
  };
  if (!line.starts_with('%') || words.count != 2 || !is_in(kFormats, 0) || !is_in(kWeights, 1))
    return std::nullopt;
  return Konect{words.word[0] == "bip", words.word[0] == "sym", std::nullopt};
}

// Decides from all lines whether the third column of a list without a heading contains timestamps.
class TimeStamps {
 public:
  void take(double value) {
    whole_ = whole_ && std::isfinite(value) && value == std::trunc(value) && value >= 0;
    ascending_ = ascending_ && (lines_ == 0 || value >= last_);
    if (lines_++ == 0) first_ = value;
    min_ = std::min(min_, value);
    last_ = value;
    max_ = std::max(max_, value);
  }
  /// Returns whether all values are seconds, milliseconds, microseconds or nanoseconds since 1970 in the
  /// years 1973 to 2106.
  [[nodiscard]] bool of_an_epoch() const {
    if (!whole_ || lines_ == 0) return false;
    for (const double unit : {1.0, 1e3, 1e6, 1e9})
      if (min_ >= 1e8 * unit && max_ < 4.3e9 * unit) return true;
    return false;
  }
  [[nodiscard]] bool whole() const { return whole_; }
  [[nodiscard]] bool certain() const { return of_an_epoch() && ascending_ && min_ < max_; }
  [[nodiscard]] bool likely() const {
    constexpr double kLarge = 1e6;
    return of_an_epoch() || (whole_ && ascending_ && lines_ >= 3 && first_ < last_ && max_ >= kLarge);
  }

 private:
  bool whole_ = true, ascending_ = true;
  std::int64_t lines_ = 0;
  double first_ = 0, last_ = 0, max_ = 0, min_ = std::numeric_limits<double>::infinity();
};

// A first line of two or three integers that may be counts: vertices and edges, or rows, columns and edges.
struct Counts {
  std::int64_t line = 0, rows = 0, cols = 0, edges = 0;
  std::string text;
  bool is_edge = true;  // it is also a valid edge
};
std::optional<Counts> parse_counts(const EdgeFields& fields) {
  std::int64_t numbers[3] = {};
  if (fields.count < 2 || fields.count > 3) return std::nullopt;
  for (std::size_t i = 0; i < fields.count; ++i)
    if (!parse_whole(fields.field[i], numbers[i]) || numbers[i] < 1) return std::nullopt;
  Counts counts;
  counts.rows = numbers[0];
  counts.cols = fields.count == 3 ? numbers[1] : numbers[0];
  counts.edges = numbers[fields.count - 1];
  if (!check_matrix_shape(counts.rows, counts.cols)) return std::nullopt;
  return counts;
}

Status parse_columns(const std::string& columns, EdgeColumns& plan) {
  EdgeFields names;
  split_fields(columns, ',', names);
  if (names.count > kMaxFields) return fail(Errc::usage, "more than 64 columns");
  std::vector<EdgeRole> roles = roles_of(names);
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (names.field[i] == "-") roles[i] = EdgeRole::id;
    if (roles[i] == EdgeRole::unknown || names.field[i].empty())
      return fail(Errc::usage, "column " + quoted(names.field[i]) +
                                   " is unknown; expected source, target, weight, time or - (ignored)");
  }
  if (const auto wrong = assign_roles(roles, plan)) return fail(Errc::usage, "columns: " + *wrong);
  if (plan.complete()) return {};
  return fail(Errc::usage,
              "columns " + quoted(columns) + " have no source and target; for example: source,target,weight");
}

class EdgeListReader {
 public:
  EdgeListReader(TextLines& lines, const EdgeListOptions& options)
      : lines_(lines), options_(options), separator_(options.separator) {}

  Result<ReadMatrix> read() {
    if (!options_.columns.empty()) {
      if (Status s = parse_columns(options_.columns, plan_); !s) return tl::unexpected(s.error());
      planned_ = true;
    }
    Status s = take_lines();
    if (s && first_) s = take_first(nullptr);
    if (!s) return tl::unexpected(std::move(s.error()));
    return finish();
  }

 private:
  Status take_lines() {
    for (;;) {
      const auto line = lines_.next();
      if (!line) return tl::unexpected(line.error());
      if (!*line) return {};
      number_ = lines_.number() + returns_;
      std::string_view text = **line;
      while (text.ends_with('\r')) text.remove_suffix(1);
      // Some files have a carriage return as the only line end.
      for (std::size_t end = text.find('\r'); end != text.npos; end = text.find('\r')) {
        if (Status s = take_line(text.substr(0, end)); !s) return s;
        text.remove_prefix(end + 1);
        number_ = lines_.number() + ++returns_;
      }
      if (Status s = take_line(text); !s) return s;
    }
  }

  Status take_line(std::string_view line) {
    if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    if (number_ == 1 && (line.starts_with("\xFF\xFE") || line.starts_with("\xFE\xFF")))
      return bad("the text is UTF-16; save it as UTF-8");
    const std::string_view text = trimmed(line);
    if (text.empty()) return {};
    if (is_comment(text)) return take_comment(text);
    if (separator_ == 0 || separator_ == ' ') line = text;
    if (!started_) return start(line);
    split_fields(line, separator_, fields_);
    if (!planned_ && fields_.count < 2 && separator_ == '\t' && options_.separator == 0)
      split_fields(text, separator_ = ' ', fields_);  // only the heading has tabs
    if (!planned_ || first_)
      if (Status s = plan_edges(); !s) return s;
    return take_edge(fields_);
  }

  Status take_comment(std::string_view line) {
    if (started_) return {};
    if (!header_ && line.starts_with('#')) header_ = parse_own_header(line);
    if (const auto konect = parse_konect(line); konect && !konect_) {
      konect_ = konect;
    } else if (konect_ && !konect_->edges) {
      const Words words = split_words(comment_text(line));
      Shape shape{0, 0, 1};
      std::int64_t edges = 0;
      if (words.count == 3 && parse_whole(words.word[0], edges) && parse_whole(words.word[1], shape.rows) &&
          parse_whole(words.word[2], shape.cols) && check_matrix_shape(shape.rows, shape.cols)) {
        konect_->edges = edges;
        if (!konect_->bipartite) shape.rows = shape.cols = std::max(shape.rows, shape.cols);
        header_ = shape;
      }
    }
    comment_ = comment_text(line);
    return {};
  }

  // Handles the first line that is not a comment.
  Status start(std::string_view line) {
    started_ = true;
    blanks_ = line.find('\t') == line.npos ? "blanks" : "tabs";
    if (separator_ == 0) separator_ = find_separator(line, fields_);
    if (separator_ == 0) separator_ = guess_separator(line);
    split_fields(line, separator_, fields_);
    if (fields_.count < 2 || fields_.count > kMaxFields) return uneven(fields_);
    if (is_heading(fields_)) return take_heading();
    if (const auto counts = parse_counts(fields_); counts && !header_ && !konect_) {
      counts_ = counts;
      counts_->line = number_;
      counts_->text = trimmed(line);
    }
    first_ = std::string(line);
    first_line_ = number_;
    return {};
  }

  char guess_separator(std::string_view line) {
    for (const auto& row : kEdgeSeparators) {
      split_fields(line, row.separator, fields_);
      if (fields_.count > 1) return row.separator;
    }
    return ' ';
  }

  Status take_heading() {
    headed_ = true;
    if (planned_) return {};
    heading_line_ = number_;
    for (std::size_t i = 0; i < fields_.count; ++i) names_.emplace_back(fields_.field[i]);
    if (names_.back().empty() && names_.size() > 2) names_.pop_back();  // separator at the end of the line
    return {};
  }

  // Assigns the roles of the columns from the heading, else from the fields of the first edge.
  Status plan_edges() {
    if (fields_.count > kMaxFields) return uneven(fields_);
    if (first_) return take_first(&fields_);
    if (names_.empty()) return plan_unnamed(fields_);
    if (fields_.count == names_.size() + 1 && !fields_.field[names_.size()].empty())
      names_.insert(names_.begin(), "");  // R writes no heading for row names
    planned_ = true;
    return plan_named();
  }

  // Handles the first line, once the second one (if any) is known.
  Status take_first(const EdgeFields* second) {
    const std::string text = *std::exchange(first_, std::nullopt);
    EdgeFields fields;
    split_fields(text, separator_, fields);
    const std::int64_t line = std::exchange(number_, first_line_);
    Status s;
    if (counts_ && second != nullptr && second->count != fields.count && starts_with_vertices(*second)) {
      counts_->is_edge = false;
      number_ = line;
      if (!planned_) s = plan_unnamed(*second);
      // Reported only if the first line does not contain counts.
      if (s) uneven_ = uneven_fields(fields.count, *second);
      if (s)
        uneven_->message += "; if line " + std::to_string(counts_->line) + " has counts, start it with #";
      return s;
    }
    if (!planned_) s = plan_unnamed(fields);
    if (s) s = take_edge(fields);
    number_ = line;
    return s;
  }

  Status plan_unnamed(const EdgeFields& fields) {
    planned_ = true;
    if (Status s = plan_by_comment(fields); !s || plan_.complete()) return s;
    std::size_t count = fields.count;
    if (count > 2 && fields.field[count - 1].empty()) --count;  // separator at the end of the line
    plan_.source = 0, plan_.target = 1;
    plan_.count = count;
    double time = 0;
    const bool timed = count == 4 && parse_real(fields.field[3], time) && (konect_ || time >= 1e8);
    if (count < 2 || count > (timed ? 4 : 3)) return uneven(fields);
    if (count > 2) plan_.weight = 2;
    if (timed) note("ignored the fourth column, which has time stamps");
    unnamed_ = count == 3 && !fields.field[2].starts_with('{');
    return {};
  }

  // numpy.savetxt writes the heading as a comment.
  Status plan_by_comment(const EdgeFields& fields) {
    EdgeFields names;
    for (const auto& row : kEdgeSeparators) {
      split_fields(comment_, row.separator, names);
      if (names.count != fields.count || !names_vertices(roles_of(names))) continue;
      names_.assign(names.field.begin(), names.field.begin() + names.count);
      heading_line_ = number_;
      return plan_named();
    }
    return {};
  }

  Status plan_named() {
    std::vector<EdgeRole> roles(names_.size());
    std::transform(names_.begin(), names_.end(), roles.begin(), edge_role);
    if (!names_vertices(roles)) find_vertices(roles);
    if (const auto wrong = assign_roles(roles, plan_))
      return bad_heading("the heading is ambiguous: " + *wrong);
    if (!plan_.complete()) return bad_heading("the heading has no source and target columns");
    std::string left_out;
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (i != plan_.source && i != plan_.target && i != plan_.weight)
        left_out += (left_out.empty() ? "" : ", ") + (names_[i].empty() ? "(no name)" : quoted(names_[i]));
    if (!left_out.empty()) note("ignored columns: " + left_out + "; --columns overrides this");
    return {};
  }

  // Columns with unknown names become the vertices if their number matches the missing roles.
  void find_vertices(std::vector<EdgeRole>& roles) {
    std::vector<EdgeRole> missing;
    for (const EdgeRole role : {EdgeRole::source, EdgeRole::target})
      if (std::find(roles.begin(), roles.end(), role) == roles.end()) missing.push_back(role);
    if (roles.size() == 2 && missing.size() == 2) std::fill(roles.begin(), roles.end(), EdgeRole::unknown);
    if (std::count(roles.begin(), roles.end(), EdgeRole::unknown) !=
        static_cast<std::ptrdiff_t>(missing.size()))
      return;
    for (const EdgeRole role : missing) *std::find(roles.begin(), roles.end(), EdgeRole::unknown) = role;
    const auto name = [&](EdgeRole role) {
      return quoted(
          names_[static_cast<std::size_t>(std::find(roles.begin(), roles.end(), role) - roles.begin())]);
    };
    note("line " + std::to_string(heading_line_) + " is read as a heading: " + name(EdgeRole::source) +
         " as sources, " + name(EdgeRole::target) + " as targets");
  }

  Status take_edge(const EdgeFields& fields) {
    const bool has_end = fields.count == plan_.count + 1 && fields.field[plan_.count].empty();
    if (fields.count != plan_.count && !has_end) return uneven(fields);
    std::int32_t ends[2] = {};
    if (Status s = take_id(fields.field[plan_.source], ends[0]); !s) return s;
    if (Status s = take_id(fields.field[plan_.target], ends[1]); !s) return s;
    if (plan_.weight != EdgeColumns::kNone)
      if (Status s = take_weight(fields.field[plan_.weight]); !s) return s;
    const std::int64_t line = rows_.size();
    first_counts_ = first_counts_ && (ends[0] == line || ends[0] == line + 1);
    is_path_ = is_path_ && ends[1] == ends[0] + 1;
    rows_.push_back(ends[0]);
    cols_.push_back(ends[1]);
    return {};
  }

  Status take_id(std::string_view field, std::int32_t& end) {
    std::int64_t id = 0;
    double number = 0;
    if (!parse_whole(field, id)) {
      if (!parse_id(field, number) || number < 0) return bad_id(field);
      id = number > static_cast<double>(kLargestId) ? kLargestId + 1 : static_cast<std::int64_t>(number);
    }
    if (id < std::max(0, options_.base)) return bad_id(field);
    if (id > kLargestId)
      return fail(Errc::unsupported,
                  "vertex " + std::string(field.substr(0, 40)) +
                      " exceeds 2147483647, the largest id; renumber the vertices",
                  where());
    end = static_cast<std::int32_t>(id);
    return {};
  }

  Status bad_id(std::string_view field) {
    if (!names_.empty() && rows_.empty())
      for (std::size_t i = 0; i < names_.size(); ++i)
        if (edge_role(names_[i]) == EdgeRole::unknown)
          return fail(Errc::bad_input,
                      "vertices " + quoted(names_[i]) + " and " + quoted(field) +
                          " is a name; renumber the vertices from 0",
                      name(heading_line_));
    return bad("vertex " + quoted(field) + " is not an integer from " +
               std::to_string(std::max(0, options_.base)) + " to 2147483647");
  }

  Status take_weight(std::string_view field) {
    const bool dictionary = field.starts_with('{') && field.ends_with('}');
    if (dictionary) field = weight_attribute(field, attributes_);
    const bool weighted = !dictionary || !field.empty();
    if (rows_.empty()) weighted_ = weighted;
    if (weighted != weighted_)
      return bad(weighted ? "unexpected weight; the preceding edges have none"
                          : "missing weight; the preceding edges have one");
    double weight = 0;
    if (!weighted) return {};
    if (field.empty()) return bad("missing weight; the preceding edges have one");
    if (!parse_real(field, weight)) return bad("weight " + quoted(field) + " is not a number");
    weights_.push_back(weight);
    loss_.look(field, weight, [this] { return where(); });
    return {};
  }

  // ---- Messages ----

  [[nodiscard]] std::string name(std::int64_t line) const {
    return lines_.name() + ":" + std::to_string(line);
  }
  [[nodiscard]] std::string where() const { return name(number_); }
  [[nodiscard]] tl::unexpected<Error> bad(std::string message) const {
    return fail(Errc::bad_input, std::move(message), where());
  }
  [[nodiscard]] tl::unexpected<Error> bad_heading(const std::string& message) const {
    return fail(Errc::bad_input, message + "; --columns names them, for example source,target,weight",
                name(heading_line_));
  }
  Status uneven(const EdgeFields& fields) { return tl::unexpected(uneven_fields(plan_.count, fields)); }

  [[nodiscard]] Error uneven_fields(std::size_t expected, const EdgeFields& fields) const {
    const auto error = [&](std::string message) {
      return Error{Errc::bad_input, std::move(message), where()};
    };
    if (double count = 0; !planned_ && fields.count == 1 && parse_id(fields.field[0], count))
      return error("a line with one number; expected an edge (start the line with # if it is a count)");
    if (fields.count < 2)
      return error("a line with one field; expected source, target and an optional weight");
    if (names_.empty() && options_.columns.empty()) {
      if (expected == 2 && fields.count == 3)
        return error("unexpected weight; the preceding edges have none");
      if (expected == 3 && fields.count == 2) return error("missing weight; the preceding edges have one");
      if (fields.count > 3)
        return error(
            "more than three fields; expected source, target and an optional weight (--columns names "
            "others)");
    }
    return error(std::to_string(fields.count) + " fields; expected " + std::to_string(expected) + " columns");
  }

  void note(std::string text) { notes_.push_back(std::move(text)); }

  // ---- End of input ----

  struct Range {
    std::int64_t smallest = kLargestId, rows = -1, cols = -1;  // minimum id, maximum row and column
  };
  [[nodiscard]] Range range(std::int64_t first) const {
    Range found;
    for (std::int64_t i = first; i < rows_.size(); ++i) {
      found.smallest = std::min<std::int64_t>({found.smallest, rows_[i], cols_[i]});
      found.rows = std::max<std::int64_t>(found.rows, rows_[i]);
      found.cols = std::max<std::int64_t>(found.cols, cols_[i]);
    }
    return found;
  }

  [[nodiscard]] std::int64_t base_of(const Range& ids) const {
    if (options_.base >= 0) return options_.base;
    if (header_) return header_->base;
    if (konect_) return 1;
    return ids.smallest == 0 ? 0 : 1;
  }

  // Interprets the first line as counts if it is consistent with all others, and adds a note if it is
  // ambiguous.
  Status settle_counts() {
    const bool is_edge = counts_->is_edge;
    const std::int64_t first = is_edge ? 1 : 0, edges = rows_.size() - first;
    const Range ids = range(first);
    const std::int64_t base = base_of(ids);
    const std::string line = "line " + std::to_string(counts_->line) + ", " + quoted(counts_->text) + ", ";
    const bool fits = edges > 0 && counts_->edges == edges && ids.rows - base < counts_->rows &&
                      ids.cols - base < counts_->cols;
    if (fits && (!is_edge || (edges > 1 && options_.columns.empty()))) {
      note(line + "is read as counts: " + std::to_string(counts_->rows) + " x " +
           std::to_string(counts_->cols) + " with " + std::to_string(edges) + " edges" +
           (is_edge ? "; --columns " + std::string(weighted_ ? "source,target,weight" : "source,target") +
                          " reads it as an edge"
                    : ""));
      header_ = Shape{counts_->rows, counts_->cols, base};
      from_counts_ = true;
      if (is_edge) {
        rows_.pop_front();
        cols_.pop_front();
        if (!weights_.empty()) weights_.pop_front();
      }
      return {};
    }
    if (!is_edge) return tl::unexpected(*uneven_);
    // Counts of vertices and edges (edges possibly counted twice), or of edges and vertices.
    const std::int64_t largest = std::max(ids.rows, ids.cols), vertices = largest - base + 1;
    const bool doubled = counts_->edges == 2 * edges || (edges % 2 == 0 && counts_->edges == edges / 2);
    const bool likely = fits || (counts_->rows == vertices && (doubled || counts_->edges > largest)) ||
                        (counts_->rows == edges && counts_->edges == vertices);
    if (options_.columns.empty() && edges > 0 && likely)
      note(line + "is read as an edge; if it has counts, start it with #");
    return {};
  }

  void settle_times() {
    if (!unnamed_ || !options_.columns.empty() || konect_ || (header_ && !from_counts_)) return;
    TimeStamps times;
    for (std::int64_t i = 0; i < weights_.size(); ++i) times.take(weights_[i]);
    constexpr std::string_view kAsWeights = "; --columns source,target,weight reads it as weights";
    if (times.certain()) {
      note("ignored the third column, which has time stamps" + std::string(kAsWeights));
      weights_ = {};
      loss_ = {};
      weighted_ = false;
    } else if (times.likely()) {
      note(
          "the third column is read as weights but looks like time stamps; --columns source,target,time "
          "ignores it");
    }
    if (times.whole() && first_counts_ && !is_path_ && !(separator_ == ' ' && blanks_ == "blanks") &&
        rows_.size() >= 3)
      note(
          "the first column looks like line numbers but is read as vertices; --columns -,source,target "
          "ignores it");
  }

  Result<ReadMatrix> finish() {
    if (headed_ && rows_.empty() && !names_.empty()) {
      std::vector<EdgeRole> roles(names_.size());
      std::transform(names_.begin(), names_.end(), roles.begin(), edge_role);
      if (!names_vertices(roles))
        return fail(
            Errc::bad_input,
            "vertex " + quoted(names_[0]) + " is not an integer from 0 to 2147483647, and no edges follow",
            name(heading_line_));
    }
    if (counts_)
      if (Status s = settle_counts(); !s) return tl::unexpected(s.error());
    settle_times();
    const Range ids = range(0);
    const std::int64_t base = base_of(ids);
    const bool found_out = options_.base < 0 && (!header_ || from_counts_) && !konect_ && !rows_.empty();
    SparseArrays arrays;
    arrays.layout = ArrayLayout::coo;
    arrays.rows = header_ ? header_->rows : rows_.empty() ? 0 : ids.rows - base + 1;
    arrays.cols = header_ ? header_->cols : rows_.empty() ? 0 : ids.cols - base + 1;
    const bool square = !header_ && !(konect_ && konect_->bipartite);
    if (square) arrays.rows = arrays.cols = std::max(arrays.rows, arrays.cols);
    if (Status s = check_matrix_shape(arrays.rows, arrays.cols); !s)
      return fail(s.error().code, s.error().message + "; renumber the vertices", lines_.name());
    arrays.row_ids = std::move(rows_).take();
    arrays.ids = std::move(cols_).take();
    if (Status s = subtract(base, arrays.rows, arrays.row_ids); !s) return tl::unexpected(s.error());
    if (Status s = subtract(base, arrays.cols, arrays.ids); !s) return tl::unexpected(s.error());
    const auto edges = arrays.ids.size();
    if (weighted_) {
      arrays.values = Array(std::move(weights_).take());
      arrays.integers = loss_.integers();
    }
    auto made = assemble(std::move(arrays), "", options_.compress_rows);
    if (!made) return fail(made.error().code, made.error().message, lines_.name());
    made->loss += loss_.loss();
    report_rest(edges, found_out, base);
    ReadMatrix matrix = to_read_matrix(std::move(*made));
    matrix.source_sha256 = lines_.input().finish_hash();
    matrix.notes = std::move(notes_);
    return matrix;
  }

  void report_rest(std::int64_t edges, bool found_out, std::int64_t base) {
    if (konect_ && konect_->undirected)
      note("the graph is undirected; each edge is read in the given direction only");
    if (konect_ && konect_->edges && *konect_->edges != edges)
      note("the header declares " + std::to_string(*konect_->edges) + " edges, but the file has " +
           std::to_string(edges));
    if (!attributes_.empty()) {
      std::string list;
      for (const std::string& attribute : attributes_) list += (list.empty() ? "" : ", ") + quoted(attribute);
      note("ignored attributes: " + list);
    }
    if (found_out) notes_.insert(notes_.begin(), describe(base));
  }

  // Converts ids from `base` to 0-based.
  Status subtract(std::int64_t base, std::int64_t limit, Buffer<std::int32_t>& ids) {
    for (std::int64_t i = 0; i < ids.size(); ++i) {
      const std::int64_t id = ids[i] - base;
      if (id < 0 || id >= limit)
        return fail(Errc::bad_input,
                    "edge " + std::to_string(i + 1) + " has vertex " + std::to_string(ids[i]) +
                        "; ids start at " + std::to_string(base) +
                        ", and the declared number of vertices is " + std::to_string(limit),
                    lines_.name());
      ids[i] = static_cast<std::int32_t>(id);
    }
    return {};
  }

  [[nodiscard]] std::string describe(std::int64_t base) const {
    const auto* const row =
        std::find_if(std::begin(kEdgeSeparators), std::end(kEdgeSeparators),
                     [this](const EdgeSeparator& r) { return r.separator == separator_; });
    return "an edge list separated by " + std::string(separator_ == ' ' ? blanks_ : row->name) +
           ", vertices from " + std::to_string(base) +
           (base == 0 ? " (vertex 0 occurs)" : " (vertex 0 does not occur)") +
           (weighted_ ? ", with weights" : ", without weights") +
           (headed_ ? "; its first line is a heading" : "") + "; --base and --separator override this";
  }

  TextLines& lines_;
  const EdgeListOptions& options_;
  char separator_;
  std::string_view blanks_ = "blanks";
  std::int64_t number_ = 0, returns_ = 0;  // line number; number of lines that end with a carriage return
  std::optional<Shape> header_;
  std::optional<Konect> konect_;
  std::string comment_;  // last comment before the first edge
  bool started_ = false, headed_ = false, planned_ = false, from_counts_ = false;
  std::vector<std::string> names_;  // names of the columns
  std::int64_t heading_line_ = 0;
  EdgeFields fields_;
  EdgeColumns plan_;
  std::optional<std::string> first_;  // first line, until the second line is known
  std::int64_t first_line_ = 0;
  std::optional<Counts> counts_;
  std::optional<Error> uneven_;  // error to report if the first line does not contain counts
  bool unnamed_ = false;         // the third column has no name
  bool first_counts_ = true,
       is_path_ = true;  // the first column numbers the lines; each edge leads to the next vertex
  bool weighted_ = false;
  std::vector<std::string> attributes_, notes_;
  GrowingArray<std::int32_t> rows_, cols_;
  GrowingArray<double> weights_;
  TextLoss loss_;
};

}  // namespace

bool starts_edge_list(std::string_view head) {
  const bool whole = head.find('\n') == head.npos;
  while (!head.empty()) {
    const std::size_t end = head.find_first_of("\r\n");
    if (end == head.npos && !whole) return false;  // the line is incomplete
    std::string_view line = head.substr(0, end);
    head.remove_prefix(end == head.npos ? head.size() : end + 1);
    if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    line = trimmed(line);
    if (line.empty()) continue;
    if (is_comment(line)) {
      if (parse_konect(line) || parse_own_header(line)) return true;
      continue;
    }
    EdgeFields fields;
    return find_separator(line, fields) != 0;
  }
  return false;
}

Result<ReadMatrix> read_edge_list(InputBytes input, const EdgeListOptions& options) {
  auto lines = TextLines::open(std::move(input));
  if (!lines) return tl::unexpected(std::move(lines.error()));
  return EdgeListReader(*lines, options).read();
}

}  // namespace sptile::formats
