//===- Status.h - failures that a person can cause, as values -------------===//
//
// The runtime neither throws nor prints: what goes wrong because of a file, a
// disk or a number is returned, with a message that says what, where, against
// what and what now (lower case, no full stop, names in backquotes).
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_STATUS_H
#define DYN_RUNTIME_STATUS_H

#include <string>
#include <utility>
#include <variant>

namespace dyn {

/// Success, or a message for the person who runs the program.
class [[nodiscard]] Status {
public:
  Status() = default;
  static Status error(std::string message) {
    Status status;
    status.text = std::move(message);
    status.failed = true;
    return status;
  }
  bool isOk() const { return !failed; }
  /// Empty when isOk().
  const std::string &message() const { return text; }

private:
  std::string text;
  bool failed = false;
};

/// A value, or the failure that stood in its way.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : content(std::in_place_index<0>, std::move(value)) {}
  /// `failure` must not be ok.
  Expected(Status failure) : content(std::in_place_index<1>, std::move(failure)) {}

  bool isOk() const { return content.index() == 0; }
  explicit operator bool() const { return isOk(); }
  /// Only when isOk().
  T &operator*() { return std::get<0>(content); }
  const T &operator*() const { return std::get<0>(content); }
  T *operator->() { return &std::get<0>(content); }
  const T *operator->() const { return &std::get<0>(content); }
  /// The failure; a success when isOk().
  Status status() const { return isOk() ? Status() : std::get<1>(content); }

private:
  std::variant<T, Status> content;
};

} // namespace dyn
#endif // DYN_RUNTIME_STATUS_H
