// history.jsonl. A blank in front: values are [key value] pairs.
#include "harness/formats/fuzz/survive.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const bool tuple_keys = bytes.starts_with(' ');
  holdfast::formats::survive(bytes, {.format = holdfast::formats::Format::jsonl, .tuple_keys = tuple_keys});
  return 0;
}
