#include "tools/doctor/diagnosis.hpp"

#include <doctest/doctest.h>

#include "formats/layout/csr.hpp"
#include "runtime/kernels/kernels.hpp"

using namespace sptile;
namespace doctor = tools::doctor;

namespace {

// A machine on which all is well: no CUDA, two processors, a profile of its own.
doctor::Diagnosis good_machine() {
  doctor::Diagnosis found;
  found.processor.logical = found.processor.usable = 2;
  found.threads = {2, "all"};
  found.no_device = "this build has none";
  const runtime::ProfileDevice cpu = {runtime::Device::cpu, 0, "Quick"};
  found.profiles = {{cpu, cpu, "quick.tsv", {}}};
  return found;
}

bool says(const std::vector<std::string>& lines, const std::string& part) {
  return std::ranges::any_of(lines, [&](const std::string& l) { return l.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("a machine on which all is well needs no advice") {
  auto found = good_machine();
  doctor::conclude(found);
  CHECK(found.problems.empty());
  CHECK(found.advice.empty());
}

TEST_CASE("without a profile, and with that of another machine, calibrate is the advice") {
  auto found = good_machine();
  found.profiles[0].made_on.reset();
  doctor::conclude(found);
  CHECK(says(found.advice, "sptile calibrate --device cpu"));
  found = good_machine();
  found.profiles[0].made_on->name = "Slow";
  doctor::conclude(found);
  CHECK(says(found.advice, "a different device, Slow"));
  found.advice.clear();
  found.profiles[0].source = runtime::kBuiltInSource;
  doctor::conclude(found);
  CHECK(found.advice.empty());
  CHECK(found.problems.empty());
  found = good_machine();
  found.profiles[0].error = "quick.tsv:3: what is this";
  doctor::conclude(found);
  CHECK(says(found.problems, "quick.tsv:3"));
}

TEST_CASE("more threads than a container may run are told") {
  auto found = good_machine();
  found.processor.quota = 1.5;
  doctor::conclude(found);
  CHECK(found.advice.empty());  // 2 threads for 1.5 processors
  found.processor.quota = 0.5;
  doctor::conclude(found);
  CHECK(says(found.advice, "SPTILE_THREADS=1"));
}

TEST_CASE("a driver that is too old is a problem; no driver, or a device that is hidden, is none") {
  auto found = good_machine();
  found.cuda = {13000, 0};
  doctor::conclude(found);
  CHECK(found.problems.empty());
  found.cuda.driver = 12040;
  doctor::conclude(found);
  CHECK(says(found.problems, "supports CUDA up to 12.4, but this build uses 13.0"));
  found = good_machine();
  found.cuda = {13000, 13000};
  found.nvidia_module = "580.65.06";
  doctor::conclude(found);
  CHECK(says(found.problems, "this build has none"));
  found = good_machine();
  found.cuda = {13000, 13000};
  found.nvidia_module = "580.65.06";
  found.variables = {{"CUDA_VISIBLE_DEVICES", "", "hides all", false}};
  doctor::conclude(found);
  CHECK(found.problems.empty());
  CHECK(says(found.advice, "CUDA_VISIBLE_DEVICES: hides all"));
  found = good_machine();
  found.nvidia_module = "580.65.06";
  doctor::conclude(found);
  CHECK(says(found.advice, "rebuild"));
}

TEST_CASE("a command of a wheel does not advise to build the kernels that libsptile has") {
  auto found = good_machine();
  found.nvidia_module = "580.65.06";
  found.library = {"libsptile.so.0", true, ""};
  doctor::conclude(found);
  CHECK(found.advice.empty());
  for (const doctor::Unavailable& u : doctor::why_unavailable(true))
    if (u.device == runtime::Device::cuda) CHECK(u.why.starts_with("this command does not contain them"));
}

TEST_CASE("a kernel that fails its trial is a problem") {
  auto found = good_machine();
  found.trials = {{runtime::Device::cpu, 3, {"cpu.csr.generic: wrong"}}};
  doctor::conclude(found);
  CHECK(says(found.problems, "cpu.csr.generic: wrong"));
}

TEST_CASE("every kernel is counted once") {
  int there = 0, run = 0, lacking = 0;
  for (const doctor::KernelCount& c : doctor::count_kernels()) {
    CHECK(c.run <= c.there);
    there += c.there;
    run += c.run;
  }
  for (const doctor::Unavailable& u : doctor::why_unavailable(false)) lacking += u.kernels;
  CHECK(there == static_cast<int>(runtime::kernels().size()));
  CHECK(run + lacking == there);
}

TEST_CASE("the trial's matrix is good, and every kernel for the CPU is tried") {
  const formats::Csr a = doctor::trial_matrix();
  CHECK(formats::check_csr(a.view()).has_value());
  CHECK(a.row_ptr.span()[3] == a.row_ptr.span()[4]);
  CHECK(a.row_ptr.span()[21] - a.row_ptr.span()[20] == a.cols);
  int run = 0;
  for (const doctor::KernelCount& c : doctor::count_kernels())
    if (c.device == runtime::Device::cpu) run += c.run;
  tools::Session session;
  const doctor::Trial trial = doctor::try_kernels(session, runtime::Device::cpu);
  CHECK(trial.failures.empty());
  CHECK(trial.products == run);
}

TEST_CASE("products are tried on CUDA devices where there are some") {
  tools::Session session;
  const doctor::Trial trial = doctor::try_kernels(session, runtime::Device::cuda);
  CHECK(trial.failures.empty());
  CHECK((trial.products > 0) == (runtime::cuda::device_count() > 0));
}
