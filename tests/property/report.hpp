// Counts and failures of cases.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace sptile::test {

class Report {
 public:
  explicit Report(std::string_view backend) : backend_(backend) {}

  void passed(std::string_view kernel, std::string_view property);
  /// Prints the first failures of each kernel and property.
  void failed(std::string_view kernel, std::string_view property, const std::string& place,
              const std::string& what);
  /// Reports an error in the tables of this program.
  void wrong(const std::string& what);

  [[nodiscard]] std::int64_t cases(std::string_view kernel, std::string_view property) const;
  [[nodiscard]] std::int64_t cases() const { return passed_ + failed_; }
  [[nodiscard]] std::int64_t failures() const { return failed_ + wrong_; }

 private:
  struct Counts {
    std::int64_t passed = 0, failed = 0;
  };

  std::string backend_;
  std::map<std::pair<std::string, std::string>, Counts, std::less<>> counts_;
  std::int64_t passed_ = 0, failed_ = 0, wrong_ = 0;
};

}  // namespace sptile::test
