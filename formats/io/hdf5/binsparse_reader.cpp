#include <algorithm>
#include <utility>

#include "formats/core/quote.hpp"
#include "formats/io/entries/sparse_arrays.hpp"
#include "formats/io/hdf5/binsparse.hpp"
#include "formats/io/hdf5/binsparse_descriptor.hpp"
#include "formats/io/hdf5/hdf5_arrays.hpp"

namespace sptile::formats {
namespace {

/// Mapping of a binsparse format to SparseArrays, with the names of its index arrays.
struct FormatRow {
  std::string_view name;
  ArrayLayout layout;
  const char* rows = nullptr;
  const char* ids = "indices_1";
};
constexpr FormatRow kFormats[] = {{"CSR", ArrayLayout::csr},
                                  {"CSC", ArrayLayout::csc},
                                  {"COO", ArrayLayout::coo, "indices_0"},
                                  {"COOR", ArrayLayout::coo, "indices_0"},
                                  {"COOC", ArrayLayout::coo, "indices_1", "indices_0"}};

/// The stored triangle, and the relation of the other triangle to it.
struct StructureRow {
  std::string_view name;
  bool lower, negated;
  bool complex = false;  // values are complex; their real parts are symmetric
};
constexpr StructureRow kStructures[] = {
    {"symmetric_lower", true, false},       {"symmetric_upper", false, false},
    {"hermitian_lower", true, false, true}, {"hermitian_upper", false, false, true},
    {"skew_symmetric_lower", true, true},   {"skew_symmetric_upper", false, true}};

/// Parsed value type, such as "iso[complex[float32]]".
struct ValueType {
  bool iso = false, complex = false, boolean = false;
};

ValueType parse_value_type(std::string_view text) {
  ValueType type;
  const auto take = [&](std::string_view modifier) {
    if (!text.starts_with(modifier) || !text.ends_with(']')) return false;
    text = text.substr(modifier.size(), text.size() - modifier.size() - 1);
    return true;
  };
  type.iso = take("iso[");
  type.complex = take("complex[");
  type.boolean = text == "bint8";
  return type;
}

template <class Row, std::size_t N>
const Row* find_row(const Row (&rows)[N], std::string_view name) {
  const auto* const row =
      std::find_if(std::begin(rows), std::end(rows), [=](const Row& r) { return r.name == name; });
  return row == std::end(rows) ? nullptr : row;
}

class BinsparseReader {
 public:
  BinsparseReader(Hdf5Reader file, std::string name, bool real_part)
      : file_(std::move(file)), name_(std::move(name)), real_part_(real_part) {}

  Result<ReadMatrix> read() {
    for (const auto step :
         {&BinsparseReader::read_descriptor, &BinsparseReader::read_format, &BinsparseReader::read_shape,
          &BinsparseReader::read_structure, &BinsparseReader::read_indices, &BinsparseReader::read_values})
      if (Status s = (this->*step)(); !s) return tl::unexpected(std::move(s.error()));
    auto made = assemble(std::move(arrays_), "pointers_to_1");
    if (!made) return fail(made.error().code, made.error().message, name_);
    if (structure_ != nullptr) {
      auto whole = mirror_triangle(made->csr, structure_->lower, structure_->negated);
      if (!whole) return fail(whole.error().code, whole.error().message, name_);
      made->csr = std::move(*whole);
    }
    made->loss.LossCounts::operator+=(lost_);
    return to_read_matrix(std::move(*made));
  }

 private:
  [[nodiscard]] tl::unexpected<Error> bad(std::string message) const {
    return fail(Errc::bad_input, std::move(message), name_);
  }
  [[nodiscard]] tl::unexpected<Error> unsupported(std::string message) const {
    return fail(Errc::unsupported, std::move(message), name_);
  }

  Status read_descriptor() {
    const auto text = file_.text(kBinsparseAttribute);
    if (!text) return tl::unexpected(text.error());
    auto found = parse_binsparse_descriptor(text->value_or(""));
    if (!found)
      return bad("the attribute 'binsparse' is not a descriptor: " + formats::quoted(text->value_or("")));
    descriptor_ = std::move(*found);
    const std::string& version = descriptor_.version;
    if (!version.empty() && !version.starts_with("0."))
      return unsupported("is binsparse " + formats::quoted(version) + "; sptile reads 0.1");
    return {};
  }

  Status read_format() {
    if (!descriptor_.format) return bad("the descriptor has no format");
    const std::string& name = *descriptor_.format;
    format_ = find_row(kFormats, name);
    if (format_ == nullptr)
      return unsupported("the matrix has the binsparse format " + formats::quoted(name) +
                         "; sptile reads CSR, CSC, COO, COOR and COOC");
    arrays_.layout = format_->layout;
    if (descriptor_.fill)
      return unsupported("has a fill value, so missing entries are not zero; sptile requires zero");
    return {};
  }

  Status read_shape() {
    if (descriptor_.shape.size() != 2) return bad("the descriptor has no two-dimensional shape");
    arrays_.rows = descriptor_.shape[0], arrays_.cols = descriptor_.shape[1];
    Status s = check_matrix_shape(arrays_.rows, arrays_.cols);
    return s ? s : fail(s.error().code, s.error().message, name_);
  }

  Status read_structure() {
    type_ = parse_value_type(descriptor_.values);
    if (!descriptor_.structure || *descriptor_.structure == "general") return {};
    const std::string& name = *descriptor_.structure;
    structure_ = find_row(kStructures, name);
    if (structure_ == nullptr) return unsupported("the matrix has the structure " + formats::quoted(name));
    if (arrays_.rows != arrays_.cols)
      return bad("has the structure " + formats::quoted(name) + ", but " + std::to_string(arrays_.rows) +
                 " rows and " + std::to_string(arrays_.cols) + " columns");
    if (structure_->complex && !type_.complex)
      return bad("has the structure " + formats::quoted(name) + ", but real values");
    return {};
  }

  Status read_indices() {
    Status s =
        formats::read_indices(file_, format_->ids, arrays_.ids, minors(arrays_), descriptor_.stored_values);
    if (s && format_->rows != nullptr)
      return formats::read_indices(file_, format_->rows, arrays_.row_ids, arrays_.rows, arrays_.ids.size());
    return s ? formats::read_indices(file_, "pointers_to_1", arrays_.pointers, INT64_MAX, majors(arrays_) + 1)
             : s;
  }

  Status read_values() {
    if (type_.complex && !real_part_)
      return unsupported("the values are complex; --real-part reads the real parts");
    const auto array = file_.array("values");
    if (!array) return tl::unexpected(array.error());
    const std::int64_t entries = arrays_.ids.size(), parts = type_.complex ? 2 : 1;
    if (array->size != (type_.iso ? 1 : entries) * parts)
      return fail(Errc::bad_input,
                  "has " + std::to_string(array->size) + " elements, not " +
                      std::to_string((type_.iso ? 1 : entries) * parts),
                  file_.where("values"));
    auto values = formats::read_values(file_, *array, lost_);
    if (!values) return tl::unexpected(std::move(values.error()));
    arrays_.values = std::move(*values);
    arrays_.integers = array->type.kind != NumberKind::real;
    return arrays_.values.dtype() == DType::f32 ? shape_values<float>(entries)
                                                : shape_values<double>(entries);
  }

  // Converts stored values to one value per entry.
  template <class T>
  Status shape_values(std::int64_t entries) {
    Array& values = arrays_.values;
    if (type_.boolean)
      for (T& x : values.as<T>()) x = x != 0 ? T{1} : T{0};
    const bool ones = (type_.iso || type_.boolean) && !type_.complex && all_ones(values.view());
    if (ones && !(structure_ != nullptr && structure_->negated)) {
      values = Array();
      return {};
    }
    if (!type_.iso && !type_.complex) return {};
    Array spread(dtype_of<T>, entries);
    const auto from = std::as_const(values).template as<T>();
    const std::size_t step = type_.iso ? 0 : 2;
    std::size_t at = 0;
    for (T& x : spread.as<T>()) x = from[at], at += step;
    values = std::move(spread);
    return {};
  }

  Hdf5Reader file_;
  std::string name_;
  bool real_part_;
  BinsparseDescriptor descriptor_;
  const FormatRow* format_ = nullptr;
  const StructureRow* structure_ = nullptr;  // null: all entries are stored
  ValueType type_;
  SparseArrays arrays_;
  LossCounts lost_;
};

}  // namespace

Result<bool> is_binsparse(const Hdf5Reader& file) {
  return file.text(kBinsparseAttribute).map([](const auto& text) { return text.has_value(); });
}

Result<ReadMatrix> read_binsparse(Hdf5Reader file, const std::string& name, bool real_part) {
  return BinsparseReader(std::move(file), name, real_part).read();
}

}  // namespace sptile::formats
