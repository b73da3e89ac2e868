#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "formats/core/quote.hpp"
#include "formats/io/entries/growing_array.hpp"
#include "formats/io/entries/sparse_arrays.hpp"
#include "formats/io/text/parse_value.hpp"
#include "formats/io/text/text_lines.hpp"
#include "formats/io/text/text_loss.hpp"
#include "formats/io/text/tns.hpp"
#include "formats/io/text/words.hpp"

namespace sptile::formats {
namespace {

constexpr std::int64_t kLargestId = INT32_MAX;

class TnsReader {
 public:
  explicit TnsReader(TextLines& lines) : lines_(lines) {}

  Result<ReadMatrix> read() {
    for (;;) {
      const auto line = lines_.next();
      if (!line) return tl::unexpected(line.error());
      if (!*line) break;
      const Words words = split_words(**line);
      if (words.count == 0 || words.word[0].starts_with('#')) continue;
      if (Status s = take_line(words); !s) return tl::unexpected(std::move(s.error()));
    }
    return finish();
  }

 private:
  [[nodiscard]] tl::unexpected<Error> unsupported(std::int64_t indices) {
    Error error = lines_
                      .bad("a tensor of " + std::to_string(indices) + (indices == 1 ? " index" : " indices") +
                           "; expected a matrix with 2")
                      .value();
    error.code = Errc::unsupported;
    return tl::unexpected(std::move(error));
  }

  Status take_line(const Words& words) {
    if (rows_.empty() && !shape_ && !ordered_ && words.count == 1) return take_order(words);
    if (ordered_ && !shape_) return take_shape(words);
    if (words.count != 3 && rows_.empty()) return unsupported(static_cast<std::int64_t>(words.count) - 1);
    if (words.count != 3)
      return lines_.bad(std::to_string(words.count) + " words; expected row, column, value");
    std::int64_t ids[2] = {};
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int64_t max = shape_ ? (*shape_)[i] : kLargestId;
      if (!parse_whole(words.word[i], ids[i]) || ids[i] < 1 || ids[i] > max)
        return lines_.bad("index " + quoted(words.word[i]) + " is not an integer from 1 to " +
                          std::to_string(max) + " (indices count from 1)");
    }
    double value = 0;
    if (!parse_real(words.word[2], value))
      return lines_.bad("value " + quoted(words.word[2]) + " is not a number");
    values_.push_back(value);
    loss_.look(words.word[2], value, [&] { return lines_.name() + ":" + std::to_string(lines_.number()); });
    rows_.push_back(static_cast<std::int32_t>(ids[0] - 1));
    cols_.push_back(static_cast<std::int32_t>(ids[1] - 1));
    return {};
  }

  Status take_order(const Words& words) {
    std::int64_t order = 0;
    if (!parse_whole(words.word[0], order) || order < 1)
      return lines_.bad(quoted(words.word[0]) +
                        " expected an entry (row, column, value) or the number of indices");
    ordered_ = true;
    return order == 2 ? Status() : unsupported(order);
  }

  Status take_shape(const Words& words) {
    std::vector<std::int64_t> shape(2);
    if (words.count != 2 || !parse_whole(words.word[0], shape[0]) || !parse_whole(words.word[1], shape[1]))
      return lines_.bad("expected two sizes, of rows and columns");
    Status s = check_matrix_shape(shape[0], shape[1]);
    if (!s) return fail(s.error().code, s.error().message, lines_.name());
    shape_ = std::move(shape);
    return {};
  }

  static std::int64_t extent(const Buffer<std::int32_t>& ids) {
    return ids.empty() ? 0 : std::int64_t{*std::max_element(ids.begin(), ids.end())} + 1;
  }

  Result<ReadMatrix> finish() {
    if (ordered_ && !shape_) return lines_.bad("the file ends before the sizes of rows and columns");
    SparseArrays arrays;
    arrays.layout = ArrayLayout::coo;
    arrays.row_ids = std::move(rows_).take();
    arrays.ids = std::move(cols_).take();
    arrays.values = Array(std::move(values_).take());
    arrays.rows = shape_ ? (*shape_)[0] : extent(arrays.row_ids);
    arrays.cols = shape_ ? (*shape_)[1] : extent(arrays.ids);
    arrays.integers = loss_.integers();
    auto made = assemble(std::move(arrays), "");
    if (!made) return fail(made.error().code, made.error().message, lines_.name());
    made->loss += loss_.loss();
    ReadMatrix matrix = to_read_matrix(std::move(*made));
    matrix.source_sha256 = lines_.input().finish_hash();
    return matrix;
  }

  TextLines& lines_;
  bool ordered_ = false;                            // the number of modes was stated
  std::optional<std::vector<std::int64_t>> shape_;  // rows and columns, if stated
  GrowingArray<std::int32_t> rows_, cols_;
  GrowingArray<double> values_;
  TextLoss loss_;
};

}  // namespace

Result<ReadMatrix> read_tns(InputBytes input) {
  auto lines = TextLines::open(std::move(input));
  if (!lines) return tl::unexpected(std::move(lines.error()));
  return TnsReader(*lines).read();
}

}  // namespace sptile::formats
