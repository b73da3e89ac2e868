#include "tools/spy/png.hpp"

#include <png.h>

namespace sptile::tools::spy {

Result<std::string> encode_png(const Image& image) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = PNG_FORMAT_GRAY;
  const auto write = [&](void* place, png_alloc_size_t& size) {
    return png_image_write_to_memory(&png, place, &size, 0, image.pixels.data(), 0, nullptr) != 0;
  };
  png_alloc_size_t size = 0;
  std::string bytes;
  if (write(nullptr, size)) {
    bytes.resize(size);
    if (write(bytes.data(), size)) {
      bytes.resize(size);
      return bytes;
    }
  }
  return fail(Errc::unsupported, std::string("libpng: ") + png.message + "; use a smaller --size");
}

}  // namespace sptile::tools::spy
