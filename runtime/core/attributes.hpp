// Attributes of plans and runs as data: the C interface, checks, keys of stored plans, the command line and
// the Python package iterate over one table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "formats/core/error.hpp"
#include "runtime/core/operands.hpp"
#include "runtime/core/options.hpp"

namespace sptile::runtime {

/// Reads and writes one attribute as a number. Null for attributes that `Owner` does not have.
template <class Owner>
struct AttributeAccess {
  double (*get)(const Owner&) = nullptr;
  void (*set)(Owner&, double) = nullptr;
};

/// A row of the table. Numbers are exact in double; a flag is 0 or 1, a choice the position of its name.
struct Attribute {
  enum class Kind : std::uint8_t { flag, integer, real, choice };

  std::string_view name;             ///< "heads"; the command line writes "-" for "_"
  std::string_view summary;          ///< noun phrase for help texts
  std::string_view operations = {};  ///< operations that read it, separated by spaces; empty: all
  Kind kind = Kind::flag;
  double min = 0, max = 1;  ///< range of integers and reals
  std::span<const std::string_view> choices = {};
  bool in_plan_key = false;                ///< identifies stored plans; kernels read it when they schedule
  int since = 3;                           ///< version of the C interface that added it
  AttributeAccess<PlanOptions> plan = {};  ///< given when planning
  AttributeAccess<Operands> run = {};      ///< given per run
};

inline constexpr std::string_view kAttributeKinds[] = {"flag", "integer", "real", "choice"};  ///< by Kind

/// Returns all attributes, in the order of keys of stored plans.
std::span<const Attribute> attributes();

/// Returns the default: the value in a default-constructed PlanOptions or Operands.
double initial_value(const Attribute& attribute);

/// Returns a value as text: the name of a choice, or a number.
std::string value_text(const Attribute& attribute, double value);

/// Errc::usage if a value is out of range, stating the range: "heads = 0; use 1 to 65535".
Status check_value(const Attribute& attribute, double value);

/// Checks all attributes of a plan.
Status check_attributes(const PlanOptions& options);

/// Sets an attribute of PlanOptions or Operands. `given` has one bit per attribute that was set before.
/// Errc::usage for an unknown name (with the nearest one), an attribute that is given at another time or
/// twice, or is out of range.
template <class Owner>
Status set_attribute(Owner& owner, std::string_view name, double value, std::uint64_t& given);

}  // namespace sptile::runtime
