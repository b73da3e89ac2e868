// The operands of one case: their bytes before a run, what a run left, and whether that is right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "formats/core/error.hpp"
#include "runtime/operation/operation.hpp"
#include "runtime/plan/plan.hpp"
#include "tests/property/instance.hpp"
#include "tests/property/machine.hpp"
#include "tests/property/setting.hpp"
#include "tests/property/shapes.hpp"

namespace sptile::test {

/// Of the plan of a case.
runtime::PlanOptions options_of(const Instance& instance, const Setting& setting);

/// The memory of one operand. Results are between guards, what is read ends with its last element.
struct Image {
  std::vector<std::byte> bytes;
  std::size_t begin = 0;  ///< of the first element
  bool present = true;
  runtime::Operand operand;            ///< without address
  std::vector<std::int64_t> elements;  ///< offsets of what belongs to the operand, from `begin` on

  [[nodiscard]] runtime::Operand at(std::byte* memory) const;
};

/// The bytes of all operands after a run.
using Outcome = std::vector<std::vector<std::byte>>;

class Problem {
 public:
  Problem(const Instance& instance, const Setting& setting, const Matrix& matrix, Random& random);

  [[nodiscard]] const Instance& instance() const { return *instance_; }
  [[nodiscard]] const Setting& setting() const { return setting_; }
  [[nodiscard]] const runtime::Operation& op() const { return instance_->op(); }
  [[nodiscard]] const Matrix& matrix() const { return *matrix_; }
  /// Sizes of an operand.
  [[nodiscard]] runtime::OperandShape shape(std::size_t operand) const;
  [[nodiscard]] runtime::OperandSizes sizes() const;

  /// Changes an element of an operand before a run.
  void set(std::size_t operand, std::int64_t row, std::int64_t column, double x);
  /// Other numbers in all operands that are read, of the same sizes.
  void draw_again(Random& random);
  /// Copies the elements of an operand to another of the same shape.
  void copy(std::size_t from, std::size_t to) { images_[to].bytes = images_[from].bytes; }
  /// Lets a run read an operand at the address of another.
  void alias(std::size_t operand, std::size_t other) { alias_ = {operand, other}; }
  /// Gives the matrix these values, one per entry in CSR order, as a refreshed plan has them.
  void set_values(formats::Array values);
  /// Of numbers that are not finite any will do where the reference has one.
  void accept_any_nonfinite() { any_nonfinite_ = true; }
  /// A column of results may have NaN where the reference has none; -1: all columns.
  void accept_nan_in(std::int64_t column) { nan_column_ = column; }

  /// Runs the plan on copies of the operands. An error for a run that was refused, or that wrote where it may
  /// not.
  Result<Outcome> run(Machine& machine, const runtime::ProductPlan& plan,
                      const std::shared_ptr<std::byte>& workspace = nullptr) const;
  /// The first element that is wrong; empty when all are right.
  [[nodiscard]] std::string first_error(const Outcome& outcome) const;
  /// Empty, or the first result that differs.
  [[nodiscard]] std::string first_difference(const Outcome& a, const Outcome& b) const;

 private:
  [[nodiscard]] DType type(std::size_t operand) const;
  [[nodiscard]] bool is_last(std::size_t operand) const { return operand + 1 == op().operands.size(); }
  void place(std::size_t operand);
  void fill(std::size_t operand, Random& random);
  void make_values(Random& random);
  [[nodiscard]] formats::Csr matrix_of_head(std::int64_t head) const;
  [[nodiscard]] std::string what_was_touched(const Outcome& outcome) const;
  [[nodiscard]] double bound(const runtime::ReferenceProduct& product) const;
  [[nodiscard]] bool accepts(double expected, double computed, std::int64_t column) const;
  [[nodiscard]] std::string element_name(std::size_t operand, std::int64_t at) const;

  const Instance* instance_;
  Setting setting_;
  const Matrix* matrix_;
  runtime::Variant variant_;
  std::vector<Image> images_;
  Image values_;  ///< of the run
  std::int64_t values_batch_ = 0;
  std::shared_ptr<const formats::Array> refreshed_;
  std::pair<std::size_t, std::size_t> alias_ = {0, 0};
  static constexpr std::int64_t kNowhere = -2;
  bool any_nonfinite_ = false;
  std::int64_t nan_column_ = kNowhere;
};

}  // namespace sptile::test
