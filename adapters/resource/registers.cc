#include "adapters/resource/registers.h"

#include <nlohmann/json.hpp>

namespace holdfast {
namespace {

std::string fail(const std::string& error) {
  const nlohmann::json text = error;
  return R"("type":"fail","error":)" + text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string Registers::serve(std::string_view line) {
  const Envelope request = parse_envelope(line);
  if (!request.id || request.f.empty()) throw MalformedLine(R"(a request needs "id" and "f")");
  return R"({"id":)" + std::to_string(*request.id) + "," + outcome(request) + "}";
}

std::string Registers::outcome(const Envelope& request) {
  const bool read = request.f == "read";
  if (!read && request.f != "write") return fail("unsupported: " + request.f);
  if (request.key.empty()) return fail(request.f + ": key is missing");
  const auto value = nlohmann::json::parse(request.value.empty() ? "{}" : request.value, nullptr, false);
  if (!value.is_object()) return fail(request.f + ": value must be an object");
  if (!read && !value.contains("now")) return fail("write: value.now is missing");

  Register& guarded = registers_[request.key];
  if (value.contains("token") && !value["token"].is_null()) {
    if (!value["token"].is_number_unsigned())
      return fail(request.f + ": value.token must be a whole number, 0 or more");
    const auto token = value["token"].get<std::uint64_t>();
    if (guarded.highest && token < *guarded.highest) return fail("stale-token");
    // The read raises it too. Otherwise: the new holder reads (41), the old holder wakes up and writes 1007 with its
    // old token, which nothing forbids yet, and the new holder's write, computed from 41, wipes out 1007.
    guarded.highest = token;
  }
  if (read) return R"("type":"ok","value":{"value":)" + guarded.value + "}";
  guarded.value = value["now"].dump();
  return R"("type":"ok")";
}

}  // namespace holdfast
