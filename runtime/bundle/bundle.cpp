#include "runtime/bundle/bundle.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "formats/layout/bundle_layout.hpp"
#include "formats/layout/csr.hpp"
#include "formats/layout/registry.hpp"

namespace sptile::runtime {
namespace {

using formats::FormatLayout;
using formats::FormatView;
using std::to_string;

constexpr std::size_t kMemoryAlignment = 64;

Status bad(std::string message) { return fail(Errc::bad_input, std::move(message) + "; convert again"); }

/// Checks that an array exists, has one of the types, and has `size` elements.
Status check_array(std::string_view path, const ArrayView& array, std::initializer_list<DType> types,
                   std::int64_t size) {
  if (!array.present()) return bad(std::string(path) + " is missing");
  if (std::find(types.begin(), types.end(), array.dtype) == types.end())
    return bad(std::string(path) + " has type " + std::string(name_of(array.dtype)) + ", expected " +
               std::string(name_of(*types.begin())));
  if (array.size != size)
    return bad(std::string(path) + " has " + to_string(array.size) + " elements, expected " +
               to_string(size));
  return {};
}

/// Checks that the single stored value of a pattern is 1, because kernels multiply patterns by ones.
Status check_iso_value(const ArrayView& array) {
  const double value = array.dtype == DType::f32 ? array.as<float>().front() : array.as<double>().front();
  if (value == 1) return {};
  return bad(std::string(formats::kCsrValuesPath) + " holds " + to_string(value) +
             ", but the header declares a pattern, whose only value is 1");
}

constexpr std::int64_t kLongestKey = 4096;

/// Returns whether the text is printable ASCII with newlines.
bool is_printable(std::span<const std::uint8_t> text) {
  return std::all_of(text.begin(), text.end(),
                     [](std::uint8_t c) { return c == '\n' || (c >= ' ' && c < 0x7f); });
}

std::string_view text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Result<std::shared_ptr<const Bundle>> Bundle::open(const std::string& path,
                                                   const BundleOpenOptions& options) {
  return open(FileBytes::open(path), path, options);
}

Result<std::shared_ptr<const Bundle>> Bundle::from_descriptor(int fd, const std::string& name,
                                                              const BundleOpenOptions& options) {
  return open(FileBytes::take(fd), name, options);
}

Result<std::shared_ptr<const Bundle>> Bundle::from_memory(std::span<const std::byte> memory,
                                                          const std::string& name) {
  if (reinterpret_cast<std::uintptr_t>(memory.data()) % kMemoryAlignment != 0)
    return fail(Errc::usage, "a bundle in memory must start at a multiple of 64 bytes", name);
  return open(FileBytes::borrow(memory), name, {});
}

Result<std::shared_ptr<const Bundle>> Bundle::open(Result<FileBytes> bytes, const std::string& path,
                                                   const BundleOpenOptions& options) {
  if (!bytes) return fail(bytes.error().code, bytes.error().message, path);
  if (options.keep_open) bytes->keep_open();
  auto file = BundleFile::open(std::move(*bytes), options.copy);
  if (!file) return fail(file.error().code, file.error().message, path);
  return validate(std::move(*file), path, options.matrix);
}

Result<std::shared_ptr<const Bundle>> Bundle::other(const std::string& matrix) const {
  return validate(file_, path_, matrix);
}

Result<std::shared_ptr<const Bundle>> Bundle::validate(std::shared_ptr<const BundleFile> file,
                                                       const std::string& path, const std::string& matrix) {
  std::shared_ptr<Bundle> bundle(new Bundle(std::move(file), path, formats::matrix_group(matrix)));
  Status s = bundle->read_shape();
  if (s) s = bundle->relate();
  const std::string of_matrix = matrix.empty() ? "" : matrix + ": ";
  if (!s) return fail(s.error().code, of_matrix + s.error().message, path);
  return bundle;
}

Status Bundle::read_shape() {
  const std::string path = formats::kShapePath;
  const BundleArray* const stored = file_->find(root_ + path);
  if (stored == nullptr) return bad(path + " is missing");
  std::array<std::int64_t, 3> shape{};
  if (stored->rank != 1 || stored->array.size != std::ssize(shape) || stored->array.dtype != DType::i64)
    return bad(path + " must be i64[3]: rows, columns, entries");
  std::ranges::copy(stored->array.as<std::int64_t>(), shape.begin());
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  if (shape[0] < 0 || shape[0] > kMax || shape[1] < 0 || shape[1] > kMax || shape[2] < 0)
    return bad(path + " is " + to_string(shape[0]) + " x " + to_string(shape[1]) + " with " +
               to_string(shape[2]) + " entries; expected 0 to 2^31 - 1 rows and columns");
  rows_ = shape[0], cols_ = shape[1], nnz_ = shape[2];
  pattern_ = (file_->header().may_ignore & formats::kBundlePattern) != 0;
  return read_symmetry();
}

Status Bundle::read_symmetry() {
  if (!root_.empty()) return {};  // the header describes the first matrix only
  const std::uint64_t flags = file_->header().may_ignore;
  const bool yes = (flags & formats::kBundleSymmetric) != 0, no = (flags & formats::kBundleNotSymmetric) != 0;
  if (yes && no) return bad("the header declares the matrix both symmetric and not symmetric");
  if (yes && rows_ != cols_)
    return bad("the header declares the matrix symmetric, but /shape is " + to_string(rows_) + " x " +
               to_string(cols_));
  if (yes || no) symmetric_ = yes;
  return {};
}

Status Bundle::relate() {
  if (Status s = check_row_order(Side::matrix); !s) return s;
  const std::int64_t values = pattern_ ? 1 : nnz_;  // a pattern stores a single value of 1
  const ArrayView source = find(formats::kCsrValuesPath);
  Status s = check_array(formats::kCsrValuesPath, source, {DType::f32, DType::f64}, values);
  if (s && pattern_) s = check_iso_value(source);
  if (s) s = add_formats(Side::matrix);
  if (s) s = relate_transpose();
  if (s) add_plans();
  return s;
}

Status Bundle::relate_transpose() {
  if (shared()) return check_shared();
  if (Status s = check_row_order(Side::transpose); !s) return s;
  if (group(std::string(formats::kTransposeGroup) + "/formats").empty()) return {};
  if (Status s = add_formats(Side::transpose); !s) return s;
  const ArrayView values = formats(Side::transpose).front().values();
  const std::string path = formats::bundle_group(formats::kCsrLayout, Side::transpose) + "/values";
  return pattern_ ? Status() : check_array(path, values, {dtype()}, nnz_);
}

Status Bundle::check_row_order(Side side) const {
  const std::string path = formats::row_order_path(side);
  const ArrayView order = find(path);
  return order.present() ? check_array(path, order, {DType::i32}, side == Side::matrix ? rows_ : cols_)
                         : Status();
}

/// Checks that a symmetric A^T has no arrays except value_source.
Status Bundle::check_shared() const {
  const auto own = [](const std::string& path) {
    return bad(path + " exists, but the header declares the matrix symmetric");
  };
  if (const std::string path = formats::row_order_path(Side::transpose); find(path).present())
    return own(path);
  for (const FormatLayout* layout : formats::layouts()) {
    const std::string source = formats::value_source_path(*layout, Side::transpose);
    for (const std::uint32_t position : group(formats::bundle_group(*layout, Side::transpose)))
      if (arrays()[position].path != source || format(layout->name) == nullptr)
        return own(arrays()[position].path);
    if (!find(source).present()) continue;
    if (Status s = check_value_source(source); !s) return s;
  }
  return {};
}

Status Bundle::add_formats(Side side) {
  for (const FormatLayout* layout : formats::layouts()) {
    if (layout != &formats::kCsrLayout && group(formats::bundle_group(*layout, side)).empty()) continue;
    if (Status s = add_format(*layout, side); !s) return s;
  }
  return {};
}

Status Bundle::check_value_source(const std::string& path) const {
  if (pattern_) return bad(path + " exists, but a pattern has no values");
  return check_array(path, find(path), {DType::i64}, nnz_);
}

void Bundle::add_plans() {
  const std::string_view kKey = formats::kPlanKeyName;
  for (const std::uint32_t position : group(formats::kPlansPath)) {
    const std::string_view path = arrays()[position].path;
    if (!path.ends_with(kKey) || path[path.size() - kKey.size() - 1] != '/') continue;
    const std::string_view name = path.substr(0, path.size() - kKey.size() - 1);
    const ArrayView key = arrays()[position].array;
    const BundleArray* const numbers = file_->find(std::string(name) + "/" + formats::kPlanNumbersName);
    const BundleArray* const schedule = file_->find(std::string(name) + "/" + formats::kPlanScheduleName);
    if (key.dtype == DType::u8 && key.size <= kLongestKey && is_printable(key.as<std::uint8_t>()) &&
        numbers != nullptr && numbers->array.dtype == DType::i64 && schedule != nullptr &&
        schedule->array.dtype == DType::u8)
      plans_.push_back(
          {name,
           text_of(key.as<std::uint8_t>()),
           {numbers->array.as<std::int64_t>(), std::as_bytes(schedule->array.as<std::uint8_t>())},
           numbers->hash,
           schedule->hash});
  }
}

/// Checks that the group of a format contains exactly its arrays, with consistent lengths.
Status Bundle::add_format(const FormatLayout& layout, Side side) {
  const bool turned = side == Side::transpose, is_source = &layout == &formats::kCsrLayout && !turned;
  FormatView view{&layout, turned ? cols_ : rows_, turned ? rows_ : cols_, nnz_, {}};
  std::vector<std::string> known;
  for (std::size_t i = 0; i < layout.arrays.size(); ++i) {
    const std::string& path = known.emplace_back(formats::bundle_path(layout, i, side));
    const ArrayView array = find(path);
    if (pattern_ && layout.arrays[i].holds_values) {
      if (array.present() && path != formats::kCsrValuesPath)
        return bad(path + " exists, but the header declares a pattern");
      continue;
    }
    if (!array.present()) return bad(path + " is missing");
    view.arrays[i] = array;
  }
  if (const std::string path = formats::value_source_path(layout, side); find(path).present() && !is_source) {
    if (Status s = check_value_source(path); !s) return s;
    known.push_back(path);
  }
  for (const std::uint32_t position : group(formats::bundle_group(layout, side)))
    if (const std::string path = arrays()[position].path.substr(root_.size());
        std::find(known.begin(), known.end(), path) == known.end())
      return bad(path + " is not an array of " + std::string(layout.name));
  if (Status s = layout.check_lengths(view); !s) return bad(s.error().message);
  formats_[turned].push_back(view);
  return {};
}

std::span<const std::uint32_t> Bundle::group(std::string_view path) const {
  return file_->group(root_ + std::string(path));
}

ArrayView Bundle::array(std::string_view path) const {
  const BundleArray* const found = file_->find(path);
  return found != nullptr ? found->array : ArrayView{};
}

ArrayView Bundle::find(std::string_view path) const { return array(root_ + std::string(path)); }

DType Bundle::dtype() const { return formats().front().value_dtype(); }

formats::CsrView Bundle::csr() const { return formats::as_csr(formats().front()); }

std::span<const std::int32_t> Bundle::row_order(Side side) const {
  const ArrayView order = find(formats::row_order_path(shared() ? Side::matrix : side));
  return order.present() ? order.as<std::int32_t>() : std::span<const std::int32_t>();
}

const FormatView* Bundle::format(std::string_view name, Side side) const {
  for (const FormatView& view : formats(side))
    if (view.layout->name == name) return &view;
  return nullptr;
}

ArrayView Bundle::value_source(std::string_view format, Side side) const {
  const FormatLayout* layout = formats::find_layout(format);
  return layout == nullptr ? ArrayView() : find(formats::value_source_path(*layout, side));
}

std::uint64_t Bundle::content() const {
  formats::BundleHasher hasher;
  for (const std::uint32_t i : file_->by_path()) {
    const BundleArray& one = arrays()[i];
    if (one.path.starts_with(formats::kPlansPath)) continue;
    hasher.add(one.path.c_str(), one.path.size() + 1);
    hasher.add(&one.hash, sizeof one.hash);
  }
  return hasher.hash();
}

Status Bundle::verify_checksum(const BundleArray& array) const {
  const auto bytes = static_cast<std::uint64_t>(array.array.bytes());
  if (formats::bundle_hash(array.array.data, bytes) == array.hash) return {};
  return fail(Errc::check_failed,
              array.path +
                  ": data changed since it was written (its XXH3 hash differs from the table); convert again",
              path_);
}

}  // namespace sptile::runtime
