#include "tests/property/setting.hpp"

#include <algorithm>
#include <sstream>

#include "runtime/operation/operation.hpp"

namespace sptile::test {
namespace {

/// A field that is named unless it has its usual value.
struct Field {
  std::string_view name;
  double (*of)(const Setting&);
};
constexpr Field kFields[] = {
    {"planned", [](const Setting& s) { return static_cast<double>(s.planned); }},
    {"pad", [](const Setting& s) { return static_cast<double>(s.pad); }},
    {"shift", [](const Setting& s) { return static_cast<double>(s.shift); }},
    {"heads", [](const Setting& s) { return static_cast<double>(s.heads); }},
    {"beside", [](const Setting& s) { return s.interleaved ? 1.0 : 0; }},
    {"permuted", [](const Setting& s) { return s.permuted ? 1.0 : 0; }},
    {"bare", [](const Setting& s) { return s.bare ? 1.0 : 0; }},
    {"scaled", [](const Setting& s) { return s.scaled ? 1.0 : 0; }},
    {"csr_order", [](const Setting& s) { return s.csr_order ? 1.0 : 0; }},
    {"alpha", [](const Setting& s) { return s.alpha; }},
    {"beta", [](const Setting& s) { return s.beta; }},
    {"values", [](const Setting& s) { return static_cast<double>(s.values); }},
    {"activation", [](const Setting& s) { return static_cast<double>(s.activation); }},
    {"score", [](const Setting& s) { return static_cast<double>(s.score); }},
    {"transposed", [](const Setting& s) { return s.transposed ? 1.0 : 0; }},
    {"parameter", [](const Setting& s) { return static_cast<double>(s.parameter); }},
    {"device", [](const Setting& s) { return static_cast<double>(s.device); }},
};

bool has_m(const runtime::Operation& op) {
  return std::any_of(op.operands.begin(), op.operands.end(),
                     [](const runtime::OperandSpec& o) { return o.width == runtime::Width::m; });
}

}  // namespace

std::string describe(const Setting& setting, const runtime::Operation& op) {
  std::ostringstream text;
  text << setting.shape << " n=" << setting.n;
  if (has_m(op)) text << " m=" << setting.m;
  const Setting usual;
  for (const Field& field : kFields)
    if (field.of(setting) != field.of(usual)) text << ' ' << field.name << '=' << field.of(setting);
  if (!setting.note.empty()) text << ' ' << setting.note;
  return text.str();
}

}  // namespace sptile::test
