#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "formats/io/binsparse.hpp"
#include "formats/io/hdf5_arrays.hpp"
#include "formats/io/quote.hpp"
#include "formats/io/sparse_arrays.hpp"

namespace sptile::formats {
namespace {

using Json = nlohmann::json;

/// How the arrays of a format make a matrix. COO's row and column indices have the names that stand here.
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

/// Which triangle is stored, and how the other one follows.
struct StructureRow {
  std::string_view name;
  bool lower, negated;
  bool complex = false;  // its values are; their real parts are symmetric
};
constexpr StructureRow kStructures[] = {
    {"symmetric_lower", true, false},       {"symmetric_upper", false, false},
    {"hermitian_lower", true, false, true}, {"hermitian_upper", false, false, true},
    {"skew_symmetric_lower", true, true},   {"skew_symmetric_upper", false, true}};

/// "iso[complex[float32]]".
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

  // A text of the descriptor; empty where there is none.
  [[nodiscard]] static std::string text_of(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
  }

  Status read_descriptor() {
    const auto text = file_.text(kBinsparseAttribute);
    if (!text) return tl::unexpected(text.error());
    Json all = Json::parse(**text, nullptr, false);
    const auto found = all.is_object() ? all.find("binsparse") : all.end();
    if (!all.is_object() || found == all.end() || !found->is_object())
      return bad("the attribute 'binsparse' is no descriptor: " + formats::quoted(**text));
    descriptor_ = *found;
    const std::string version = text_of(descriptor_, "version");
    if (!version.empty() && !version.starts_with("0."))
      return unsupported("is binsparse " + formats::quoted(version) + "; sptile reads 0.1");
    return {};
  }

  Status read_format() {
    const auto found = descriptor_.find("format");
    if (found == descriptor_.end()) return bad("the descriptor names no format");
    const std::string name = found->is_string() ? found->get<std::string>() : "custom";
    format_ = find_row(kFormats, name);
    if (format_ == nullptr)
      return unsupported("the matrix is in binsparse's format " + formats::quoted(name) +
                         "; sptile reads CSR, CSC, COO, COOR and COOC");
    arrays_.layout = format_->layout;
    if (const auto fill = descriptor_.find("fill"); fill != descriptor_.end() && *fill == Json(true))
      return unsupported("has a fill value: places without an entry would not be zero");
    return {};
  }

  Status read_shape() {
    const auto shape = descriptor_.find("shape");
    const bool good = shape != descriptor_.end() && shape->is_array() && shape->size() == 2 &&
                      (*shape)[0].is_number_unsigned() && (*shape)[1].is_number_unsigned();
    if (!good) return bad("the descriptor has no shape of two numbers");
    arrays_.rows = (*shape)[0].get<std::int64_t>();
    arrays_.cols = (*shape)[1].get<std::int64_t>();
    Status s = check_matrix_shape(arrays_.rows, arrays_.cols);
    return s ? s : fail(s.error().code, s.error().message, name_);
  }

  Status read_structure() {
    const auto types = descriptor_.find("data_types");
    if (types != descriptor_.end() && types->is_object()) type_ = parse_value_type(text_of(*types, "values"));
    const auto found = descriptor_.find("structure");
    if (found == descriptor_.end() || *found == Json("general")) return {};
    const std::string name = text_of(descriptor_, "structure");
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
    const auto told = descriptor_.find("number_of_stored_values");
    const std::int64_t wanted =
        told != descriptor_.end() && told->is_number_unsigned()
            ? static_cast<std::int64_t>(std::min<std::uint64_t>(told->get<std::uint64_t>(), INT64_MAX))
            : -1;
    Status s = formats::read_indices(file_, format_->ids, arrays_.ids, minors(arrays_), wanted);
    if (s && format_->rows != nullptr)
      return formats::read_indices(file_, format_->rows, arrays_.row_ids, arrays_.rows, arrays_.ids.size());
    return s ? formats::read_indices(file_, "pointers_to_1", arrays_.pointers, INT64_MAX, majors(arrays_) + 1)
             : s;
  }

  Status read_values() {
    if (type_.complex && !real_part_)
      return unsupported("the values are complex; --real-part takes their real parts");
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

  // From what is stored to one value an entry.
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
  Json descriptor_;
  const FormatRow* format_ = nullptr;
  const StructureRow* structure_ = nullptr;  // null: all entries are stored
  ValueType type_;
  SparseArrays arrays_;
  LossCounts lost_;
};

}  // namespace

bool is_binsparse(const Hdf5Reader& file) {
  const auto text = file.text(kBinsparseAttribute);
  return !text || text->has_value();  // its reader says what is wrong with it
}

Result<ReadMatrix> read_binsparse(Hdf5Reader file, const std::string& name, bool real_part) {
  return BinsparseReader(std::move(file), name, real_part).read();
}

}  // namespace sptile::formats
