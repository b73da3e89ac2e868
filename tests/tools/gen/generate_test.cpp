#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "formats/layout/csr.hpp"
#include "tools/gen/generator.hpp"

using namespace sptile;
using namespace sptile::tools;

namespace {

// Reads "--rows 5 --mix 0.5" as the arguments of a kind.
Parameters parse(const gen::Generator& kind, std::string_view typed) {
  Parameters arguments;
  std::istringstream words{std::string(typed)};
  std::string option, value;
  for (const gen::ArgumentSpec& spec : kind.arguments) {
    words >> option >> value;
    REQUIRE_FALSE(words.fail());
    REQUIRE(option == "--" + std::string(spec.name));
    if (spec.integer)
      arguments.emplace_back(spec.name, std::int64_t{std::stoll(value)});
    else
      arguments.emplace_back(spec.name, std::stod(value));
  }
  return arguments;
}

const gen::Generator& find(std::string_view name) {
  for (const gen::Generator& kind : gen::generators())
    if (kind.name == name) return kind;
  FAIL("no such kind");
  return gen::generators().front();
}

formats::Csr make(std::string_view name, std::string_view typed, const gen::GenerateOptions& options = {}) {
  auto a = gen::generate(find(name), parse(find(name), typed), options);
  REQUIRE(a.has_value());
  return std::move(*a);
}

}  // namespace

TEST_CASE("every kind gives a sound matrix, the same for any number of threads") {
  for (const gen::Generator& kind : gen::generators()) {
    for (const bool shuffle : {false, true}) {
      CAPTURE(kind.name);
      const auto with_threads = [&](std::size_t threads) {
        const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
        return make(kind.name, kind.example, {.seed = 5, .shuffle = shuffle});
      };
      const formats::Csr a = with_threads(1);
      CHECK(a.nnz() > 0);
      CHECK(formats::check_csr(a.view()).has_value());
      CHECK(formats::identical(a.view(), with_threads(2).view()));
      CHECK(formats::identical(a.view(), with_threads(7).view()));
    }
  }
}

TEST_CASE("symmetric kinds equal their transpose, values too, shuffled or not") {
  for (const gen::Generator& kind : gen::generators()) {
    if (kind.shape != gen::Shape::symmetric) continue;
    for (const bool shuffle : {false, true}) {
      CAPTURE(kind.name);
      const formats::Csr a = make(kind.name, kind.example, {.seed = 5, .shuffle = shuffle});
      CHECK(formats::identical(a.view(), formats::transpose(a.view()).view()));
    }
  }
}

TEST_CASE("values lie in (-1, 1) and are never zero; a pattern has the same structure without them") {
  for (const gen::Generator& kind : gen::generators()) {
    CAPTURE(kind.name);
    const formats::Csr a = make(kind.name, kind.example);
    for (const float x : a.values.as<float>()) REQUIRE((std::abs(x) < 1 && x != 0));
    formats::CsrView structure = a.view();
    structure.values = {};
    CHECK(formats::identical(structure, make(kind.name, kind.example, {.pattern = true}).view()));
  }
}

TEST_CASE("a shuffle keeps the entries and moves them") {
  for (const gen::Generator& kind : gen::generators()) {
    CAPTURE(kind.name);
    const formats::Csr a = make(kind.name, kind.example),
                       b = make(kind.name, kind.example, {.shuffle = true});
    CHECK(a.nnz() == b.nnz());
    CHECK_FALSE(formats::identical(a.view(), b.view()));
    auto x = a.values.as<float>(), y = b.values.as<float>();
    std::vector<float> left(x.begin(), x.end()), right(y.begin(), y.end());
    std::sort(left.begin(), left.end());
    std::sort(right.begin(), right.end());
    CHECK(left == right);
  }
}

TEST_CASE("random has exactly the entries asked for, evenly over the rows") {
  for (const std::int64_t nnz : {0, 1, 7, 10, 24, 50}) {
    const formats::Csr a = make("random", "--rows 10 --cols 5 --nnz " + std::to_string(nnz));
    CAPTURE(nnz);
    CHECK(a.nnz() == nnz);
    CHECK(formats::check_csr(a.view()).has_value());
    for (std::int64_t r = 0; r < 10; ++r) CHECK(std::abs(a.view().row_nnz(r) - nnz / 10) <= 1);
  }
  const auto& kind = find("random");
  const auto refused = gen::generate(kind, parse(kind, "--rows 10 --cols 5 --nnz 51"), {});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == Errc::usage);
}

TEST_CASE("random columns are uniform") {
  const formats::Csr a = make("random", "--rows 4000 --cols 10 --nnz 12000");
  std::vector<int> counts(10, 0);
  for (const std::int32_t c : a.col_idx) ++counts[static_cast<std::size_t>(c)];
  for (const int count : counts) CHECK(std::abs(count - 1200) < 200);
}

namespace {

/// Returns the number of distinct columns of each window of 16 rows.
std::vector<std::int64_t> window_columns(const formats::Csr& a) {
  std::vector<std::int64_t> counts;
  for (std::int64_t r = 0; r < a.rows; r += 16) {
    std::vector<std::int32_t> columns(a.col_idx.data() + a.row_ptr[r], a.col_idx.data() + a.row_ptr[r + 16]);
    std::sort(columns.begin(), columns.end());
    counts.push_back(std::unique(columns.begin(), columns.end()) - columns.begin());
  }
  return counts;
}

}  // namespace

TEST_CASE("windows have whole tiles, whose numbers have the mean and the variance") {
  for (const double variance : {4.0, 100.0, 1000.0}) {  // Gamma distributions of shape 100, 4 and 0.4
    CAPTURE(variance);
    const formats::Csr a = make("windows", "--windows 4000 --cols 3000 --mean 20 --variance " +
                                               std::to_string(variance) + " --fill 0.0625");
    CHECK(a.rows == 64000);
    double sum = 0, squares = 0;
    for (const std::int64_t columns : window_columns(a)) {
      REQUIRE(columns % 8 == 0);
      const double tiles = static_cast<double>(columns) / 8;
      sum += tiles;
      squares += tiles * tiles;
    }
    const double mean = sum / 4000;
    CHECK(mean == doctest::Approx(20).epsilon(0.08));
    CHECK(squares / 4000 - mean * mean == doctest::Approx(variance).epsilon(0.15));
    CHECK(a.nnz() == static_cast<std::int64_t>(8 * sum));  // one entry in each column
  }
}

TEST_CASE("windows without variance are equal, and have the share of entries asked for") {
  const formats::Csr a = make("windows", "--windows 50 --cols 800 --mean 60 --variance 0 --fill 0.2");
  for (const std::int64_t columns : window_columns(a)) CHECK(columns == 480);
  CHECK(static_cast<double>(a.nnz()) == doctest::Approx(0.2 * 50 * 16 * 480).epsilon(0.02));
  CHECK(make("windows", "--windows 2 --cols 24 --mean 3 --variance 0 --fill 1").nnz() == 2 * 16 * 24);
  const auto& kind = find("windows");
  const auto refused =
      gen::generate(kind, parse(kind, "--windows 2 --cols 24 --mean 3.1 --variance 0 --fill 1"), {});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == Errc::usage);
}

TEST_CASE("grids and stencils have the entries that geometry gives them") {
  CHECK(make("grid2d", "--side 1").nnz() == 0);
  CHECK(make("grid2d", "--side 10").nnz() == 4 * 10 * 9);
  const formats::Csr fem = make("stencil27", "--side 4 --dof 2");
  CHECK(fem.rows == 128);
  CHECK(fem.nnz() == 10 * 10 * 10 * 4);
  CHECK(fem.view().row_nnz(2 * (1 + 4 * (1 + 4 * 1))) == 54);
  const auto& kind = find("stencil27");
  const auto refused = gen::generate(kind, parse(kind, "--side 1290 --dof 2"), {});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == Errc::unsupported);
}

TEST_CASE("molecules are blocks on the diagonal of at most 39 atoms") {
  const formats::Csr a = make("molecules", "--count 50");
  for (std::int64_t r = 0; r < a.rows; ++r)
    for (std::int64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k) REQUIRE(std::abs(a.col_idx[k] - r) < 39);
  CHECK(make("molecules", "--count 0").rows == 0);
}

TEST_CASE("planted edges stay in their communities unless mixed") {
  const auto far = [](const formats::Csr& a) {
    std::int64_t count = 0;
    for (std::int64_t r = 0; r < a.rows; ++r)
      for (std::int64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k)
        count += std::abs(a.col_idx[k] - r) >= 1000;
    return count;
  };
  CHECK(far(make("planted", "--rows 20000 --edges 50000 --mix 0")) == 0);
  CHECK(far(make("planted", "--rows 20000 --edges 50000 --mix 1")) > 70000);
}

namespace {
gen::NodeData make_nodes(std::string_view typed, const gen::GenerateOptions& options = {}) {
  auto nodes = gen::generate_nodes(find("community"), parse(find("community"), typed), options);
  REQUIRE(nodes.has_value());
  return std::move(*nodes);
}

// The share of entries that join rows with columns of the same label.
double same_label(const formats::Csr& a, const std::vector<std::int32_t>& rows,
                  const std::vector<std::int32_t>& columns) {
  std::int64_t same = 0;
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::int64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k)
      same += rows[r] == columns[static_cast<std::size_t>(a.col_idx[k])];
  return static_cast<double>(same) / static_cast<double>(a.nnz());
}

constexpr std::string_view kTyped =
    "--rows 3001 --edges 40000 --mix 0.25 --classes 4 --features 201 --noise 0.5";
}  // namespace

TEST_CASE("community: edges and features follow the classes as often as they should, shuffled or not") {
  std::vector<std::int32_t> preferred(201);  // the classes whose own features these are
  for (std::size_t f = 0; f < preferred.size(); ++f)
    preferred[f] = f < 50 ? 0 : f < 100 ? 1 : f < 150 ? 2 : 3;
  for (const bool shuffle : {false, true}) {
    CAPTURE(shuffle);
    const formats::Csr a = make("community", kTyped, {.shuffle = shuffle});
    const gen::NodeData nodes = make_nodes(kTyped, {.shuffle = shuffle});
    CHECK(formats::check_csr(nodes.features.view()).has_value());
    CHECK(nodes.features.view().is_pattern());
    // A quarter of what ignores the classes meets the same one by chance.
    CHECK(same_label(a, nodes.labels, nodes.labels) == doctest::Approx(0.75 + 0.25 / 4).epsilon(0.02));
    CHECK(same_label(nodes.features, nodes.labels, preferred) ==
          doctest::Approx(0.5 + 0.5 / 4).epsilon(0.03));
    CHECK(std::is_sorted(nodes.labels.begin(), nodes.labels.end()) == !shuffle);
  }
}

TEST_CASE(
    "community: 20 nodes of each class train, or half of a small class, and every third of the rest "
    "validates") {
  const auto count = [](const gen::NodeData& nodes, std::int32_t label, gen::Split split) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < nodes.labels.size(); ++i)
      sum += nodes.labels[i] == label && nodes.splits[i] == split;
    return sum;
  };
  const gen::NodeData large = make_nodes(kTyped, {.shuffle = true}),
                      small = make_nodes("--rows 40 --edges 9 --mix 0 --classes 4 --features 4 --noise 1");
  for (std::int32_t label = 0; label < 4; ++label) {
    CHECK(count(large, label, gen::Split::train) == 20);
    CHECK(count(large, label, gen::Split::val) == 244);
    CHECK(count(small, label, gen::Split::train) == 5);
    CHECK(count(small, label, gen::Split::val) == 2);
    CHECK(count(small, label, gen::Split::test) == 3);
  }
}

TEST_CASE("community: more classes than rows or features are refused") {
  const gen::Generator& kind = find("community");
  for (const char* typed : {"--rows 3 --edges 9 --mix 0 --classes 4 --features 9 --noise 0",
                            "--rows 9 --edges 9 --mix 0 --classes 4 --features 3 --noise 0"}) {
    const auto refused = gen::generate(kind, parse(kind, typed), {});
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == Errc::usage);
    const auto nodes = gen::generate_nodes(kind, parse(kind, typed), {});
    REQUIRE_FALSE(nodes.has_value());
    CHECK(nodes.error().code == Errc::usage);
  }
}
