#include "adapters/redis/connection.h"

#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <exception>
#include <utility>
#include <vector>

#include "adapters/cpp/address.h"
#include "adapters/redis/errors.h"

namespace holdfast {
namespace {

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

Result from_reply(const redisReply& reply) {
  Result result{.state = Result::State::done, .error = {}, .integer = {}, .text = {}};
  switch (reply.type) {
    case REDIS_REPLY_INTEGER:
      result.integer = reply.integer;
      break;
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
      result.text.emplace(reply.str, reply.len);
      break;
    case REDIS_REPLY_NIL:
      break;
    case REDIS_REPLY_ERROR:
      result.error.assign(reply.str, reply.len);
      result.state = is_definite(result.error) ? Result::State::refused : Result::State::unknown;
      break;
    default:
      result.error = "unexpected kind of reply: " + std::to_string(reply.type);
      result.state = Result::State::unknown;
  }
  return result;
}

// hiredis reports a time-out as the errno that SO_RCVTIMEO leaves behind.
std::string describe(const redisContext& context) {
  if (context.err == REDIS_ERR_IO && errno == EAGAIN) return "timed out";
  return std::string("connection lost: ") + context.errstr;
}

}  // namespace

Connection::Connection() = default;
Connection::~Connection() = default;
void Connection::Free::operator()(redisContext* context) const {
  redisFree(context);
}

void Connection::configure(std::string address, std::chrono::milliseconds limit) {
  context_.reset();
  address_ = std::move(address);
  limit_ = limit;
}

std::string Connection::connect() {
  if (context_) return {};
  const std::string where = "connect: " + address_ + ": ";
  try {
    const Address address = parse_address(address_);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit_);
    const timeval limit{.tv_sec = seconds.count(), .tv_usec = std::chrono::microseconds(limit_ - seconds).count()};
    std::unique_ptr<redisContext, Free> context(redisConnectWithTimeout(address.host.c_str(), address.port, limit));
    if (!context) return where + "out of memory";
    if (context->err != 0) return where + context->errstr;
    if (redisSetTimeout(context.get(), limit) != REDIS_OK) return where + context->errstr;
    const int yes = 1;
    setsockopt(context->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    context_ = std::move(context);
    return {};
  } catch (const std::exception& error) {
    return where + error.what();
  }
}

// A server that was restarted has closed its end. To find that out before sending is to know that the command had no
// effect; afterwards nobody could say.
void Connection::drop_if_closed() {
  if (!context_) return;
  char byte = 0;
  const ssize_t count = recv(context_->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  context_.reset();
}

Result Connection::command(std::initializer_list<std::string_view> arguments) {
  drop_if_closed();
  if (auto error = connect(); !error.empty())
    return {.state = Result::State::refused, .error = std::move(error), .integer = {}, .text = {}};
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string_view argument : arguments) {
    texts.push_back(argument.data());
    sizes.push_back(argument.size());
  }
  errno = 0;
  const Reply reply(static_cast<redisReply*>(
      redisCommandArgv(context_.get(), static_cast<int>(texts.size()), texts.data(), sizes.data())));
  if (reply) return from_reply(*reply);
  std::string error = describe(*context_);
  context_.reset();  // its answer may still come, and must not be taken for that of the next command
  return {.state = Result::State::unknown, .error = std::move(error), .integer = {}, .text = {}};
}

}  // namespace holdfast
