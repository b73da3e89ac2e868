#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "formats/io/edge_list.hpp"
#include "formats/io/parse_value.hpp"
#include "formats/io/quote.hpp"
#include "formats/io/sparse_arrays.hpp"
#include "formats/io/text_lines.hpp"

namespace sptile::formats {
namespace {

constexpr std::int64_t kLargestId = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kMostFields = 4;  // one more than an edge has

struct SeparatorRow {
  char separator;
  std::string_view name;
};
constexpr SeparatorRow kSeparators[] = {
    {',', "commas"}, {';', "semicolons"}, {'\t', "tabs"}, {' ', "blanks"}};

bool is_space(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool is_comment(std::string_view line) {
  return line.starts_with('#') || line.starts_with('%') || line.starts_with("//");
}

struct Fields {
  std::string_view field[kMostFields];
  std::size_t count = 0;
};

Fields split(std::string_view line, char separator) {
  Fields fields;
  while (!line.empty() && fields.count < kMostFields) {
    const std::size_t end = separator == ' ' ? line.find_first_of(" \t") : line.find(separator);
    fields.field[fields.count++] = trimmed(line.substr(0, end));
    if (end == line.npos) break;
    line.remove_prefix(end + 1);
    if (separator == ' ') line = trimmed(line);
  }
  return fields;
}

bool parse_whole(std::string_view word, std::int64_t& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size();
}

// "# 3 x 4, base 0"
struct Heading {
  std::int64_t rows = 0, cols = 0, base = 0;
};
std::optional<Heading> parse_heading(std::string_view line) {
  const Fields words = split(trimmed(line.substr(1)), ',');
  const Fields shape = split(words.field[0], ' ');
  if (words.count != 2 || shape.count != 3 || shape.field[1] != "x" || !words.field[1].starts_with("base "))
    return std::nullopt;
  Heading heading;
  if (!parse_whole(shape.field[0], heading.rows) || !parse_whole(shape.field[2], heading.cols) ||
      !parse_whole(words.field[1].substr(5), heading.base) || heading.base < 0 || heading.base > 1 ||
      !check_matrix_shape(heading.rows, heading.cols))
    return std::nullopt;
  return heading;
}

class EdgeListReader {
 public:
  EdgeListReader(TextLines& lines, const EdgeListOptions& options)
      : lines_(lines),
        separator_(options.separator),
        base_(options.base),
        compress_rows_(options.compress_rows) {}

  Result<ReadMatrix> read() {
    for (;;) {
      const auto line = lines_.next();
      if (!line) return tl::unexpected(line.error());
      if (!*line) break;
      if (Status s = take_line(trimmed(**line)); !s) return tl::unexpected(std::move(s.error()));
    }
    return finish();
  }

 private:
  Status take_line(std::string_view line) {
    if (line.empty()) return {};
    if (is_comment(line)) {
      if (rows_.empty() && !heading_ && line.starts_with('#')) heading_ = parse_heading(line);
      return {};
    }
    if (separator_ == 0)
      separator_ =
          std::find_if(std::begin(kSeparators), std::end(kSeparators) - 1, [=](const SeparatorRow& row) {
            return line.find(row.separator) != line.npos;
          })->separator;
    const Fields fields = split(line, separator_);
    if (fields.count < 2 || fields.count > 3)
      return lines_.bad((fields.count < 2 ? "one field" : "more than three fields") +
                        std::string(" in the line; an edge is: from, to, perhaps a weight"));
    return take_edge(fields);
  }

  Status take_edge(const Fields& fields) {
    std::int64_t ends[2] = {};
    for (std::size_t i = 0; i < 2; ++i) {
      if (parse_whole(fields.field[i], ends[i]) && ends[i] >= std::max(0, base_) && ends[i] <= kLargestId)
        continue;
      if (rows_.empty() && !headed_ && !fields.field[i].empty() && !is_digit(fields.field[i].front())) {
        headed_ = true;
        return {};
      }
      return lines_.bad("vertex " + quoted(fields.field[i]) + " is no whole number from " +
                        std::to_string(std::max(0, base_)) + " to 2147483647");
    }
    const bool weighted = fields.count == 3;
    if (rows_.empty()) weighted_ = weighted;
    if (weighted != weighted_)
      return lines_.bad(weighted ? "a weight, but the edges before have none"
                                 : "no weight, but the edges before have one");
    if (double weight = 0; weighted) {
      if (!parse_real(fields.field[2], weight))
        return lines_.bad("weight " + quoted(fields.field[2]) + " is no number");
      weights_.push_back(weight);
    }
    rows_.push_back(static_cast<std::int32_t>(ends[0]));
    cols_.push_back(static_cast<std::int32_t>(ends[1]));
    return {};
  }

  static bool is_digit(char c) { return (c >= '0' && c <= '9') || c == '-' || c == '+'; }

  Result<ReadMatrix> finish() {
    std::int64_t largest = -1, smallest = kLargestId;
    for (const auto* ids : {&rows_, &cols_})
      for (const std::int32_t id : *ids) {
        largest = std::max<std::int64_t>(largest, id);
        smallest = std::min<std::int64_t>(smallest, id);
      }
    const std::int64_t base = base_ >= 0 ? base_ : heading_ ? heading_->base : smallest == 0 ? 0 : 1;
    const bool found_out = base_ < 0 && !heading_ && !rows_.empty();
    SparseArrays arrays;
    arrays.layout = ArrayLayout::coo;
    arrays.rows = heading_ ? heading_->rows : rows_.empty() ? 0 : largest - base + 1;
    arrays.cols = heading_ ? heading_->cols : arrays.rows;
    if (Status s = take_ids(rows_, base, arrays.rows, arrays.row_ids); !s) return tl::unexpected(s.error());
    if (Status s = take_ids(cols_, base, arrays.cols, arrays.ids); !s) return tl::unexpected(s.error());
    if (weighted_) {
      arrays.values = Array(DType::f64, static_cast<std::int64_t>(weights_.size()));
      std::copy(weights_.begin(), weights_.end(), arrays.values.as<double>().begin());
    }
    auto made = assemble(std::move(arrays), "", compress_rows_);
    if (!made) return fail(made.error().code, made.error().message, lines_.name());
    ReadMatrix matrix{std::move(made->csr), made->duplicates, lines_.input().finish_hash(), {}};
    matrix.nonempty = std::move(made->nonempty);
    matrix.notes.push_back(describe(base, found_out));
    return matrix;
  }

  Status take_ids(std::vector<std::int32_t>& from, std::int64_t base, std::int64_t limit,
                  Buffer<std::int32_t>& to) {
    to = Buffer<std::int32_t>(static_cast<std::int64_t>(from.size()));
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::int64_t id = from[i] - base;
      if (id < 0 || id >= limit)
        return fail(Errc::bad_input,
                    "edge " + std::to_string(i + 1) + " has vertex " + std::to_string(from[i]) +
                        "; they are counted from " + std::to_string(base) + ", and there are " +
                        std::to_string(limit),
                    lines_.name());
      to[static_cast<std::int64_t>(i)] = static_cast<std::int32_t>(id);
    }
    from = {};
    return {};
  }

  [[nodiscard]] std::string describe(std::int64_t base, bool found_out) const {
    const auto* const row = std::find_if(std::begin(kSeparators), std::end(kSeparators),
                                         [this](const SeparatorRow& r) { return r.separator == separator_; });
    return "an edge list parted by " + std::string(row == std::end(kSeparators) ? "nothing" : row->name) +
           ", vertices from " + std::to_string(base) +
           (found_out ? base == 0 ? " (a vertex 0 is named)" : " (no vertex 0 is named)" : "") +
           (weighted_ ? ", with weights" : ", without weights") +
           (headed_ ? "; its first line is a heading" : "") + "; --base and --separator say otherwise";
  }

  TextLines& lines_;
  char separator_;
  int base_;
  bool compress_rows_;
  std::optional<Heading> heading_;
  bool headed_ = false, weighted_ = false;
  std::vector<std::int32_t> rows_, cols_;
  std::vector<double> weights_;
};

}  // namespace

Result<ReadMatrix> read_edge_list(InputBytes input, const EdgeListOptions& options) {
  input.start_hash();
  auto stream = TextStream::open(std::move(input));
  if (!stream) return tl::unexpected(std::move(stream.error()));
  TextLines lines(std::move(*stream));
  return EdgeListReader(lines, options).read();
}

}  // namespace sptile::formats
