#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/core/quote.hpp"
#include "formats/io/binary/mat.hpp"
#include "formats/io/binary/mat_bytes.hpp"
#include "formats/io/entries/sparse_arrays.hpp"
#include "formats/io/files/claim.hpp"
#include "formats/io/text/numbers.hpp"

namespace sptile::formats {
namespace {

constexpr std::int64_t kHeaderBytes = 128;
constexpr std::string_view kMagic73 = "MATLAB 7.3 MAT-file";
constexpr std::int64_t kMatrixType = 14, kDeflatedType = 15;  // element types
constexpr std::uint32_t kStructClass = 2, kSparseClass = 5;
constexpr std::uint32_t kLogicalFlag = 0x200, kComplexFlag = 0x800;
constexpr int kDeepest = 16;  // maximum nesting of structs

struct TypeRow {
  std::int64_t code;
  NumberType type;
};
constexpr TypeRow kTypes[] = {
    {1, {NumberKind::integer, 1}},  {2, {NumberKind::natural, 1}},  {3, {NumberKind::integer, 2}},
    {4, {NumberKind::natural, 2}},  {5, {NumberKind::integer, 4}},  {6, {NumberKind::natural, 4}},
    {7, {NumberKind::real, 4}},     {9, {NumberKind::real, 8}},     {12, {NumberKind::integer, 8}},
    {13, {NumberKind::natural, 8}}, {16, {NumberKind::natural, 1}},  // UTF-8
};

/// Header of an element. Small elements store their data in the same 8 bytes.
struct Tag {
  std::int64_t type = 0, bytes = 0;
  bool is_small = false;
  std::array<char, 4> small{};
};

bool is_level_5(std::string_view head) {
  if (head.size() < kHeaderBytes || !head.starts_with("MATLAB")) return false;
  const std::string_view order = head.substr(126, 2);
  return order == "IM" || order == "MI";
}

// Checks for a level 4 header, five numbers (type, rows, columns, complex flag, length of the name), followed
// by the name.
bool is_level_4(std::string_view head) {
  constexpr std::size_t kNumbers = 5;
  constexpr std::uint32_t kLargestType = 52, kLongestName = 64;
  if (head.size() <= kNumbers * 4) return false;
  std::array<std::uint32_t, kNumbers> numbers{};
  std::memcpy(numbers.data(), head.data(), sizeof(numbers));
  const std::uint32_t length = numbers[4];
  const std::string_view name = head.substr(sizeof(numbers));
  return numbers[0] <= kLargestType && numbers[3] <= 1 && length > 1 && length <= kLongestName &&
         name.find('\0') + 1 == length;
}

class MatReader {
 public:
  MatReader(InputBytes& input, bool real_part) : input_(input), real_part_(real_part) {}

  Result<ReadMatrix> read() {
    Status s = read_header();
    if (s) s = read_elements();
    if (!s) return tl::unexpected(std::move(s.error()));
    return choose();
  }

 private:
  [[nodiscard]] tl::unexpected<Error> bad(std::string message) const {
    return fail(Errc::bad_input, std::move(message), where_);
  }

  Status read_header() {
    std::array<char, kHeaderBytes> header{};
    where_ = input_.name();
    const auto count = input_.read(header);
    if (!count) return tl::unexpected(count.error());
    const std::string_view text(header.data(), static_cast<std::size_t>(*count));
    if (text.starts_with(kMagic73))
      return fail(
          Errc::unsupported,
          "is a MAT-file of version 7.3, which is HDF5; save it with '-v7' in MATLAB, or as .npz from "
          "Python",
          where_);
    if (!is_level_5(text))
      return fail(Errc::unsupported,
                  "is not a level 5 MAT-file; save it with '-v7' in MATLAB, or by scipy.io.savemat", where_);
    swapped_ = text.substr(126) == "MI";
    return {};
  }

  [[nodiscard]] std::int64_t word(const char* from) const {
    return *to_integer({NumberKind::natural, 4, swapped_}, from);
  }

  Result<Tag> read_tag(MatBytes& bytes) const {
    std::array<char, 8> start{};
    if (Status s = bytes.read(start); !s) return tl::unexpected(std::move(s.error()));
    Tag tag;
    const std::int64_t first = word(start.data());
    tag.is_small = (first >> 16) != 0;
    tag.type = tag.is_small ? first & 0xffff : first;
    tag.bytes = tag.is_small ? first >> 16 : word(start.data() + 4);
    std::copy_n(start.data() + 4, 4, tag.small.begin());
    if (tag.is_small && tag.bytes > 4)
      return bad("a small element of " + std::to_string(tag.bytes) + " bytes");
    if (!tag.is_small && tag.bytes > bytes.left())
      return bad("an element declares " + std::to_string(tag.bytes) + " bytes; at most " +
                 std::to_string(bytes.left()) + " follow");
    return tag;
  }

  // Returns the bytes that pad an element to a multiple of 8 bytes.
  static std::int64_t padding(const Tag& tag) { return tag.is_small ? 0 : (8 - tag.bytes % 8) % 8; }

  // Calls take(bytes, count) for blocks of an array of numbers.
  template <class Take>
  Status each_number(MatBytes& bytes, const Tag& tag, NumberType type, const Take& take) const {
    constexpr std::int64_t kPieceBytes = 256 << 10;
    if (tag.bytes % type.bytes != 0) return bad("an array ends within a number");
    if (tag.is_small) return take(tag.small.data(), tag.bytes / type.bytes);
    Buffer<char> piece(std::min(tag.bytes, kPieceBytes));
    for (std::int64_t left = tag.bytes; left > 0;) {
      const std::int64_t count = std::min(left, kPieceBytes) / type.bytes;
      if (Status s = bytes.read(piece.span().first(static_cast<std::size_t>(count * type.bytes))); !s)
        return s;
      if (Status s = take(piece.data(), count); !s) return s;
      left -= count * type.bytes;
    }
    return bytes.skip(padding(tag));
  }

  [[nodiscard]] Result<NumberType> type_of(const Tag& tag, bool integers) const {
    const auto* const row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                         [&](const TypeRow& r) { return r.code == tag.type; });
    if (row == std::end(kTypes) || (integers && row->type.kind == NumberKind::real))
      return bad("an array has elements of type " + std::to_string(tag.type) +
                 (integers ? "; indices are integers" : "; expected numbers"));
    NumberType type = row->type;
    type.swapped = swapped_;
    return type;
  }

  // Reads integers in [0, limit).
  template <class T>
  Result<Buffer<T>> read_integers(MatBytes& bytes, std::string_view what, std::int64_t limit) const {
    const auto tag = read_tag(bytes);
    if (!tag) return tl::unexpected(tag.error());
    const auto type = type_of(*tag, true);
    if (!type) return tl::unexpected(type.error());
    Buffer<T> numbers = claim<T>(tag->bytes / type->bytes);
    std::int64_t at = 0;
    Status s = each_number(bytes, *tag, *type, [&](const char* from, std::int64_t count) -> Status {
      for (const std::int64_t end = at + count; at < end; ++at, from += type->bytes) {
        const auto number = to_integer(*type, from);
        if (!number || *number < 0 || *number >= limit)
          return bad(std::string(what) + " " + std::to_string(at) + " is " +
                     (number ? std::to_string(*number) : "a number exceeds 63 bits") + "; expected 0 to " +
                     std::to_string(limit - 1));
        numbers[at] = static_cast<T>(*number);
      }
      return {};
    });
    if (!s) return tl::unexpected(std::move(s.error()));
    return numbers;
  }

  Result<std::string> read_text(MatBytes& bytes) const {
    constexpr std::int64_t kLongest = 1 << 20;  // maximum bytes of a struct's field names
    const auto tag = read_tag(bytes);
    if (!tag) return tl::unexpected(tag.error());
    if (tag->bytes > kLongest) return bad("a name of " + std::to_string(tag->bytes) + " bytes");
    std::string text(static_cast<std::size_t>(tag->bytes), '\0');
    if (tag->is_small) {
      std::copy_n(tag->small.begin(), tag->bytes, text.begin());
      return text;
    }
    Status s = bytes.read(text);
    if (s) s = bytes.skip(padding(*tag));
    if (!s) return tl::unexpected(std::move(s.error()));
    return text;
  }

  Status read_elements() {
    MatBytes file(input_);
    while (file.left() > 0) {
      const auto tag = read_tag(file);
      if (!tag) return tl::unexpected(tag.error());
      const std::int64_t before = file.left();
      Status s;
      if (tag->type == kDeflatedType) {
        MatBytes inflated(input_, tag->bytes);
        const auto inner = read_tag(inflated);
        if (!inner) return tl::unexpected(inner.error());
        if (inner->type == kMatrixType) s = read_matrix(inflated, *inner, "", 0);
        if (s) s = inflated.finish();
        if (s) file.passed(tag->bytes);
      } else if (tag->type == kMatrixType) {
        s = read_matrix(file, *tag, "", 0);
      }
      if (!s) return s;
      const std::int64_t rest = (tag->is_small ? 0 : tag->bytes) - (before - file.left());
      if (s = file.skip(std::min(file.left(), rest + (tag->type == kDeflatedType ? 0 : padding(*tag)))); !s)
        return s;
      where_ = input_.name();
    }
    return {};
  }

  // Reads a variable or a field, no further than necessary.
  Status read_matrix(MatBytes& bytes, const Tag& tag, const std::string& outer, int depth) {
    if (tag.bytes == 0) return {};  // an empty field
    const std::int64_t end = bytes.left() - tag.bytes;
    const auto flags = read_integers<std::int64_t>(bytes, "flag", std::int64_t{1} << 32);
    if (!flags) return tl::unexpected(flags.error());
    if (flags->size() != 2) return bad("a variable without flags");
    const auto kind = static_cast<std::uint32_t>((*flags)[0] & 0xff);
    const auto shape = read_integers<std::int64_t>(bytes, "extent", std::int64_t{1} << 31);
    if (!shape) return tl::unexpected(shape.error());
    auto name = read_text(bytes);
    if (!name) return tl::unexpected(name.error());
    if (depth > 0) *name = outer;  // names of fields are stored in the struct
    where_ = input_.name() + ":" + *name;
    Status s;
    if (kind == kSparseClass)
      s = read_sparse(bytes, *shape, static_cast<std::uint32_t>((*flags)[0]), *name);
    else if (kind == kStructClass && depth < kDeepest)
      s = read_struct(bytes, *shape, *name, depth, end);
    if (!s) return s;
    return bytes.left() >= end ? bytes.skip(bytes.left() - end)
                               : bad("a variable exceeds its declared length");
  }

  Status read_struct(MatBytes& bytes, const Buffer<std::int64_t>& shape, const std::string& name, int depth,
                     std::int64_t end) {
    const auto length = read_integers<std::int64_t>(bytes, "length of field names", 1 << 16);
    if (!length) return tl::unexpected(length.error());
    const auto names = read_text(bytes);
    if (!names) return tl::unexpected(names.error());
    if (length->size() != 1 || (*length)[0] < 1) return bad("a struct without a length of field names");
    const auto width = static_cast<std::size_t>((*length)[0]);
    const bool single = std::all_of(shape.begin(), shape.end(), [](std::int64_t n) { return n == 1; });
    for (std::size_t at = 0; single && at + width <= names->size() && bytes.left() > end; at += width) {
      const auto tag = read_tag(bytes);
      if (!tag) return tl::unexpected(tag.error());
      const std::string padded = names->substr(at, width);
      const std::string field = padded.substr(0, padded.find('\0'));
      if (tag->type != kMatrixType) return bad("a struct field is not a matrix");
      if (Status s = read_matrix(bytes, *tag, name + "." + field, depth + 1); !s) return s;
    }
    return {};
  }

  Status read_sparse(MatBytes& bytes, const Buffer<std::int64_t>& shape, std::uint32_t flags,
                     const std::string& name) {
    if (shape.size() != 2) return bad("a sparse matrix of " + std::to_string(shape.size()) + " dimensions");
    const bool first = found_++ == 0, preferred = is_preferred(name);
    chosen_ = chosen_ || preferred;
    if (names_.size() < kMaxNames) names_.push_back(name);
    if (!first && !preferred) return {};
    if ((flags & kComplexFlag) != 0 && !real_part_) {
      matrix_ = fail(Errc::unsupported, "the values are complex; --real-part reads the real parts", where_);
      return {};
    }
    SparseArrays arrays;
    arrays.layout = ArrayLayout::csc;
    arrays.rows = shape[0], arrays.cols = shape[1];
    auto ids = read_integers<std::int32_t>(bytes, "row index", std::max<std::int64_t>(1, arrays.rows));
    if (!ids) return tl::unexpected(std::move(ids.error()));
    auto pointers = read_integers<std::int64_t>(bytes, "column pointer", INT64_MAX);
    if (!pointers) return tl::unexpected(std::move(pointers.error()));
    if (pointers->size() != arrays.cols + 1)
      return bad(std::to_string(pointers->size()) + " column pointers for " + std::to_string(arrays.cols) +
                 " columns");
    const std::int64_t entries = (*pointers)[arrays.cols];
    LossCounts lost;
    auto values = read_values(bytes, lost);
    if (!values) return tl::unexpected(std::move(values.error()));
    if (entries > ids->size() || entries > values->size())
      return bad("the column pointers end with " + std::to_string(entries) + "; there are " +
                 std::to_string(ids->size()) + " row indices and " + std::to_string(values->size()) +
                 " values");
    ids->truncate(entries);  // there may be space for more
    values->truncate(entries);
    arrays.ids = std::move(*ids), arrays.pointers = std::move(*pointers);
    if ((flags & kLogicalFlag) == 0 || !all_ones(values->view())) arrays.values = std::move(*values);
    arrays.integers = (flags & kLogicalFlag) != 0;
    auto made = assemble(std::move(arrays), "column pointer");
    if (!made) return fail(made.error().code, made.error().message, where_);
    made->loss.LossCounts::operator+=(lost);
    matrix_ = to_read_matrix(std::move(*made));
    return {};
  }

  Result<Array> read_values(MatBytes& bytes, LossCounts& lost) const {
    const auto tag = read_tag(bytes);
    if (!tag) return tl::unexpected(tag.error());
    const auto type = type_of(*tag, false);
    if (!type) return tl::unexpected(type.error());
    Array values = claim(value_type(*type), tag->bytes / type->bytes);
    auto* to = static_cast<char*>(values.data());
    const std::size_t width = size_of(values.dtype());
    Status s = each_number(bytes, *tag, *type, [&](const char* from, std::int64_t count) -> Status {
      lost.inexact += to_values(*type, from, count, to);
      to += width * static_cast<std::size_t>(count);
      return {};
    });
    if (!s) return tl::unexpected(std::move(s.error()));
    return values;
  }

  static bool is_preferred(const std::string& name) { return name == "A" || name == "Problem.A"; }

  Result<ReadMatrix> choose() {
    where_ = input_.name();
    if (names_.empty())
      return bad("a MAT-file without a sparse matrix; in MATLAB, convert a dense one with sparse(A)");
    if (found_ > 1 && !chosen_) {
      std::string all;
      for (const std::string& name : names_) all += (all.empty() ? "" : ", ") + quoted(name);
      return bad("a MAT-file with " + std::to_string(found_) + " sparse matrices (" + all +
                 (found_ > names_.size() ? ", ..." : "") + "); save only one, or name it A");
    }
    if (!matrix_) return tl::unexpected(std::move(matrix_.error()));
    matrix_->source_sha256 = input_.finish_hash();
    if (found_ > 1)
      matrix_->notes.push_back("A is read; " + std::to_string(found_ - 1) +
                               " other sparse matrices are ignored");
    return std::move(matrix_);
  }

  InputBytes& input_;
  bool real_part_;
  bool swapped_ = false;
  std::string where_;  // file and current variable
  static constexpr std::size_t kMaxNames = 8;
  std::vector<std::string> names_;            // names of the first sparse matrices
  std::size_t found_ = 0;                     // number of sparse matrices
  bool chosen_ = false;                       // matrix_ has a preferred name
  Result<ReadMatrix> matrix_ = ReadMatrix{};  // the preferred matrix, or the first
};

}  // namespace

bool is_mat(std::string_view head) {
  return head.starts_with(kMagic73) || is_level_5(head) || is_level_4(head);
}

Result<ReadMatrix> read_mat(InputBytes input, bool real_part) {
  input.start_hash();
  return MatReader(input, real_part).read();
}

}  // namespace sptile::formats
