// A temporary device profile that the library uses during the object's lifetime.
#pragma once

#include <stdlib.h>

#include <fstream>
#include <string>

#include "tests/temporary_folder.hpp"

namespace sptile::test {

/// Writes a profile with these lines and sets SPTILE_PROFILE.
class ProfileFile {
 public:
  explicit ProfileFile(const std::string& numbers, const std::string& device = "cuda 90 some device") {
    const std::string path = folder_ / "profile.tsv";
    std::ofstream(path) << "sptile-profile 1\ndevice " << device << "\n" << numbers;
    ::setenv("SPTILE_PROFILE", path.c_str(), 1);
  }
  ProfileFile(const ProfileFile&) = delete;
  ProfileFile& operator=(const ProfileFile&) = delete;
  ~ProfileFile() { ::unsetenv("SPTILE_PROFILE"); }

 private:
  TemporaryFolder folder_;
};

}  // namespace sptile::test
