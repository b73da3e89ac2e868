// Attributes of plans and runs in the C interface, and the description of the library.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "tests/runtime/capi/small_matrix.hpp"

using namespace sptile::test;
using Json = nlohmann::json;

namespace {

Json described() {
  const char* json = nullptr;
  REQUIRE(sptile_describe(&json) == SPTILE_STATUS_OK);
  return Json::parse(json);
}

/// Plans an operation with attributes and runs it with others. Returns the first failure.
struct Attributed {
  Small small;
  sptile_matrix* matrix = small.matrix();
  sptile_plan* plan = nullptr;
  std::vector<float> memory = std::vector<float>(256, 1.0F);

  Attributed() = default;
  Attributed(const Attributed&) = delete;
  Attributed& operator=(const Attributed&) = delete;
  ~Attributed() {
    sptile_plan_destroy(plan);
    sptile_matrix_destroy(matrix);
  }

  sptile_status create(const char* operation, std::span<const sptile_attribute> attributes) {
    sptile_plan_destroy(plan);
    sptile_plan_options options = options_for(1);
    options.attributes = attributes.data();
    options.attribute_count = static_cast<std::int32_t>(attributes.size());
    return sptile_plan_create(matrix, operation, &options, &plan);
  }

  sptile_status run(std::span<const sptile_attribute> attributes) {
    sptile_operands operands = SPTILE_OPERANDS_INIT;
    for (sptile_operand& operand : operands.dense)
      operand.data = memory.data() + 16 * (&operand - operands.dense);
    operands.attributes = attributes.data();
    operands.attribute_count = static_cast<std::int32_t>(attributes.size());
    return sptile_run(plan, &operands, nullptr, nullptr);
  }
};

sptile_status create(const char* operation, const std::vector<sptile_attribute>& attributes) {
  Attributed one;
  return one.create(operation, attributes);
}

sptile_status run(const std::vector<sptile_attribute>& attributes) {
  Attributed one;
  REQUIRE(one.create("sddmm", {}) == SPTILE_STATUS_OK);
  return one.run(attributes);
}

}  // namespace

TEST_CASE("C interface: an unknown attribute is refused with the nearest name") {
  CHECK(create("spmm", {{"heads", 1}, {"head", 2}}) == SPTILE_STATUS_USAGE);
  CHECK(says("options.attributes[1]: unknown attribute head; did you mean heads?"));
  CHECK(create("spmm", {{"abacus", 2}}) == SPTILE_STATUS_USAGE);
  CHECK(says("unknown attribute abacus Known: m, heads,"));
  CHECK(run({{"slop", 2}}) == SPTILE_STATUS_USAGE);
  CHECK(says("operands.attributes[0]: unknown attribute slop; did you mean slope?"));
  CHECK(create("spmm", {{nullptr, 2}}) == SPTILE_STATUS_USAGE);
  CHECK(says("options.attributes[0]: name is NULL"));
}

TEST_CASE("C interface: values of attributes are in range") {
  CHECK(create("spmm", {{"heads", 65536}}) == SPTILE_STATUS_USAGE);
  CHECK(says("heads = 65536; use 1 to 65535"));
  for (const double heads : {0.0, -1.0, 1.5})
    CHECK(create("spmm", {{"heads", heads}}) == SPTILE_STATUS_USAGE);
  CHECK(says("heads = 1.5"));
  for (const double score : {-1.0, 3.0, 0.5, static_cast<double>(NAN)})
    CHECK(create("attention", {{"score", score}}) == SPTILE_STATUS_USAGE);
  CHECK(says("use 0 (dot), 1 (cosine) or 2 (additive)"));
  CHECK(create("spmm", {{"replan", 2}}) == SPTILE_STATUS_USAGE);
  CHECK(says("replan = 2; use 0 or 1"));
  CHECK(run({{"slope", static_cast<double>(NAN)}}) == SPTILE_STATUS_USAGE);
  CHECK(says("use a number"));
}

TEST_CASE("C interface: an attribute is given once, and at its time") {
  CHECK(create("spmm", {{"heads", 2}, {"heads", 2}}) == SPTILE_STATUS_USAGE);
  CHECK(says("options.attributes[1]: heads is given twice"));
  CHECK(create("spmm", {{"slope", 0.5}}) == SPTILE_STATUS_USAGE);
  CHECK(says("slope is an attribute of runs, not of plans"));
  CHECK(run({{"heads", 2}}) == SPTILE_STATUS_USAGE);
  CHECK(says("heads is an attribute of plans, not of runs"));
  CHECK(run({{"scaled", 1}, {"scaled", 0}}) == SPTILE_STATUS_USAGE);
  CHECK(says("scaled is given twice"));
}

TEST_CASE("C interface: the number of attributes fits the array") {
  const Small small;
  sptile_matrix* const matrix = small.matrix();
  sptile_plan* plan = nullptr;
  sptile_plan_options options = options_for(1);
  for (const std::int32_t count : {1, -1}) {
    options.attribute_count = count;
    CHECK(sptile_plan_create(matrix, "spmm", &options, &plan) == SPTILE_STATUS_USAGE);
    CHECK(says("options.attribute_count"));
  }
  sptile_matrix_destroy(matrix);
}

TEST_CASE("C interface: attributes reach the kernel") {
  Attributed relu;
  REQUIRE(relu.create("spmm_update",
                      std::vector<sptile_attribute>{{"m", 2}, {"activation", SPTILE_ACTIVATION_RELU}}) ==
          SPTILE_STATUS_OK);
  std::fill_n(relu.memory.begin() + 16, 2, -1.0F);  // W
  std::fill_n(relu.memory.begin() + 32, 2, 0.0F);   // bias
  REQUIRE(relu.run({}) == SPTILE_STATUS_OK);
  const auto c = relu.memory.begin() + 64;
  CHECK(std::all_of(c, c + 6, [](float x) { return x == 0; }));

  Attributed sampled;
  REQUIRE(sampled.create("sddmm", {}) == SPTILE_STATUS_OK);
  REQUIRE(sampled.run(std::vector<sptile_attribute>{{"scaled", 1}}) == SPTILE_STATUS_OK);
  const auto out = sampled.memory.begin() + 32;
  CHECK(std::vector<float>(out, out + 3) == sampled.small.values);
}

TEST_CASE("C interface: the description lists everything that can be planned") {
  const Json json = described();
  CHECK(json["abi_version"] == sptile_abi_version());
  CHECK(json["version"] == sptile_version());
  const Small small;
  sptile_matrix* const matrix = small.matrix();
  for (const Json& operation : json["operations"]) {
    const auto name = operation["name"].get<std::string>();
    CAPTURE(name);
    CHECK(operation["operands"].back()["result"] == true);
    sptile_plan* plan = nullptr;
    const sptile_plan_options options = options_for(1, "csr");
    CHECK(sptile_plan_create(matrix, name.c_str(), &options, &plan) == SPTILE_STATUS_OK);
    sptile_plan_destroy(plan);
  }
  CHECK(sptile_plan_create(matrix, "abacus", nullptr, nullptr) == SPTILE_STATUS_USAGE);
  sptile_matrix_destroy(matrix);
  const auto formats = json["formats"].get<std::vector<std::string>>();
  CHECK(formats.front() == "csr");
  for (const Json& kernel : json["kernels"]) {
    CHECK(std::ranges::count(formats, kernel["format"].get<std::string>()) == 1);
    CHECK(std::ranges::any_of(json["operations"],
                              [&](const Json& op) { return op["name"] == kernel["operation"]; }));
  }
  CHECK(sptile_describe(nullptr) == SPTILE_STATUS_USAGE);
}

TEST_CASE("C interface: each attribute accepts its default, and refuses values beyond its range") {
  const Json json = described();
  for (const Json& attribute : json["attributes"]) {
    const auto name = attribute["name"].get<std::string>(), kind = attribute["kind"].get<std::string>();
    CAPTURE(name);
    const bool per_run = attribute["given"] == "run";
    const auto status = [&](double value) {
      return per_run ? run({{name.c_str(), value}}) : create("sddmm", {{name.c_str(), value}});
    };
    if (kind == "flag") {
      CHECK(status(attribute["default"].get<bool>() ? 1 : 0) == SPTILE_STATUS_OK);
      CHECK(status(2) == SPTILE_STATUS_USAGE);
    } else if (kind == "choice") {
      const auto choices = attribute["choices"].get<std::vector<std::string>>();
      const auto at = std::ranges::find(choices, attribute["default"].get<std::string>());
      CHECK(status(static_cast<double>(at - choices.begin())) == SPTILE_STATUS_OK);
      CHECK(status(static_cast<double>(choices.size())) == SPTILE_STATUS_USAGE);
    } else if (kind == "integer") {
      CHECK(status(attribute["default"].get<double>()) == SPTILE_STATUS_OK);
      CHECK(status(attribute["min"].get<double>() - 1) == SPTILE_STATUS_USAGE);
      CHECK(status(attribute["max"].get<double>() + 1) == SPTILE_STATUS_USAGE);
    } else {
      CHECK(kind == "real");
      CHECK(status(attribute["default"].get<double>()) == SPTILE_STATUS_OK);
    }
    CHECK_FALSE(attribute["summary"].get<std::string>().empty());
    CHECK(attribute["since"].get<int>() <= sptile_abi_version());
  }
}
