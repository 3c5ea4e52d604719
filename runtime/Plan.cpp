//===- Plan.cpp - plans as JSON -------------------------------------------===//
//
// Each struct is described once, by a function that names its fields; the
// writer and the strict reader below both walk that description, so that they
// cannot drift apart.
//
//===----------------------------------------------------------------------===//
#include "runtime/Plan.h"

#include "runtime/abi.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

namespace dyn::plan {
namespace {

using Json = nlohmann::json;

constexpr const char *elementNames[] = {"f32", "f64", "i64", "i1"};

template <typename A> void describe(A &a, Arena &x) {
  a("name", x.name), a("role", x.role), a("bytes", x.bytes);
}
template <typename A> void describe(A &a, Leaf &x) {
  a("path", x.path), a("shape", x.shape), a("element", x.element), a("arena", x.arena);
  a("offset", x.offset), a("owner", x.owner);
}
template <typename A> void describe(A &a, Field &x) {
  a("name", x.name), a("shape", x.shape), a("element", x.element), a("classes", x.classes);
}
template <typename A> void describe(A &a, RawInput &x) {
  a("file", x.file), a("width", x.width), a("arena", x.arena), a("header", x.header);
  a("member", x.member);
}
template <typename A> void describe(A &a, Source &x) {
  a("name", x.name), a("format", x.format), a("inputs", x.inputs), a("rows", x.rows), a("chunk", x.chunk);
  a("fields", x.fields), a("chunkArenas", x.chunkArenas), a("function", x.function), a("spec", x.spec);
  a("followsSeed", x.followsSeed);
}
template <typename A> void describe(A &a, Set &x) {
  a("name", x.name), a("source", x.source), a("first", x.first), a("rows", x.rows);
  a("permuted", x.permuted), a("splitSeed", x.splitSeed), a("fieldArenas", x.fieldArenas);
  a("windows", x.windows);
}
template <typename A> void describe(A &a, Feed &x) {
  a("name", x.name), a("set", x.set), a("batch", x.batch), a("shuffle", x.shuffle), a("drop", x.drop);
}
template <typename A> void describe(A &a, Event &x) { a("kind", x.kind), a("every", x.every), a("at", x.at); }
template <typename A> void describe(A &a, Metric &x) {
  a("name", x.name), a("clock", x.clock), a("shape", x.shape), a("axes", x.axes), a("labels", x.labels);
  a("text", x.text);
}
template <typename A> void describe(A &a, Number &x) {
  a("name", x.name), a("value", x.value), a("formula", x.formula);
}
template <typename A> void describe(A &a, Product &x) {
  a("element", x.element), a("batch", x.batch), a("m", x.m), a("n", x.n), a("k", x.k);
  a("transposeA", x.transposeA), a("transposeB", x.transposeB);
  a("window", x.window);
}
template <typename A> void describe(A &a, Site &x) { a("kind", x.kind), a("what", x.what), a("spec", x.spec); }
template <typename A> void describe(A &a, Part &x) {
  a("kind", x.kind), a("what", x.what), a("spec", x.spec), a("parent", x.parent);
  a("bytes", x.bytes), a("flops", x.flops), a("shared", x.shared);
}
template <typename A> void describe(A &a, Plan &x) {
  a("name", x.name), a("specFile", x.specFile), a("precision", x.precision), a("total", x.total);
  a("seeded", x.seeded), a("seed", x.seed), a("arenas", x.arenas), a("params", x.params), a("served", x.served);
  a("states", x.states), a("ruleStates", x.ruleStates), a("sources", x.sources), a("sets", x.sets), a("feeds", x.feeds);
  a("events", x.events), a("checkpoint", x.checkpoint), a("metrics", x.metrics), a("numbers", x.numbers), a("products", x.products);
  a("sites", x.sites), a("parts", x.parts), a("entry", x.entry);
}

/// Builds the JSON object of one struct.
struct Writer {
  Json object = Json::object();

  template <typename T> void operator()(const char *key, T &value) { object[key] = write(value); }

  static Json write(const std::string &value) { return value; }
  static Json write(int64_t value) { return value; }
  static Json write(uint64_t value) { return value; }
  static Json write(bool value) { return value; }
  static Json write(Element value) { return elementNames[static_cast<int>(value)]; }
  /// JSON has no infinities: they are strings.
  static Json write(double value) {
    if (std::isnan(value))
      return "nan";
    if (std::isinf(value))
      return value > 0 ? "inf" : "-inf";
    return value;
  }
  template <typename T> static Json write(std::vector<T> &list) {
    Json array = Json::array();
    for (auto &&item : list)
      array.push_back(write(item));
    return array;
  }
  template <typename T>
    requires std::is_class_v<T> && (!std::is_same_v<T, std::string>)
  static Json write(T &structure) {
    Writer inner;
    describe(inner, structure);
    return std::move(inner.object);
  }
};

/// Fills one struct from its JSON object: each key exactly once, each of its type.
class Reader {
public:
  Reader(const Json &object, std::string path, std::string &why) : object(object), path(std::move(path)), why(why) {}

  template <typename T> void operator()(const char *key, T &value) {
    if (!why.empty())
      return;
    auto found = object.find(key);
    if (found == object.end()) {
      why = "key `" + path + key + "` is missing";
      return;
    }
    ++seen;
    read(*found, path + key, value);
  }

  template <typename T> static void structure(const Json &json, const std::string &path, T &value, std::string &why) {
    if (!json.is_object()) {
      why = wrong(path, "an object", json);
      return;
    }
    Reader inner(json, path.empty() ? path : path + ".", why);
    describe(inner, value);
    if (why.empty() && inner.seen != json.size())
      why = "`" + (path.empty() ? std::string("plan") : path) + "` has keys that this build does not know";
  }

private:
  const Json &object;
  std::string path;
  std::string &why;
  size_t seen = 0;

  static std::string wrong(const std::string &path, const char *expected, const Json &json) {
    return "`" + path + "` is " + json.type_name() + ", expected " + expected;
  }
  void read(const Json &json, const std::string &at, std::string &value) {
    if (json.is_string())
      value = json.get<std::string>();
    else
      why = wrong(at, "a string", json);
  }
  void read(const Json &json, const std::string &at, bool &value) {
    if (json.is_boolean())
      value = json.get<bool>();
    else
      why = wrong(at, "true or false", json);
  }
  void read(const Json &json, const std::string &at, int64_t &value) {
    bool fits = json.is_number_integer() &&
                (!json.is_number_unsigned() ||
                 json.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
    if (fits)
      value = json.get<int64_t>();
    else
      why = wrong(at, "a whole number of 64 bits", json);
  }
  void read(const Json &json, const std::string &at, uint64_t &value) {
    if (json.is_number_unsigned())
      value = json.get<uint64_t>();
    else
      why = wrong(at, "a whole number, 0 or more", json);
  }
  void read(const Json &json, const std::string &at, double &value) {
    if (json.is_number())
      value = json.get<double>();
    else if (json == "nan")
      value = std::numeric_limits<double>::quiet_NaN();
    else if (json == "inf" || json == "-inf")
      value = json == "inf" ? HUGE_VAL : -HUGE_VAL;
    else
      why = wrong(at, "a number", json);
  }
  void read(const Json &json, const std::string &at, Element &value) {
    for (int i = 0; i < 4; ++i) {
      if (json == elementNames[i]) {
        value = static_cast<Element>(i);
        return;
      }
    }
    why = "`" + at + "` is " + json.dump() + ", expected \"f32\", \"f64\", \"i64\" or \"i1\"";
  }
  template <typename T> void read(const Json &json, const std::string &at, std::vector<T> &list) {
    if (!json.is_array()) {
      why = wrong(at, "a list", json);
      return;
    }
    list.clear();
    for (size_t i = 0; i < json.size() && why.empty(); ++i) {
      list.emplace_back();
      read(json[i], at + "[" + std::to_string(i) + "]", list.back());
    }
  }
  template <typename T> void read(const Json &json, const std::string &at, T &value) {
    structure(json, at, value, why);
  }
};

} // namespace

int64_t sizeOf(Element element) {
  switch (element) {
  case Element::f32:
    return 4;
  case Element::i1:
    return 1;
  case Element::f64:
  case Element::i64:
    break;
  }
  return 8;
}

std::string toJson(const Plan &plan) {
  Plan copy = plan; // descriptions take references that can be filled
  Json object = Writer::write(copy);
  object["abi"] = static_cast<int>(DYN_ABI_VERSION);
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool fromJson(const std::string &text, Plan &plan, std::string &why) {
  why.clear();
  plan = Plan();
  Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    why = "not a JSON object";
    return false;
  }
  auto version = object.find("abi");
  if (version == object.end() || *version != static_cast<int>(DYN_ABI_VERSION)) {
    why = "made for another version of the runtime";
    return false;
  }
  object.erase(version);
  Reader::structure(object, "", plan, why);
  return why.empty();
}

} // namespace dyn::plan
