#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "formats/core/quote.hpp"
#include "formats/io/entries/growing_array.hpp"
#include "formats/io/entries/sparse_arrays.hpp"
#include "formats/io/text/smtx.hpp"
#include "formats/io/text/text_lines.hpp"

namespace sptile::formats {
namespace {

class SmtxReader {
 public:
  explicit SmtxReader(TextLines& lines) : lines_(lines) {}

  Result<ReadMatrix> read() {
    SparseArrays arrays;
    std::int64_t entries = 0;
    Status s = take("the number of rows", INT64_MAX, arrays.rows);
    if (s) s = take("the number of columns", INT64_MAX, arrays.cols);
    if (s) s = take("the number of nonzeros", std::int64_t{1} << 60, entries);
    if (s) s = check_shape(arrays);
    if (s) s = take_all("a row offset", arrays.rows + 1, entries, arrays.pointers);
    if (s) s = take_all("a column", entries, arrays.cols - 1, arrays.ids);
    if (s) s = check_end(entries);
    if (!s) return tl::unexpected(std::move(s.error()));
    auto made = assemble(std::move(arrays), "row offset");
    if (!made) return fail(made.error().code, made.error().message, lines_.name());
    ReadMatrix matrix = to_read_matrix(std::move(*made));
    matrix.source_sha256 = lines_.input().finish_hash();
    return matrix;
  }

 private:
  // Returns the text of the next number; empty at the end.
  Result<std::string_view> next_word() {
    constexpr std::string_view kParts = " \t,";
    for (;;) {
      line_.remove_prefix(std::min(line_.find_first_not_of(kParts), line_.size()));
      if (!line_.empty()) break;
      const auto line = lines_.next();
      if (!line) return tl::unexpected(line.error());
      if (!*line) return std::string_view();
      line_ = **line;
    }
    const std::string_view word = line_.substr(0, line_.find_first_of(kParts));
    line_.remove_prefix(word.size());
    return word;
  }

  Status take(std::string_view what, std::int64_t max, std::int64_t& number) {
    const auto word = next_word();
    if (!word) return tl::unexpected(word.error());
    if (word->empty())
      return lines_.bad("the file ends before " + std::string(what) + "; the file may be truncated");
    const auto [end, error] = std::from_chars(word->data(), word->data() + word->size(), number);
    if (error == std::errc() && end == word->data() + word->size() && number >= 0 && number <= max) return {};
    return lines_.bad(std::string(what) + " is " + quoted(*word) + "; expected a non-negative integer" +
                      (max < std::int64_t{1} << 60 ? " to " + std::to_string(max) : ""));
  }

  // The array grows with the text, because the header may promise any count.
  template <class T>
  Status take_all(std::string_view what, std::int64_t count, std::int64_t max, Buffer<T>& into) {
    GrowingArray<T> numbers;
    std::int64_t number = 0;
    while (numbers.size() < count) {
      if (Status s = take(what, max, number); !s) return s;
      numbers.push_back(static_cast<T>(number));
    }
    into = std::move(numbers).take();
    return {};
  }

  Status check_shape(const SparseArrays& arrays) {
    Status s = check_matrix_shape(arrays.rows, arrays.cols);
    return s ? s : fail(s.error().code, s.error().message, lines_.name());
  }

  Status check_end(std::int64_t entries) {
    const auto word = next_word();
    if (!word) return tl::unexpected(word.error());
    if (word->empty()) return {};
    return lines_.bad("more numbers than the " + std::to_string(entries) +
                      " columns; the first line declares " + std::to_string(entries) + " nonzeros");
  }

  TextLines& lines_;
  std::string_view line_;  // unread part of the line
};

}  // namespace

Result<ReadMatrix> read_smtx(InputBytes input) {
  auto lines = TextLines::open(std::move(input));
  if (!lines) return tl::unexpected(std::move(lines.error()));
  return SmtxReader(*lines).read();
}

}  // namespace sptile::formats
