// Which candidates there are, which one is chosen, and where the constants come from.
#include "runtime/plan/choice.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/choice/profiles.hpp"
#include "runtime/cuda/backend.hpp"
#include "runtime/operation/sddmm.hpp"
#include "tests/runtime/choice/three_formats.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Candidate;
using runtime::PlanOptions;

namespace {

/// The two places where profiles are looked for, empty at first.
class ProfilePlaces {
 public:
  ProfilePlaces() {
    ::unsetenv("SPTILE_PROFILE");
    ::setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1);
    std::filesystem::create_directories(runtime::profile_folder());
  }
  /// Names a file with these lines in SPTILE_PROFILE.
  void name(const std::string& lines) const {
    std::ofstream(folder_ / "named.tsv") << "sptile-profile 1\n" << lines;
    ::setenv("SPTILE_PROFILE", (folder_ / "named.tsv").c_str(), 1);
  }
  /// Puts a file into the user's folder.
  static void keep(const std::string& file, const std::string& lines) {
    std::ofstream(runtime::profile_folder() + "/" + file) << "sptile-profile 1\n" << lines;
  }

 private:
  TemporaryFolder folder_;
};

std::string chosen_format(const Result<std::vector<Candidate>>& list) {
  REQUIRE_MESSAGE(list.has_value(), list.error().text());
  const Candidate* const best = runtime::chosen_of(*list);
  return best == nullptr ? "none" : std::string(best->format);
}

std::string kernel_of(std::string_view format) {
  return std::string(runtime::find_kernel(runtime::kSpmm, format, runtime::Device::cpu)->name);
}

std::string costs(std::string_view format, double launch) {
  return "number " + kernel_of(format) + " fp32 launch " + std::to_string(launch) + "\n";
}

}  // namespace

TEST_CASE("choice: csr without a model, the fastest predicted with one") {
  const ProfilePlaces places;
  const ThreeFormats p;
  const PlanOptions options{.n = 32};
  places.name("device cpu 0 x\n");
  CHECK(chosen_format(runtime::predict_product(runtime::kSpmm, p.matrices, options)) == "csr");
  places.name("device cpu 0 x\n" + costs("csr", 3) + costs("bittcf", 2) + costs("bmat", 4));
  const auto list = runtime::predict_product(runtime::kSpmm, p.matrices, options);
  CHECK(chosen_format(list) == "bittcf");
  REQUIRE(list->size() == 3);
  CHECK((*list)[0].predicted_us == 3.0);
  CHECK((*list)[1].predicted_us == 2.0);
  CHECK((*list)[2].kernel->name == kernel_of("bmat"));
  const auto plan = runtime::plan_product(runtime::kSpmm, p.matrices, options);
  REQUIRE(plan.has_value());
  CHECK(runtime::kernel_name(**plan) == kernel_of("bittcf"));
  CHECK(*runtime::predict_plan(**plan, p.matrices[1], options) == 2.0);
}

TEST_CASE("choice: candidates without a model come last") {
  const ProfilePlaces places;
  const ThreeFormats p;
  places.name("device cpu 0 x\n" + costs("bmat", 1e6));
  CHECK(chosen_format(runtime::predict_product(runtime::kSpmm, p.matrices, {.n = 32})) == "bmat");
}

TEST_CASE("choice: a kernel by name may be chosen if the profile has its times and its plans are stored") {
  using runtime::Precision, runtime::cuda::DeviceKernel;
  const auto parsed = runtime::parse_profile(
      "sptile-profile 1\ndevice cuda 90 x\n"
      "number k.some tf32 launch 1\nnumber k.any any gather_mb 1\nnumber k.divided tf32 window_cost 1\n",
      "here");
  REQUIRE(parsed.has_value());
  constexpr runtime::cuda::ScheduleStore kStore{};
  const auto may = [&](std::string_view name, Precision precision,
                       const std::optional<runtime::DeviceProfile>& profile, bool stored = true,
                       bool by_name = true) {
    DeviceKernel row{};
    row.precision = precision;
    if (stored) row.store = &kStore;
    runtime::Kernel kernel;
    kernel.name = name;
    kernel.by_name = by_name;
    return runtime::may_be_chosen(kernel, row, profile);
  };
  CHECK(may("k.some", Precision::tf32, *parsed));
  CHECK_FALSE(may("k.some", Precision::fp32, *parsed));
  CHECK_FALSE(may("k.some", Precision::tf32, {}));
  CHECK_FALSE(may("k.some", Precision::tf32, *parsed, false));
  CHECK(may("k.any", Precision::fp32, *parsed));
  CHECK_FALSE(may("k.divided", Precision::tf32, *parsed));  // its constants are not times
  CHECK(may("k.some", Precision::fp32, {}, false, false));
}

TEST_CASE("choice: kernels with undefined results are refused unless the options accept them") {
  runtime::Kernel kernel;
  kernel.name = "cuda.some.unordered";
  CHECK(runtime::check_defined(kernel, {}));
  kernel.undefined_result = true;
  CHECK(runtime::check_defined(kernel, {.undefined_result = true}));
  const Status refused = runtime::check_defined(kernel, {});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == Errc::usage);
  CHECK(refused.error().message ==
        "plan: the results of cuda.some.unordered are undefined, only its time is of use; run it by sptile "
        "bench --no-check");
}

TEST_CASE("choice: a forced kernel, types without a kernel, bad questions") {
  const ProfilePlaces places;
  const ThreeFormats p;
  const std::string bmat = kernel_of("bmat");
  const auto forced = runtime::predict_product(runtime::kSpmm, p.matrices, {.n = 8, .kernel = bmat});
  CHECK(chosen_format(forced) == "bmat");
  CHECK((*forced)[0].kernel == nullptr);
  CHECK_FALSE((*forced)[0].refused.empty());
  const auto none = runtime::predict_product(runtime::kSpmm, p.matrices, {.n = 8, .dense = DType::f16});
  CHECK(chosen_format(none) == "none");
  CHECK(runtime::plan_product(runtime::kSpmm, p.matrices, {.n = 8, .dense = DType::f16}).error().code ==
        Errc::unsupported);
  CHECK(runtime::predict_product(runtime::kSpmm, p.matrices, {.n = 0}).error().code == Errc::usage);
  CHECK(runtime::predict_product(runtime::kSpmm, {}, {.n = 1}).error().code == Errc::usage);
  if (runtime::cuda::device_count() == 0)
    CHECK_FALSE(
        runtime::predict_product(runtime::kSpmm, p.matrices, {.n = 1, .device = runtime::Device::cuda})
            .has_value());
}

TEST_CASE("choice: a choice without the other predictions is the same choice") {
  using runtime::Detail;
  const ProfilePlaces places;
  const ThreeFormats p;
  const auto chosen = [&](const std::string& lines, Detail detail) {
    places.name("device cpu 0 x\n" + lines);
    auto list = runtime::predict_product(runtime::kSpmm, p.matrices, {.n = 32}, detail);
    REQUIRE(list.has_value());
    return *list;
  };
  const auto far = [&](std::string_view format, double cost) {
    return "number " + kernel_of(format) + " fp32 far_mb " + std::to_string(cost) + "\n";
  };
  // Cheap with and without misses; cheap without misses alone; a draw that misses decide; no model.
  for (const std::string& lines :
       {costs("csr", 1) + costs("bittcf", 2) + costs("bmat", 3),
        costs("csr", 2) + costs("bittcf", 1) + far("bittcf", 1e6) + costs("bmat", 9),
        costs("csr", 1) + far("csr", 10) + costs("bittcf", 1) + far("bittcf", 11) + costs("bmat", 1),
        costs("bmat", 5), std::string()}) {
    CAPTURE(lines);
    const auto all = chosen(lines, Detail::predictions), fewer = chosen(lines, Detail::choice);
    REQUIRE(all.size() == fewer.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      CAPTURE(i);
      CHECK(all[i].chosen == fewer[i].chosen);
      if (fewer[i].predicted_us) CHECK(fewer[i].predicted_us == all[i].predicted_us);
    }
  }
  const auto known = chosen(costs("csr", 1) + costs("bittcf", 2), Detail::choice);
  CHECK_FALSE(known[0].predicted_us);  // bounds were enough
}

TEST_CASE("choice: features are counted on demand") {
  using runtime::Detail;
  const ProfilePlaces places;
  const ThreeFormats p;
  places.name("device cpu 0 x\n");
  const auto fetched = [&](Detail detail) {
    return (*runtime::predict_product(runtime::kSpmm, p.matrices, {.n = 8}, detail))[0].features[1];
  };
  CHECK(fetched(Detail::choice) == 0);
  CHECK(fetched(Detail::features) > 0);
}

TEST_CASE("profiles: a broken one says where") {
  const ProfilePlaces places;
  const ThreeFormats p;
  places.name("device cpu 0 x\nnumber what\n");
  const auto list = runtime::predict_product(runtime::kSpmm, p.matrices, {.n = 8});
  REQUIRE_FALSE(list.has_value());
  CHECK(list.error().text().find("named.tsv:3: ") != std::string::npos);
}

TEST_CASE("profiles: the named file, the same name, the nearest capability") {
  const ProfilePlaces places;
  const auto source = [](int capability, const std::string& name) {
    const auto found = runtime::find_profile({runtime::Device::cuda, capability, name});
    REQUIRE_MESSAGE(found.has_value(), found.error().text());
    return *found ? (*found)->source.substr((*found)->source.rfind('/') + 1) : "none";
  };
  CHECK(source(90, "NVIDIA H100 80GB HBM3") == "built in");
  CHECK(source(120, "another") == "built in");  // better than nothing
  ProfilePlaces::keep("a.tsv", "device cuda 80 A100\n");
  ProfilePlaces::keep("h.tsv", "device cuda 90 H\n");
  ProfilePlaces::keep("not-a-profile.txt", "");
  CHECK(source(80, "A100") == "a.tsv");
  CHECK(source(86, "A40") == "h.tsv");  // as near as the built-in one
  CHECK(source(81, "?") == "a.tsv");
  CHECK(source(90, "NVIDIA H100 80GB HBM3") == "built in");
  places.name("device cuda 70 V100\n");
  CHECK(source(90, "NVIDIA H100 80GB HBM3") == "named.tsv");
  places.name("device cpu 0 x\n");  // for something else
  CHECK(source(81, "?") == "a.tsv");
  CHECK(runtime::find_profile({runtime::Device::cpu, 0, "y"})->value().device.name == "x");
  ::unsetenv("SPTILE_PROFILE");
  CHECK(runtime::find_profile({runtime::Device::cpu, 0, "y"})->value().source == "built in");
  ProfilePlaces::keep("c.tsv", "device cpu 0 z\n");
  CHECK(runtime::find_profile({runtime::Device::cpu, 0, "y"})->value().device.name == "z");
}

TEST_CASE("profiles: the built-in table knows the kernels for CUDA") {
  const ProfilePlaces places;
  const auto found = runtime::find_profile({runtime::Device::cuda, 90, "NVIDIA H100 80GB HBM3"});
  REQUIRE(found.has_value());
  for (const char* kernel : {"cuda.csr.rows", "cuda.bittcf.mma", "cuda.bmat.mma", "cuda.tall.staged"}) {
    CAPTURE(kernel);
    double sum = 0;
    for (std::size_t i = 0; i < runtime::kFeatures.size(); ++i) {
      CAPTURE(runtime::kFeatures[i].name);
      runtime::CostFeatures one = {};
      one[i] = 1;
      const double cost = (*found)->find(kernel, "fp16", runtime::kFeatures[i].name).value_or(0);
      CHECK((*found)->predict(kernel, "fp16", one) == cost);
      sum += cost;
    }
    runtime::CostFeatures all;
    all.fill(1);
    CHECK(sum > 0);
    CHECK((*found)->predict(kernel, "fp16", all).value_or(0) == doctest::Approx(sum));
  }
}

TEST_CASE("profiles: the built-in table knows every kernel for CPUs that a choice of format may take") {
  const ProfilePlaces places;
  const auto found = runtime::find_profile({runtime::Device::cpu, 0, "another"});
  REQUIRE(found.has_value());
  REQUIRE(found->has_value());
  runtime::CostFeatures all;
  all.fill(1);
  int known = 0;
  for (const runtime::Kernel& kernel : runtime::kernels()) {
    const bool chosen_by_format = kernel.op == &runtime::kSpmm || kernel.op == &runtime::kSddmm;
    if (kernel.device != runtime::Device::cpu || !chosen_by_format) continue;
    CAPTURE(kernel.name);
#if defined(__x86_64__)
    const std::string_view name = kernel.name;
#else
    const std::string_view name = kernel.like;
#endif
    CHECK((*found)->predict(name, "fp32", all).value_or(0) > 0);
    ++known;
  }
  CHECK(known > 2);
}

TEST_CASE("profiles: the built-in tables know every kernel for CUDA that plans may choose") {
  const ProfilePlaces places;
  for (const char* const device : {"NVIDIA H100 80GB HBM3", "NVIDIA H200"}) {
    const auto found = runtime::find_profile({runtime::Device::cuda, 90, device});
    REQUIRE(found.has_value());
    REQUIRE((*found)->device.name == device);
    int known = 0;
    for (const runtime::Kernel& kernel : runtime::kernels()) {
      if (kernel.device != runtime::Device::cuda || kernel.by_name || kernel.first != nullptr) continue;
      // One kernel needs no prediction.
      const auto rival = [&](const runtime::Kernel& other) {
        return other.device == kernel.device && !other.by_name && other.op == kernel.op && &other != &kernel;
      };
      if (std::none_of(runtime::kernels().begin(), runtime::kernels().end(), rival)) continue;
      CAPTURE(device);
      CAPTURE(kernel.name);
      CHECK(((*found)->has_times(kernel.name) || (*found)->has_times(kernel.like)));
      ++known;
    }
    if (runtime::cuda::built()) CHECK(known > 10);
  }
}

TEST_CASE("profiles: on CPUs, a format is predicted without a profile of the user's") {
  const ProfilePlaces places;
  const ThreeFormats p;
  for (const runtime::Operation* op : {&runtime::kSpmm, &runtime::kSddmm}) {
    const auto list = runtime::predict_product(*op, p.matrices, {.n = 32});
    REQUIRE(list.has_value());
    for (const Candidate& candidate : *list) CHECK(candidate.predicted_us.value_or(0) > 0);
  }
}

TEST_CASE("profiles: on an H200 one column of small csr takes teams of lanes") {
  const ProfilePlaces places;
  const auto found = runtime::find_profile({runtime::Device::cuda, 90, "NVIDIA H200"});
  REQUIRE(found.has_value());
  for (const char* precision : {"fp32", "fp64"}) {
    CAPTURE(precision);
    const double element = precision == std::string("fp32") ? 4e-6 : 8e-6;
    // 10,000 rows of ten entries, with all rows of B in the cache.
    const runtime::CostFeatures counts = {
        1, 1e5 * element, 5e4 * element, 1e4 * element, 0, 0.1, 0, 0.01, 0.02, 0, 0.1, 0.1, 0.02};
    const auto direct = (*found)->predict("cuda.csr.direct", precision, counts),
               stream = (*found)->predict("cuda.csr.stream", precision, counts);
    REQUIRE(direct);
    REQUIRE(stream);
    CHECK(*direct < *stream);
  }
}

TEST_CASE(
    "profiles: on an H200 wide products of a pruned layer keep B in shared memory, narrow ones do not") {
  const ProfilePlaces places;
  const auto found = runtime::find_profile({runtime::Device::cuda, 90, "NVIDIA H200"});
  REQUIRE(found.has_value());
  const double rows_m = 2048e-6, entries_m = 0.1;
  for (const double n : {8., 512.}) {
    CAPTURE(n);
    const double gathered = entries_m * 4 * n, rounds = n * 4 / 512;
    const runtime::CostFeatures counts = {
        1, gathered, gathered / 2, rows_m * 4 * n, 0, entries_m * rounds, 0, rows_m * rounds, 0.09, 0};
    const auto us = [&](const char* kernel) { return (*found)->predict(kernel, "fp32", counts).value_or(0); };
    CHECK(us("cuda.csr.resident") > 0);
    CHECK((us("cuda.csr.resident") < std::min(us("cuda.csr.rows"), us("cuda.csr.direct"))) == (n > 100));
  }
}

TEST_CASE("profiles: file names") {
  CHECK(runtime::profile_file_name({runtime::Device::cuda, 90, "NVIDIA H100 80GB HBM3"}) ==
        "NVIDIA-H100-80GB-HBM3.tsv");
  CHECK(runtime::profile_file_name({runtime::Device::cpu, 0, "../../(R)"}) == "R.tsv");
  CHECK(runtime::profile_file_name({runtime::Device::cpu, 0, "//"}) == "device.tsv");
}
