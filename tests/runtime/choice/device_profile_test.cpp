// Profiles as text: what is written is read back, and what is no profile is refused with its line.
#include "runtime/choice/device_profile.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "tests/temporary_folder.hpp"

using namespace sptile;
using runtime::DeviceProfile;
using runtime::parse_profile;

namespace {

constexpr const char* kSmall =
    "sptile-profile 1\n"
    "# a comment\n"
    "\n"
    "device cuda 90 NVIDIA H100 80GB HBM3 \r\n"
    "number cuda.csr.rows fp32 launch 2.5\n"
    "number\tcuda.csr.rows\tfp32\tgather_mb\t0.1\n"
    "number cuda.bmat.mma any balance -3\n";

/// The error of a text whose first lines are fine; "" when it is accepted.
std::string error_of(const std::string& line) {
  const auto profile = parse_profile("sptile-profile 1\ndevice cpu 0 x\n" + line + "\n", "p.tsv");
  if (profile) return "";
  CHECK(profile.error().code == Errc::bad_input);
  return profile.error().text();
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

runtime::CostFeatures features(double launch, double gather) { return {launch, gather}; }

}  // namespace

TEST_CASE("profile: read and used") {
  const auto profile = parse_profile(kSmall, "p.tsv");
  REQUIRE_MESSAGE(profile.has_value(), profile.error().text());
  CHECK(profile->device.kind == runtime::Device::cuda);
  CHECK(profile->device.capability == 90);
  CHECK(profile->device.name == "NVIDIA H100 80GB HBM3");
  CHECK(profile->find("cuda.csr.rows", "fp32", "launch") == 2.5);
  CHECK_FALSE(profile->find("cuda.csr.rows", "tf32", "launch"));
  CHECK(profile->find("cuda.bmat.mma", "tf32", "balance") == -3);  // of any precision
  CHECK(*profile->predict("cuda.csr.rows", "fp32", features(1, 10)) == doctest::Approx(3.5));
  CHECK(*profile->predict("cuda.csr.rows", "fp64", features(1, 10)) == doctest::Approx(3.5));
  CHECK_FALSE(profile->predict("cuda.bmat.mma", "tf32", features(1, 10)));  // no cost among its numbers
  CHECK_FALSE(profile->predict("cuda.tall.staged", "tf32", features(1, 10)));
}

TEST_CASE("profile: written as it is read") {
  DeviceProfile profile = *parse_profile(kSmall, "p.tsv");
  profile.numbers[0].value = 0.1 + 0.2;  // needs all its digits
  const std::string comments[] = {"made by a test"};
  const auto again = parse_profile(format_profile(profile, comments), "q.tsv");
  REQUIRE(again.has_value());
  CHECK(again->device.name == profile.device.name);
  REQUIRE(again->numbers.size() == profile.numbers.size());
  for (std::size_t i = 0; i < profile.numbers.size(); ++i) {
    CHECK(again->numbers[i].kernel == profile.numbers[i].kernel);
    CHECK(again->numbers[i].value == profile.numbers[i].value);
  }
}

TEST_CASE("profile: what is wrong is named with its line") {
  CHECK(error_of("number a fp32 launch 1") == "");
  CHECK(error_of("number a fp32 whatever -1e9") == "");  // not a cost
  CHECK(contains(error_of("cost a fp32 launch 1"), "p.tsv:3: no key 'cost'"));
  CHECK(contains(error_of("device cpu 0 y"), "a second device"));
  CHECK(contains(error_of("number a fp31 launch 1"), "no precision 'fp31'"));
  CHECK(contains(error_of("number a fp32 launch -1"), "costs must not be negative"));
  CHECK(contains(error_of("number a fp32 launch nan"), "not a finite number"));
  CHECK(contains(error_of("number a fp32 launch 1e999"), "not a finite number"));
  CHECK(contains(error_of("number a fp32 launch 1x"), "not a finite number"));
  CHECK(contains(error_of("number a fp32 launch"), "not a finite number"));
  CHECK(contains(error_of("number a fp32 launch 1 2"), "is not a finite number"));
  CHECK(contains(error_of("number"), "is not a name"));
  CHECK(contains(error_of("number a\x01\x02 fp32 launch 1"), "'a\x3f\x3f' is not a name"));
  CHECK(contains(error_of("number a fp32 launch 1\nnumber a fp32 launch 1"), "p.tsv:4: launch of a, fp32"));
  CHECK(contains(error_of(std::string(1000, 'x')), "..."));
}

TEST_CASE("profile: not one at all") {
  const auto code = [](const std::string& text) { return parse_profile(text, "p").error().code; };
  CHECK(code("") == Errc::bad_input);
  CHECK(code("\n\n") == Errc::bad_input);
  CHECK(code("matrix,us\n") == Errc::bad_input);
  CHECK(code("sptile-profile one\n") == Errc::bad_input);
  CHECK(code("sptile-profile 2\n") == Errc::unsupported);
  CHECK(code("sptile-profile 1\n") == Errc::bad_input);  // no device
  CHECK(code("sptile-profile 1\ndevice tpu 0 x\n") == Errc::bad_input);
  CHECK(code("sptile-profile 1\ndevice cuda ninety x\n") == Errc::bad_input);
  CHECK(code("sptile-profile 1\ndevice cuda 90\n") == Errc::bad_input);
  std::string many = "sptile-profile 1\ndevice cpu 0 x\n";
  for (int i = 0; i < 5000; ++i) many += "number k" + std::to_string(i) + " any launch 1\n";
  CHECK(code(many) == Errc::bad_input);
}

TEST_CASE("profile: files") {
  const TemporaryFolder folder;
  CHECK(runtime::read_profile(folder / "absent.tsv").error().code == Errc::io);
  std::ofstream(folder / "good.tsv") << kSmall;
  CHECK(runtime::read_profile(folder / "good.tsv").has_value());
  std::ofstream(folder / "long.tsv") << std::string(2 << 20, '\n');
  CHECK(contains(runtime::read_profile(folder / "long.tsv").error().text(), "1 MiB"));
}

TEST_CASE("profile: a pipe without a writer is refused, not waited for") {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe.tsv";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(runtime::read_profile(pipe).error().code == Errc::bad_input);
  CHECK(runtime::read_profile(folder.path().string()).error().code == Errc::bad_input);
}
