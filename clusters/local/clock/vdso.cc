#include "clusters/local/clock/vdso.h"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

#include <cstddef>
#include <cstdint>

namespace holdfast::clock_shim {

namespace {

#if defined(__aarch64__)
constexpr const char* kName = "__kernel_clock_gettime";
#else
constexpr const char* kName = "__vdso_clock_gettime";
#endif

bool same(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) {
    ++a;
    ++b;
  }
  return *a == *b;
}

struct Image {
  std::uintptr_t base = 0;  // what is added to the addresses that stand in it
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const std::uint32_t* hash = nullptr;
  const std::uint32_t* gnu_hash = nullptr;
};

template <typename T>
const T* at(std::uintptr_t address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel says it as a number
  return reinterpret_cast<const T*>(address);
}

Image read_image(std::uintptr_t start) {
  Image image;
  const auto* const header = at<ElfW(Ehdr)>(start);
  const auto* const segments = at<ElfW(Phdr)>(start + header->e_phoff);
  const ElfW(Dyn)* dynamic = nullptr;
  for (std::size_t i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type == PT_LOAD && image.base == 0)
      image.base = start + segments[i].p_offset - segments[i].p_vaddr;
    if (segments[i].p_type == PT_DYNAMIC) dynamic = at<ElfW(Dyn)>(start + segments[i].p_offset);
  }
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    const std::uintptr_t address = image.base + dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_SYMTAB) image.symbols = at<ElfW(Sym)>(address);
    if (dynamic->d_tag == DT_STRTAB) image.names = at<char>(address);
    if (dynamic->d_tag == DT_HASH) image.hash = at<std::uint32_t>(address);
    if (dynamic->d_tag == DT_GNU_HASH) image.gnu_hash = at<std::uint32_t>(address);
  }
  return image;
}

// An image does not say how many symbols it has; its hash tables do. Newer kernels have the GNU one only: the last
// symbol of the chain that starts last.
std::size_t symbol_count(const Image& image) {
  if (image.hash != nullptr) return image.hash[1];
  if (image.gnu_hash == nullptr) return 0;
  const std::uint32_t buckets = image.gnu_hash[0];
  const std::uint32_t first = image.gnu_hash[1];
  const std::uint32_t bloom_words = image.gnu_hash[2];
  const std::uint32_t* const bucket = image.gnu_hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const std::uint32_t* const chain = bucket + buckets;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < buckets; ++i) last = bucket[i] > last ? bucket[i] : last;
  if (last < first) return 0;
  while ((chain[last - first] & 1U) == 0) ++last;
  return last + 1;
}

}  // namespace

ClockGetTime find_clock_gettime() {
  const auto start = static_cast<std::uintptr_t>(::getauxval(AT_SYSINFO_EHDR));
  if (start == 0) return nullptr;
  const Image image = read_image(start);
  if (image.symbols == nullptr || image.names == nullptr) return nullptr;
  const std::size_t count = symbol_count(image);
  for (std::size_t i = 0; i < count; ++i) {
    if (image.symbols[i].st_shndx != SHN_UNDEF && same(image.names + image.symbols[i].st_name, kName)) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): as above
      return reinterpret_cast<ClockGetTime>(image.base + image.symbols[i].st_value);
    }
  }
  return nullptr;
}

}  // namespace holdfast::clock_shim
