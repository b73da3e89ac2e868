// Which kernel has which property.
#include <cstdio>
#include <string>

#include "tests/property/property.hpp"
#include "tests/property/runner.hpp"

namespace sptile::test {
namespace {

using runtime::Kernel;

/// A letter per reason, in the order of the table.
std::string mark(const Kernel& kernel, const Property& property) {
  const OptOut* const out = find_opt_out(kernel, property.name);
  return out == nullptr ? "yes" : std::string(1, static_cast<char>('a' + (out - opt_outs().data())));
}

void print_row(const std::string& name, const Options& options, const Kernel* kernel) {
  std::printf(options.csv ? "%s" : "| %s |", name.c_str());
  for (const Property& property : properties())
    if (options.properties.matches(property.name))
      std::printf(options.csv ? ",%s" : " %s |",
                  (kernel == nullptr ? std::string(property.name) : mark(*kernel, property)).c_str());
  std::printf("\n");
}

void print_rule(const Options& options) {
  std::printf("| --- |");
  for (const Property& property : properties())
    if (options.properties.matches(property.name)) std::printf(" --- |");
  std::printf("\n");
}

}  // namespace

int print_support(const Options& options, runtime::Device device) {
  print_row("kernel", options, nullptr);
  if (!options.csv) print_rule(options);
  for (const Kernel* kernel : selected_kernels(options, device))
    print_row(std::string(kernel->name), options, kernel);
  if (options.csv) return 0;
  std::printf("\n");
  for (std::size_t i = 0; i < opt_outs().size(); ++i)
    std::printf("%c: no %s: %s\n", static_cast<char>('a' + i), std::string(opt_outs()[i].property).c_str(),
                std::string(opt_outs()[i].reason).c_str());
  return 0;
}

}  // namespace sptile::test
