#include "tests/property/problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "runtime/operation/error_bound.hpp"
#include "runtime/reference/compare.hpp"

namespace sptile::test {
namespace {

using runtime::Operand;
using runtime::OperandSpec;

constexpr std::size_t kGuard = 256;
constexpr std::byte kUntouched{0xA5};  ///< guards, and what is between the elements of results
constexpr std::byte kNan{0xFF};        ///< results that are only written, and what is between those read

bool is_list(const OperandSpec& spec) { return spec.extent == runtime::Extent::entries; }

/// Whether heads share an operand. Features that may be shared are not if heads are interleaved.
bool is_shared(const OperandSpec& spec, const Setting& s) {
  return spec.shared && !(s.interleaved && spec.extent == runtime::Extent::features);
}

/// Elements between rows and heads.
Operand strides(const OperandSpec& spec, const runtime::OperandShape& shape, const Setting& s) {
  if (is_list(spec)) return {nullptr, 1, shape.rows + s.pad};
  const std::int64_t ld = shape.width + s.pad;
  if (is_shared(spec, s)) return {nullptr, ld, 0};
  if (s.interleaved) return {nullptr, s.heads * ld + s.pad, ld};
  return {nullptr, ld, shape.rows * ld + s.pad};
}

runtime::Variant variant_of(const Setting& setting) {
  return {.m = setting.m,
          .heads = setting.heads,
          .activation = setting.activation,
          .score = setting.score,
          .transposed_weights = setting.transposed};
}

}  // namespace

Operand Image::at(std::byte* memory) const {
  Operand o = operand;
  o.data = present ? memory + begin : nullptr;
  return o;
}

runtime::PlanOptions options_of(const Instance& instance, const Setting& setting) {
  runtime::PlanOptions options;
  options.n = setting.planned_n();
  options.dense = instance.types.operands;
  options.result = instance.types.result;
  options.device = instance.kernel->device;
  options.kernel = instance.kernel->name;
  options.threads = setting.threads;
  options.variant = variant_of(setting);
  options.device_ordinal = setting.device;
  if (setting.csr_order) options.order = runtime::EntryOrder::csr;
  if (!instance.on_cpu() && instance.types.operands == DType::f32) options.precision = instance.precision;
  return options;
}

Problem::Problem(const Instance& instance, const Setting& setting, const Matrix& matrix, Random& random)
    : instance_(&instance),
      setting_(setting),
      matrix_(&matrix),
      variant_(variant_of(setting)),
      images_(instance.op().operands.size()) {
  for (std::size_t i = 0; i < images_.size(); ++i) {
    place(i);
    fill(i, random);
  }
  make_values(random);
}

runtime::OperandSizes Problem::sizes() const {
  const formats::Csr& a = matrix_->csr;
  return {a.rows, a.cols, a.nnz(), {setting_.n, setting_.m, setting_.heads}, setting_.transposed};
}

runtime::OperandShape Problem::shape(std::size_t operand) const {
  return shape_of(op().operands[operand], sizes());
}

DType Problem::type(std::size_t operand) const { return type_of(op().operands[operand], instance_->types); }

/// Decides where the elements are.
void Problem::place(std::size_t operand) {
  const OperandSpec& spec = op().operands[operand];
  const runtime::OperandShape shape = this->shape(operand);
  Image& image = images_[operand];
  image.operand = strides(spec, shape, setting_);
  image.present = !(spec.optional && setting_.bare);
  const std::int64_t heads = is_shared(spec, setting_) ? 1 : setting_.heads;
  for (std::int64_t h = 0; h < heads; ++h)
    for (std::int64_t r = 0; r < shape.rows; ++r)
      for (std::int64_t c = 0; c < shape.width; ++c)
        image.elements.push_back(h * image.operand.batch + r * image.operand.ld + c);
  const std::size_t size = size_of(type(operand));
  const std::int64_t end =
      image.elements.empty() ? 0 : *std::max_element(image.elements.begin(), image.elements.end()) + 1;
  image.begin = (spec.result ? kGuard : 0) + static_cast<std::size_t>(setting_.shift) * size;
  image.bytes.assign(image.begin + static_cast<std::size_t>(end) * size + (spec.result ? kGuard : 0),
                     spec.result ? kUntouched : kNan);
}

void Problem::fill(std::size_t operand, Random& random) {
  const OperandSpec& spec = op().operands[operand];
  Image& image = images_[operand];
  const DType dtype = type(operand);
  const bool read = !spec.result || (is_last(operand) && setting_.beta != 0);
  for (const std::int64_t at : image.elements) {
    std::byte* const to = image.bytes.data() + image.begin + static_cast<std::size_t>(at) * size_of(dtype);
    if (read && dtype == DType::i32)
      std::memcpy(to, random_ids(1, random).data(), size_of(dtype));
    else if (read)
      runtime::write_element(dtype, to, 0, uniform(random));
    else
      std::memset(to, static_cast<int>(kNan), size_of(dtype));
  }
}

void Problem::draw_again(Random& random) {
  for (std::size_t i = 0; i < images_.size(); ++i) fill(i, random);
}

void Problem::make_values(Random& random) {
  values_.present = setting_.values != RunValues::of_plan;
  if (!values_.present) return;
  const std::int64_t nnz = matrix_->csr.nnz(), heads = setting_.values == RunValues::own ? setting_.heads : 1;
  values_batch_ = setting_.values == RunValues::own ? nnz + setting_.pad : 0;
  const std::size_t size = size_of(instance_->values);
  values_.begin = static_cast<std::size_t>(setting_.shift) * size;
  const std::int64_t count = (heads - 1) * values_batch_ + nnz;
  const formats::Array numbers = random_values(count, instance_->values, random);
  values_.bytes.assign(values_.begin + static_cast<std::size_t>(count) * size, kNan);
  if (count > 0)
    std::memcpy(values_.bytes.data() + values_.begin, numbers.data(), static_cast<std::size_t>(count) * size);
}

void Problem::set(std::size_t operand, std::int64_t row, std::int64_t column, double x) {
  Image& image = images_[operand];
  runtime::write_element(type(operand), image.bytes.data() + image.begin, row * image.operand.ld + column, x);
}

void Problem::set_values(formats::Array values) {
  refreshed_ = std::make_shared<formats::Array>(std::move(values));
}

Uploaded Problem::upload(Machine& machine, const runtime::ProductPlan& plan,
                         const std::shared_ptr<std::byte>& workspace) const {
  std::vector<std::shared_ptr<std::byte>> memory;
  const auto upload = [&](const Image& image) {
    memory.push_back(machine.allocate(image.bytes.size()));
    machine.copy_in(memory.back().get(), image.bytes);
    return memory.back().get();
  };
  runtime::Operands operands{
      .alpha = setting_.alpha, .beta = setting_.beta, .scaled = setting_.scaled, .n = setting_.n};
  for (std::size_t i = 0; i < images_.size(); ++i) operands.dense[i] = images_[i].at(upload(images_[i]));
  operands.dense[alias_.first].data = operands.dense[alias_.second].data;
  if (values_.present) {
    operands.values = upload(values_) + values_.begin;
    operands.values_batch = values_batch_;
  }
  if (workspace != nullptr) {
    operands.workspace = workspace.get();
    operands.workspace_size = workspace_bytes(plan);
  }
  return {std::move(memory), operands};
}

Result<Outcome> Problem::run(Machine& machine, const runtime::ProductPlan& plan,
                             const std::shared_ptr<std::byte>& workspace) const {
  const Uploaded uploaded = upload(machine, plan, workspace);
  machine.before_run();
  if (Status s = runtime::run(plan, op(), uploaded.operands); !s) return tl::unexpected(s.error());
  return collect(machine, uploaded);
}

Result<Outcome> Problem::collect(Machine& machine, const Uploaded& uploaded) const {
  Outcome outcome;
  for (std::size_t i = 0; i < images_.size(); ++i) {
    outcome.emplace_back(images_[i].bytes.size());
    machine.copy_out(outcome.back(), uploaded.memory[i].get());
  }
  if (const std::string seen = machine.after_run(); !seen.empty()) return fail(Errc::check_failed, seen);
  if (const std::string touched = what_was_touched(outcome); !touched.empty())
    return fail(Errc::check_failed, touched);
  return outcome;
}

/// Looks at operands that are read, at guards, and between the elements of results.
std::string Problem::what_was_touched(const Outcome& outcome) const {
  for (std::size_t i = 0; i < images_.size(); ++i) {
    const Image& image = images_[i];
    const OperandSpec& spec = op().operands[i];
    std::vector<std::byte> expected = image.bytes;
    if (spec.result && image.present)
      for (const std::int64_t at : image.elements) {
        const std::size_t offset = image.begin + static_cast<std::size_t>(at) * size_of(type(i));
        std::memcpy(expected.data() + offset, outcome[i].data() + offset, size_of(type(i)));
      }
    const auto [a, b] = std::mismatch(expected.begin(), expected.end(), outcome[i].begin());
    if (a == expected.end()) continue;
    std::ostringstream text;
    text << (spec.result ? "memory that is no element of " : "") << spec.name << " was written, "
         << (a - expected.begin()) - static_cast<std::ptrdiff_t>(image.begin)
         << " bytes from its first element";
    return text.str();
  }
  return {};
}

/// With the values that the run has for the head.
formats::Csr Problem::matrix_of_head(std::int64_t head) const {
  formats::Csr a = formats::copy(matrix_->csr.view());
  if (refreshed_) {
    a.values = formats::convert_values(refreshed_->view(), instance_->values);
    return a;
  }
  if (!values_.present) return a;
  a.values = formats::convert_values(a.values.view(), instance_->values);
  const auto* const from = values_.bytes.data() + values_.begin;
  const auto packed = matrix_->packed.view().as<std::int64_t>();
  for (std::int64_t k = 0; k < a.nnz(); ++k)
    runtime::write_element(instance_->values, a.values.data(), k,
                           runtime::read_element(instance_->values, from,
                                                 head * values_batch_ + packed[static_cast<std::size_t>(k)]));
  return a;
}

double Problem::bound(const runtime::ReferenceProduct& product) const {
  if (instance_->on_cpu()) return runtime::tolerated_sum_error(op().longest_sum(product), instance_->types);
  return tolerated_error(op(), product, instance_->precision);
}

/// Whether a wrong number is one that may be wrong.
bool Problem::accepts(double expected, double computed, std::int64_t column) const {
  if (any_nonfinite_ && !std::isfinite(expected) && !std::isfinite(computed)) return true;
  return std::isnan(computed) && (nan_column_ == -1 || nan_column_ == column);
}

std::string Problem::element_name(std::size_t operand, std::int64_t at) const {
  const OperandSpec& spec = op().operands[operand];
  const Operand& o = images_[operand].operand;
  std::ostringstream text;
  text << spec.name << '[' << (is_list(spec) ? at : at / o.ld);
  if (!is_list(spec)) text << ", " << at % o.ld;
  text << ']';
  return text.str();
}

std::string Problem::first_error(const Outcome& outcome) const {
  std::string found;
  runtime::Operands all{.alpha = setting_.alpha, .beta = setting_.beta, .scaled = setting_.scaled};
  for (std::size_t i = 0; i < images_.size(); ++i)
    all.dense[i] = images_[i].at(const_cast<std::byte*>(outcome[i].data()));
  const std::size_t last = images_.size() - 1;
  for (std::int64_t head = 0; head < setting_.heads && found.empty(); ++head) {
    const formats::Csr a = matrix_of_head(head);
    const std::span<const std::int64_t> packed =
        setting_.csr_order ? std::span<const std::int64_t>() : matrix_->packed.view().as<std::int64_t>();
    const runtime::ReferenceProduct product{a.view(), setting_.n, instance_->types, variant_, packed};
    const double most = bound(product);
    const runtime::Operands one =
        operands_of_head(op(), all, head, sizes(), instance_->types, instance_->values);
    const auto* const before = images_[last].bytes.data() +
                               (static_cast<const std::byte*>(one.dense[last].data) - outcome[last].data());
    op().reference(
        product, one, before,
        [&](const void* data, DType type, std::int64_t at, const runtime::ReferenceNumber& number) {
          if (data == nullptr || !found.empty()) return;
          const double computed = runtime::read_element(type, data, at);
          const double error = runtime::number_error(type, computed, number);
          if (error <= most) return;
          std::size_t i = 0;
          while (one.dense[i].data != data) ++i;
          if (accepts(number.value, computed, at % images_[i].operand.ld)) return;
          std::ostringstream text;
          text.precision(10);
          text << element_name(i, at);
          if (setting_.heads > 1) text << " of head " << head;
          text << ": expected " << number.value << ", found " << computed << " (error " << error
               << " of its scale, at most " << most << ')';
          found = text.str();
        });
  }
  return found;
}

std::string Problem::first_difference(const Outcome& a, const Outcome& b) const {
  for (std::size_t i = 0; i < images_.size(); ++i) {
    if (!op().operands[i].result || !images_[i].present) continue;
    const DType dtype = type(i);
    for (const std::int64_t at : images_[i].elements) {
      const std::size_t offset = images_[i].begin + static_cast<std::size_t>(at) * size_of(dtype);
      if (std::memcmp(a[i].data() + offset, b[i].data() + offset, size_of(dtype)) == 0) continue;
      std::ostringstream text;
      text.precision(17);
      text << element_name(i, at) << ": first " << runtime::read_element(dtype, a[i].data() + offset, 0)
           << ", then " << runtime::read_element(dtype, b[i].data() + offset, 0);
      return text.str();
    }
  }
  return {};
}

}  // namespace sptile::test
