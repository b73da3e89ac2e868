#include "runtime/core/attributes.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "formats/core/nearest_name.hpp"

namespace sptile::runtime {
namespace {

using Kind = Attribute::Kind;

constexpr double kMaxColumns = 0x1p31, kMaxHeads = 65535;  // the y extent of a CUDA grid
constexpr double kMaxBudget = 86400;                       // a day, in seconds
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
constexpr bool kIsOptional = false;
template <class T>
constexpr bool kIsOptional<std::optional<T>> = true;

/// Accesses a member of a member: Path are pointers to members. Numbers of optional enumerations start at 1.
template <class Owner, auto... Path>
constexpr AttributeAccess<Owner> member = {
    [](const Owner& owner) {
      const auto& value = (owner.*....*Path);
      if constexpr (kIsOptional<std::decay_t<decltype(value)>>)
        return value ? 1.0 + static_cast<double>(*value) : 0.0;
      else
        return static_cast<double>(value);
    },
    [](Owner& owner, double number) {
      auto& value = (owner.*....*Path);
      using T = std::decay_t<decltype(value)>;
      if constexpr (!kIsOptional<T>)
        value = static_cast<T>(number);
      else if (number == 0)
        value.reset();
      else
        value = static_cast<typename T::value_type>(static_cast<int>(number) - 1);
    }};

template <auto Member>
constexpr auto variant = member<PlanOptions, &PlanOptions::variant, Member>;

constexpr std::string_view kPrecisions[] = {"default", "fp32", "tf32", "fp16", "bf16", "fp64"};
constexpr std::string_view kNonFiniteNames[] = {"fast", "strict"};
constexpr std::string_view kOrderNames[] = {"packed", "csr"};
constexpr std::string_view kSelectionNames[] = {"predicted", "measured"};

constexpr std::string_view kAttentions = "attention attention_gradient attention_gradient_t";
constexpr std::string_view kSloped =
    "attention attention_gradient attention_gradient_t gatv2 gatv2_gradient gatv2_gradient_t "
    "gatv2_edges gatv2_edges_gradient gatv2_edges_gradient_t gatv2_edges_weights";

constexpr Attribute kAttributes[] = {
    {.name = "m",
     .summary = "Columns of the second dense operand; 0: n",
     .operations = "attention attention_gradient attention_gradient_t edge_attention edge_attention_gradient "
                   "spmm_update update_gradient layer_gradient gatv2_edges gatv2_edges_gradient "
                   "gatv2_edges_gradient_t gatv2_edges_weights",
     .kind = Kind::integer,
     .max = kMaxColumns,
     .in_plan_key = true,
     .plan = variant<&Variant::m>},
    {.name = "heads",
     .summary = "Number of heads, each with separate operands",
     .kind = Kind::integer,
     .min = 1,
     .max = kMaxHeads,
     .in_plan_key = true,
     .plan = variant<&Variant::heads>},
    {.name = "activation",
     .summary = "Function applied to each result",
     .operations = "spmm_update update_gradient",
     .kind = Kind::choice,
     .choices = kActivationNames,
     .in_plan_key = true,
     .plan = variant<&Variant::activation>},
    {.name = "score",
     .summary = "Attention score of a row of X and a row of Y",
     .operations = kAttentions,
     .kind = Kind::choice,
     .choices = kScoreNames,
     .in_plan_key = true,
     .plan = variant<&Variant::score>},
    {.name = "transposed_weights",
     .summary = "Weights W are stored as m x n instead of n x m",
     .operations = "spmm_update",
     .in_plan_key = true,
     .plan = variant<&Variant::transposed_weights>},
    {.name = "precision",
     .summary = "Minimum precision of products of f32 operands",
     .kind = Kind::choice,
     .choices = kPrecisions,
     .plan = member<PlanOptions, &PlanOptions::precision>},
    {.name = "nonfinite",
     .summary = "Effect of NaN and infinity in dense operands on CUDA devices",
     .kind = Kind::choice,
     .choices = kNonFiniteNames,
     .plan = member<PlanOptions, &PlanOptions::nonfinite>},
    {.name = "order",
     .summary = "Order of results with one value per nonzero",
     .operations = "sddmm",
     .kind = Kind::choice,
     .choices = kOrderNames,
     .plan = member<PlanOptions, &PlanOptions::order>},
    {.name = "choice",
     .summary = "Selection among formats and kernels: by the cost model, or by timing the candidates",
     .kind = Kind::choice,
     .choices = kSelectionNames,
     .plan = member<PlanOptions, &PlanOptions::choice>},
    {.name = "budget",
     .summary = "Seconds for timing candidates, in the order of their predictions; one is always timed",
     .kind = Kind::real,
     .max = kMaxBudget,
     .plan = member<PlanOptions, &PlanOptions::budget>},
    {.name = "replan",
     .summary = "Ignore plans stored in the bundle, and choices measured before",
     .plan = {[](const PlanOptions& options) { return options.stored ? 0.0 : 1.0; },
              [](PlanOptions& options, double value) { options.stored = value == 0; }}},
    {.name = "scaled",
     .summary = "Multiply results by the values of the nonzeros",
     .operations = "sddmm",
     .run = member<Operands, &Operands::scaled>},
    {.name = "slope",
     .summary = "Negative slope of leaky ReLU in the additive and GATv2 scores",
     .operations = kSloped,
     .kind = Kind::real,
     .min = -kInfinity,
     .max = kInfinity,
     .run = member<Operands, &Operands::slope>},
};
static_assert(std::size(kPrecisions) == std::size(kPrecisionNames) + 1);
static_assert(std::size(kAttributes) <= 64);  // number of bits in set_attribute

std::string number_text(double value) {
  if (value == std::floor(value) && std::abs(value) <= 0x1p53)
    return std::to_string(static_cast<std::int64_t>(value));
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

std::string range_text(const Attribute& attribute) {
  switch (attribute.kind) {
    case Kind::flag:
      return "0 or 1";
    case Kind::integer:
      return number_text(attribute.min) + " to " + number_text(attribute.max);
    case Kind::real:
      return "a number";
    case Kind::choice:
      break;
  }
  std::string text;
  const std::size_t count = attribute.choices.size();
  for (std::size_t i = 0; i < count; ++i)
    text += (i == 0          ? ""
             : i + 1 < count ? ", "
                             : " or ") +
            std::to_string(i) + " (" + std::string(attribute.choices[i]) + ")";
  return text;
}

bool is_valid(const Attribute& attribute, double value) {
  const double last = static_cast<double>(attribute.choices.size()) - 1;
  switch (attribute.kind) {
    case Kind::flag:
      return value == 0 || value == 1;
    case Kind::integer:
      return value >= attribute.min && value <= attribute.max && value == std::floor(value);
    case Kind::real:
      return value >= attribute.min && value <= attribute.max;
    case Kind::choice:
      return value >= 0 && value <= last && value == std::floor(value);
  }
  __builtin_unreachable();
}

template <class Owner>
const AttributeAccess<Owner>& access_of(const Attribute& attribute) {
  if constexpr (std::is_same_v<Owner, PlanOptions>)
    return attribute.plan;
  else
    return attribute.run;
}

template <class Owner>
Status refuse_name(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Attribute& attribute : attributes())
    if (access_of<Owner>(attribute).get != nullptr)
      known.push_back(attribute.name);
    else if (attribute.name == name)
      return fail(Errc::usage,
                  std::string(name) + " is an attribute of " +
                      (attribute.run.get != nullptr ? "runs, not of plans" : "plans, not of runs"));
  const std::string_view nearest = formats::nearest_name(name, known);
  std::string text = "unknown attribute " + std::string(name);
  if (!nearest.empty()) text += "; did you mean " + std::string(nearest) + "?";
  text += " Known:";
  for (const std::string_view other : known)
    text += (other == known.front() ? " " : ", ") + std::string(other);
  return fail(Errc::usage, text);
}

}  // namespace

std::span<const Attribute> attributes() { return kAttributes; }

double initial_value(const Attribute& attribute) {
  return attribute.plan.get != nullptr ? attribute.plan.get(PlanOptions{}) : attribute.run.get(Operands{});
}

std::string value_text(const Attribute& attribute, double value) {
  if (attribute.kind != Kind::choice) return number_text(value);
  return std::string(attribute.choices[static_cast<std::size_t>(value)]);
}

Status check_value(const Attribute& attribute, double value) {
  if (is_valid(attribute, value)) return {};
  return fail(Errc::usage,
              std::string(attribute.name) + " = " + number_text(value) + "; use " + range_text(attribute));
}

Status check_attributes(const PlanOptions& options) {
  for (const Attribute& attribute : attributes())
    if (attribute.plan.get != nullptr)
      if (Status s = check_value(attribute, attribute.plan.get(options)); !s) return s;
  return {};
}

template <class Owner>
Status set_attribute(Owner& owner, std::string_view name, double value, std::uint64_t& given) {
  std::uint64_t bit = 1;
  for (const Attribute& attribute : attributes()) {
    const AttributeAccess<Owner>& access = access_of<Owner>(attribute);
    if (attribute.name == name && access.set != nullptr) {
      if ((given & bit) != 0) return fail(Errc::usage, std::string(name) + " is given twice");
      if (Status s = check_value(attribute, value); !s) return s;
      given |= bit;
      access.set(owner, value);
      return {};
    }
    bit <<= 1;
  }
  return refuse_name<Owner>(name);
}

template Status set_attribute(PlanOptions&, std::string_view, double, std::uint64_t&);
template Status set_attribute(Operands&, std::string_view, double, std::uint64_t&);

}  // namespace sptile::runtime
