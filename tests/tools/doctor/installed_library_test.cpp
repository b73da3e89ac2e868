#include "tools/doctor/installed_library.hpp"

#include <doctest/doctest.h>

#include "formats/io/files/install_place.hpp"
#include "runtime/cuda/backend.hpp"

using namespace sptile;
namespace doctor = tools::doctor;

TEST_CASE("an inspected libsptile reports the CUDA support of its build") {
  const std::string path = formats::own_folder() + "/../runtime/libsptile.so.0";
  const auto library = doctor::inspect_library(path);
  REQUIRE(library.has_value());
  CHECK(library->path == path);
  CHECK(library->cuda == runtime::cuda::built());
  CHECK(library->no_device.empty() == runtime::cuda::find_device(0).has_value());
}

TEST_CASE("files that are not a libsptile are not inspected") {
  CHECK_FALSE(doctor::inspect_library("no-such-file.so").has_value());
  CHECK_FALSE(doctor::inspect_library("libm.so.6").has_value());
}
