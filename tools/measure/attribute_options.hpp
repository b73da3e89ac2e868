// Attributes of plans and runs on the command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/core/attributes.hpp"
#include "tools/cli/options.hpp"

namespace sptile::tools {

/// Attributes of a product, set in options and operands that are otherwise defaults.
struct ProductAttributes {
  runtime::PlanOptions plan = {};
  runtime::Operands run = {};
};

/// Returns the attributes that differ from their defaults, as "heads=8 score=cosine".
std::string attributes_text(const ProductAttributes& attributes);

/// One option per attribute: "--transposed-weights". Attributes that `run` declares itself (--precision,
/// --choose,
/// --replan) and the order of lists, which checks require packed, have none.
class AttributeOptions {
 public:
  AttributeOptions();

  /// Declares the options of plans, which write to this object.
  void declare_for_plans(Options& app) { declare(app, false); }
  /// Declares the options of runs.
  void declare_for_runs(Options& app) { declare(app, true); }

  /// Returns the attributes as given.
  [[nodiscard]] ProductAttributes given() const;

 private:
  void declare(Options& app, bool for_runs);

  struct Argument {
    const runtime::Attribute* attribute;
    bool flag;
    std::int64_t integer;
    double real;
    std::string choice;

    [[nodiscard]] double value() const;
  };
  std::vector<Argument> arguments_;
};

}  // namespace sptile::tools
