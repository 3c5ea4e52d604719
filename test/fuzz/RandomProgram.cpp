#include "RandomProgram.h"

#include "dialects/Nd/NdExpression.h"
#include "dialects/Nd/NdLibraryOps.h"
#include "dialects/Nd/NdWindow.h"

#include <random>

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

namespace dyn::fuzz {
namespace {

using Shape = SmallVector<int64_t>;

class Generator {
public:
  Generator(MLIRContext &context, uint64_t seed) : random(seed), builder(&context), loc(builder.getUnknownLoc()) {
    // Sizes around the width of a vector are there beside small ones.
    const int64_t all[] = {1, 2, 3, 4, 5, 3, 2, 9};
    for (int i = 0; i < 2; ++i)
      extents.push_back(all[below(8)]);
  }

  OwningOpRef<ModuleOp> make() {
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    SmallVector<Type> arguments;
    for (int64_t i = 0, count = 2 + below(3); i < count; ++i)
      arguments.push_back(RankedTensorType::get(anyShape(), builder.getF64Type()));
    builder.setInsertionPointToEnd(module->getBody());
    auto function = func::FuncOp::create(builder, loc, "f", builder.getFunctionType(arguments, {}));
    Block *body = function.addEntryBlock();
    builder.setInsertionPointToStart(body);
    for (Value argument : body->getArguments())
      scope.push_back(argument);
    for (int64_t i = 0, count = 6 + below(14); i < count; ++i)
      step();
    SmallVector<Value> results = someResults();
    func::ReturnOp::create(builder, loc, results);
    function.setFunctionType(builder.getFunctionType(arguments, ValueRange(results).getTypes()));
    return module;
  }

private:
  //===--- Choices ---===//
  int64_t below(int64_t bound) { return std::uniform_int_distribution<int64_t>(0, bound - 1)(random); }
  bool coin() { return below(2); }
  int64_t extent() { return extents[below(int64_t(extents.size()))]; }
  Shape shapeOfRank(int64_t rank) {
    Shape shape;
    for (int64_t d = 0; d < rank; ++d)
      shape.push_back(extent());
    return shape;
  }
  Shape anyShape() { return shapeOfRank(std::min(below(4), below(5))); }
  double number() { return double(below(9) - 4) / 4; }
  Ex ex(Value value) { return {&builder, loc, value}; }

  /// Late values more often than early ones: chains grow, and rules meet.
  Value any() {
    int64_t count = int64_t(scope.size());
    return scope[coin() ? below(count) : count - 1 - below(std::min<int64_t>(4, count))];
  }
  Value anyOfRank(int64_t least) {
    for (int tries = 0; tries < 12; ++tries)
      if (Value value = any(); typeOf(value).getRank() >= least)
        return value;
    return made(BroadcastOp::create(builder, loc, any0(), shapeOfRank(least), ArrayRef<int64_t>()));
  }
  /// A value of rank 0.
  Value any0() {
    for (Value value : llvm::reverse(scope))
      if (typeOf(value).getRank() == 0 && coin())
        return value;
    return total(any());
  }
  /// A value of that shape: one in scope, or one that is bent to it.
  Value like(ArrayRef<int64_t> shape) {
    for (int tries = 0; tries < 8; ++tries)
      if (Value value = any(); shapeOf(value) == shape)
        return value;
    Value scalar = any0();
    if (shape.empty())
      return scalar;
    return made(ex(BroadcastOp::create(builder, loc, scalar, shape, ArrayRef<int64_t>())) *
                ex(wave(shape)));
  }
  Value made(Value value) {
    scope.push_back(value);
    return value;
  }

  //===--- Pieces ---===//
  /// An array whose elements differ, and that no fold knows to be a splat.
  Value wave(ArrayRef<int64_t> shape) {
    std::vector<double> values;
    for (int64_t i = 0; i < nd::sizeOf(shape); ++i)
      values.push_back(0.25 + double((i * 7 + 3) % 11) / 11);
    return ConstantOp::create(builder, loc,
                              NdArray(shape, Element::f64, std::move(values))
                                  .toAttribute(RankedTensorType::get(shape, builder.getF64Type())));
  }
  Value total(Value x) {
    return tamed(ReduceOp::create(builder, loc, x, ReduceKind::sum, range(0, typeOf(x).getRank())));
  }
  /// Brought back to the size of its terms.
  Value tamed(Value x) { return TanhOp::create(builder, loc, x); }
  Ex positive(Ex x) { return x * x + 0.5; }
  Value condition(Value x) {
    if (typeOf(x).getRank() > 0 && below(3) == 0) {
      // Whole numbers are equal often.
      auto position = IotaOp::create(builder, loc, RankedTensorType::get(shapeOf(x), builder.getI64Type()),
                                     builder.getI64IntegerAttr(0));
      Value pivot = splat(builder, loc, typeOf(position.getResult()), double(below(3)));
      return CompareOp::create(builder, loc, CompareKind(below(6)), position, pivot);
    }
    const CompareKind kinds[] = {CompareKind::lt, CompareKind::gt, CompareKind::le, CompareKind::ge};
    return CompareOp::create(builder, loc, kinds[below(4)], x, like(Shape(shapeOf(x))));
  }
  /// Whole numbers in [0, bound): written, counted, or where a value is largest.
  Value places(ArrayRef<int64_t> shape, int64_t bound) {
    auto type = RankedTensorType::get(shape, builder.getI64Type());
    if (!shape.empty() && below(3) == 0) {
      auto iota = IotaOp::create(builder, loc, type, builder.getI64IntegerAttr(int64_t(shape.size()) - 1));
      return RemOp::create(builder, loc, iota, splat(builder, loc, type, double(bound)));
    }
    if (below(3) == 0) {
      Shape with(shape);
      with.push_back(bound);
      return ArgReduceOp::create(builder, loc, like(with), coin() ? ReduceKind::max : ReduceKind::min,
                                 int64_t(shape.size()));
    }
    std::vector<int64_t> values;
    for (int64_t i = 0; i < nd::sizeOf(shape); ++i)
      values.push_back(below(bound));
    return ConstantOp::create(builder, loc, NdArray(shape, Element::i64, std::move(values)).toAttribute(type));
  }
  SmallVector<int64_t> someDims(int64_t rank) {
    SmallVector<int64_t> dims;
    for (int64_t d = 0; d < rank; ++d)
      if (coin())
        dims.push_back(d);
    return dims;
  }

  //===--- Steps ---===//
  void step() {
    using Step = void (Generator::*)();
    static const std::pair<int, Step> table[] = {
        {6, &Generator::unary},    {7, &Generator::binary},   {2, &Generator::choice},   {2, &Generator::flat},
        {3, &Generator::spread},   {2, &Generator::bend},     {4, &Generator::turn},     {4, &Generator::cut},
        {2, &Generator::pad},      {2, &Generator::join},     {3, &Generator::gather},   {3, &Generator::scatter},
        {5, &Generator::reduce},   {2, &Generator::cumulate}, {2, &Generator::segments}, {4, &Generator::contract},
        {1, &Generator::draw},     {2, &Generator::scan},     {1, &Generator::repeat},   {1, &Generator::branch},
        {2, &Generator::window},   {2, &Generator::order},    {3, &Generator::matrices}, {1, &Generator::transform}};
    int64_t sum = 0;
    for (auto &[weight, step] : table)
      sum += weight;
    int64_t at = below(sum);
    for (auto &[weight, step] : table)
      if ((at -= weight) < 0)
        return (this->*step)();
  }

  void unary() {
    Ex x = ex(any());
    switch (below(15)) {
    case 0: return void(made(-x));
    case 1: return void(made(AbsOp::create(builder, loc, x)));
    case 2: return void(made(SqrtOp::create(builder, loc, positive(x))));
    case 3: return void(made(RsqrtOp::create(builder, loc, positive(x))));
    case 4: return void(made(exp(ex(tamed(x)))));
    case 5: return void(made(Expm1Op::create(builder, loc, tamed(x))));
    case 6: return void(made(log(positive(x))));
    case 7: return void(made(Log1pOp::create(builder, loc, x * x)));
    case 8: return void(made(sin(x)));
    case 9: return void(made(cos(x)));
    case 10: return void(made(SigmoidOp::create(builder, loc, x)));
    case 11: return void(made(ErfOp::create(builder, loc, x)));
    case 12: return void(made(tamed(SubOp::create(builder, loc, x.like(number()), x))));
    case 13: return void(made(x * x.like(number())));
    default: return void(made(tamed(x)));
    }
  }

  void binary() {
    Ex x = ex(any()), y = ex(like(Shape(shapeOf(x))));
    switch (below(10)) {
    case 0: return void(made(x + y));
    case 1: return void(made(x - y));
    case 2: return void(made(tamed(x * y)));
    case 3: return void(made(x / positive(y)));
    case 4: return void(made(tamed(pow(positive(x), ex(tamed(y))))));
    case 5: return void(made(MinOp::create(builder, loc, x, y)));
    case 6: return void(made(MaxOp::create(builder, loc, x, y)));
    case 7: return void(made(RemOp::create(builder, loc, x, positive(y))));
    case 8: return void(made(x - y * ex(wave(shapeOf(x)))));
    default: return void(made(ex(tamed(x)) * y));
    }
  }

  void choice() {
    Value x = any(), y = like(Shape(shapeOf(x))), c = condition(x);
    if (below(3) == 0) {
      Value other = condition(x);
      c = coin() ? Value(AndOp::create(builder, loc, c, NotOp::create(builder, loc, other)))
                 : Value(OrOp::create(builder, loc, c, other));
    }
    if (below(4) == 0)
      return void(made(ex(x) * ex(CastOp::create(builder, loc, c, builder.getF64Type()))));
    made(SelectOp::create(builder, loc, c, x, y));
  }

  /// Steps of a staircase: no derivative passes, by request.
  void flat() {
    Ex x = ex(any());
    Ex scaled = x * 1.7 + 0.3;
    Value steps;
    switch (below(5)) {
    case 0: steps = FloorOp::create(builder, loc, scaled); break;
    case 1: steps = CeilOp::create(builder, loc, scaled); break;
    case 2: steps = RoundOp::create(builder, loc, scaled); break;
    case 3: steps = FloordivOp::create(builder, loc, scaled, x.like(0.75)); break;
    default: steps = SignOp::create(builder, loc, scaled); break;
    }
    made(ex(tamed(x)) * stop(ex(steps)) * 0.25);
  }

  void spread() {
    Value x = any();
    int64_t rank = typeOf(x).getRank();
    if (rank > 2)
      return;
    Shape shape(shapeOf(x));
    SmallVector<int64_t> dims = range(0, rank);
    for (int64_t added = 0, count = 1 + below(3 - rank); added < count; ++added) {
      int64_t at = below(int64_t(shape.size()) + 1);
      shape.insert(shape.begin() + at, extent());
      for (int64_t &dim : dims)
        dim += dim >= at;
    }
    made(BroadcastOp::create(builder, loc, x, shape, dims));
  }

  void bend() {
    Value x = anyOfRank(1);
    Shape shape(shapeOf(x)), flat{nd::sizeOf(shape)};
    if (coin() && shape.size() > 1)
      std::swap(shape.front(), shape.back());
    else if (shape.size() < 3)
      shape.insert(shape.begin() + below(int64_t(shape.size()) + 1), 1);
    Value vector = shape.size() == 1 && coin() ? x : Value(ReshapeOp::create(builder, loc, x, flat));
    if (coin())
      made(vector);
    made(ReshapeOp::create(builder, loc, vector, shape));
  }

  void turn() {
    Value x = anyOfRank(2);
    SmallVector<int64_t> perm = range(0, typeOf(x).getRank());
    std::shuffle(perm.begin(), perm.end(), random);
    Value turned = made(TransposeOp::create(builder, loc, x, perm));
    if (below(3) == 0) {
      std::shuffle(perm.begin(), perm.end(), random);
      made(TransposeOp::create(builder, loc, turned, perm));
    }
  }

  void cut() {
    Value x = anyOfRank(1);
    for (int64_t times = 1 + below(2); times > 0; --times) {
      Shape offsets, sizes, strides;
      for (int64_t size : shapeOf(x)) {
        int64_t offset = below(std::min<int64_t>(2, size)), stride = 1 + below(2),
                most = (size - offset - 1) / stride + 1;
        offsets.push_back(offset);
        strides.push_back(stride);
        sizes.push_back(std::max<int64_t>(1, most - below(2)));
      }
      x = made(SliceOp::create(builder, loc, x, offsets, sizes, strides));
    }
  }

  void pad() {
    Value x = anyOfRank(1);
    Shape low, high;
    for (size_t d = 0; d < shapeOf(x).size(); ++d) {
      low.push_back(below(3));
      high.push_back(below(2));
    }
    made(PadOp::create(builder, loc, x, low, high));
  }

  /// Windows, alone, below a reduction, and as an operand of a product; and sums of their places.
  void window() {
    Value x = anyOfRank(1);
    Shape shape(shapeOf(x)), sizes, strides, dilations, low, high;
    int64_t rank = 1 + below(std::min<int64_t>(2, int64_t(shape.size())));
    Shape extents(ArrayRef<int64_t>(shape).take_back(rank)), lead(ArrayRef<int64_t>(shape).drop_back(rank));
    for (int64_t d = 0; d < rank; ++d) {
      dilations.push_back(1 + below(2));
      low.push_back(below(3));
      high.push_back(below(3));
      sizes.push_back(1 + below(std::min<int64_t>(3, (extents[d] + low[d] + high[d] - 1) / dilations[d] + 1)));
      strides.push_back(coin() ? sizes[d] : 1 + below(3));
    }
    Value seen = WindowOp::create(builder, loc, x, sizes, strides, dilations, low, high);
    if (lead.size() < 2 && coin())
      return correlate(seen, int64_t(lead.size()), rank);
    int64_t first = int64_t(lead.size());
    if (coin())
      return void(made(ReduceOp::create(builder, loc, seen, coin() ? ReduceKind::max : ReduceKind::sum,
                                        range(first, first + rank))));
    made(tamed(UnwindowOp::create(builder, loc, tamed(seen), extents, sizes, strides, dilations, low, high)));
  }

  /// A window with `lead` channels, or none, times filters: the places are the columns of a matrix, or rows of images.
  void correlate(Value seen, int64_t lead, int64_t rank) {
    ArrayRef<int64_t> shape = shapeOf(seen);
    int64_t elements = nd::sizeOf(shape.drop_back(rank)), places = nd::sizeOf(shape.take_back(rank));
    int64_t channels = nd::sizeOf(shape.take_front(lead)), filters = extent();
    if (coin()) {
      Value matrix = ReshapeOp::create(builder, loc, seen, ArrayRef<int64_t>{elements, places});
      return void(made(tamed(ContractOp::create(builder, loc, like(Shape{filters, elements}), matrix, "mk", "kp", "mp"))));
    }
    // Each channel is an image of its own.
    Value images = ReshapeOp::create(builder, loc, seen, ArrayRef<int64_t>{channels, elements / channels, places});
    made(tamed(ContractOp::create(builder, loc, like(Shape{filters, elements / channels}), images, "mk", "nkp",
                                  coin() ? "nmp" : "mnp")));
  }

  void join() {
    Value x = anyOfRank(1), y = like(Shape(shapeOf(x)));
    int64_t dim = below(typeOf(x).getRank());
    Value both = made(ConcatOp::create(builder, loc, ValueRange{x, y}, dim));
    if (coin())
      return;
    // A piece that lies across the seam.
    Shape offsets(shapeOf(x).size(), 0), sizes(shapeOf(x)), strides(sizes.size(), 1);
    offsets[dim] = below(sizes[dim] + 1);
    made(SliceOp::create(builder, loc, both, offsets, sizes, strides));
  }

  void gather() {
    Value x = anyOfRank(1);
    int64_t dim = below(typeOf(x).getRank());
    Shape shape = shapeOfRank(below(typeOf(x).getRank() > 2 ? 2 : 3));
    made(GatherOp::create(builder, loc, x, places(shape, shapeOf(x)[dim]), dim));
  }

  void scatter() {
    Value x = anyOfRank(1);
    int64_t dim = below(typeOf(x).getRank());
    Shape at = shapeOfRank(below(2)), part(shapeOf(x).take_front(dim));
    part.append(at.begin(), at.end());
    part.append(shapeOf(x).begin() + dim + 1, shapeOf(x).end());
    Value indices = places(at, shapeOf(x)[dim]), updates = like(part);
    made(ScatterOp::create(builder, loc, x, indices, updates, coin() ? ScatterMode::add : ScatterMode::set, dim));
  }

  void reduce() {
    Value x = anyOfRank(1);
    SmallVector<int64_t> dims = someDims(typeOf(x).getRank());
    switch (below(5)) {
    case 0: return void(made(ReduceOp::create(builder, loc, x, coin() ? ReduceKind::max : ReduceKind::min, dims)));
    case 1: return void(made(ReduceOp::create(builder, loc, tamed(x), ReduceKind::prod, dims)));
    case 2: {
      Value any = ReduceOp::create(builder, loc, condition(x), coin() ? ReduceKind::any : ReduceKind::all, dims);
      Value y = like(Shape(shapeOf(any)));
      return void(made(SelectOp::create(builder, loc, any, y, ex(y) * 0.5)));
    }
    default: return void(made(tamed(ReduceOp::create(builder, loc, x, ReduceKind::sum, dims))));
    }
  }

  void cumulate() {
    Value x = anyOfRank(1);
    int64_t dim = below(typeOf(x).getRank());
    const ReduceKind kinds[] = {ReduceKind::sum, ReduceKind::prod, ReduceKind::max};
    ReduceKind kind = kinds[below(3)];
    made(tamed(CumulateOp::create(builder, loc, kind == ReduceKind::prod ? tamed(x) : x, kind, dim)));
  }

  void segments() {
    Shape offsets{0};
    for (int64_t left = 1 + below(3); left > 0; --left)
      offsets.push_back(offsets.back() + 1 + below(3));
    Value x = like(Shape{offsets.back()});
    const ReduceKind kinds[] = {ReduceKind::sum, ReduceKind::prod, ReduceKind::max, ReduceKind::min};
    Value parts = made(tamed(SegmentReduceOp::create(builder, loc, tamed(x), kinds[below(4)], offsets)));
    if (coin())
      made(SegmentSpreadOp::create(builder, loc, parts, offsets));
  }

  void contract() {
    // Letters of x get a place in the result, in the sum, or in both operands and the result.
    Value x = anyOfRank(below(3));
    std::string lhs, rhs, out;
    Shape shape;
    for (int64_t size : shapeOf(x)) {
      char letter = char('a' + lhs.size());
      lhs += letter;
      int64_t role = below(3); // 0: in both and summed; 1: in both and kept; 2: in x alone
      if (role < 2) {
        rhs += letter;
        shape.push_back(size);
      }
      if (role > 0)
        out += letter;
    }
    for (int64_t more = below(3); more > 0 && shape.size() < 3 && out.size() < 3; --more) {
      char letter = char('p' + rhs.size());
      int64_t at = below(int64_t(rhs.size()) + 1);
      rhs.insert(rhs.begin() + at, letter);
      shape.insert(shape.begin() + at, extent());
      out.insert(out.begin() + below(int64_t(out.size()) + 1), letter);
    }
    made(tamed(ContractOp::create(builder, loc, x, like(shape), lhs, rhs, out)));
  }

  void draw() {
    Shape shape = anyShape();
    auto words = RankedTensorType::get({4}, builder.getI64Type());
    Value counter = ConstantOp::create(
        builder, loc, NdArray({4}, Element::i64, std::vector<int64_t>{below(5), 0, 0, 0}).toAttribute(words));
    Value base = splat(builder, loc, RankedTensorType::get({}, builder.getI64Type()), double(below(7)));
    Value drawn = DrawOp::create(builder, loc, RankedTensorType::get(shape, builder.getF64Type()),
                                 coin() ? Dist::uniform : Dist::normal, Stream::noise, counter, base,
                                 uint64_t(below(1000)));
    made(ex(like(shape)) * ex(tamed(drawn)));
  }

  //===--- What a routine does ---===//
  /// Elements that differ, so that a small step changes no order.
  Value apart(Value x) { return AddOp::create(builder, loc, x, wave(shapeOf(x))); }

  void order() {
    Value x = apart(anyOfRank(1));
    if (coin()) {
      Value places = ArgSortOp::create(builder, loc, x, uint64_t(below(typeOf(x).getRank())), DenseI64ArrayAttr());
      return void(made(ex(x) + ex(CastOp::create(builder, loc, places, builder.getF64Type())) * 0.125));
    }
    int64_t size = nd::sizeOf(shapeOf(x));
    Value flat = ReshapeOp::create(builder, loc, x, ArrayRef<int64_t>{size});
    Shape offsets{0, below(size + 1), size};
    auto cut = coin() ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(offsets);
    made(GatherOp::create(builder, loc, flat, ArgSortOp::create(builder, loc, flat, uint64_t(0), cut), uint64_t(0)));
  }

  /// A matrix, or several, not far from a diagonal one whose elements are 4 apart.
  Value matrix(ArrayRef<int64_t> batch, int64_t rows, int64_t columns) {
    Shape shape(batch);
    shape.append({rows, columns});
    std::vector<double> values;
    for (int64_t i = 0; i < nd::sizeOf(shape); ++i)
      values.push_back(i / columns % rows == i % columns ? 4 + 4 * double(i % columns) : 0);
    Value diagonal = ConstantOp::create(builder, loc,
                                        NdArray(shape, Element::f64, std::move(values))
                                            .toAttribute(RankedTensorType::get(shape, builder.getF64Type())));
    return ex(tamed(like(shape))) * 0.1 + ex(diagonal);
  }

  void matrices() {
    Shape batch = shapeOfRank(below(2)), right(batch);
    int64_t n = 1 + below(5);
    right.append({n, extent()});
    switch (below(7)) {
    case 0: return void(made(tamed(SolveOp::create(builder, loc, matrix(batch, n, n), like(right)))));
    case 1: return void(made(tamed(TriangularSolveOp::create(builder, loc, matrix(batch, n, n), like(right), coin()))));
    case 2: return void(made(tamed(CholeskyOp::create(builder, loc, matrix(batch, n, n)))));
    case 3: return void(made(ex(LogDetOp::create(builder, loc, matrix(batch, n, n)).getLog()) * 0.25));
    case 4: return someOf(QrOp::create(builder, loc, matrix(batch, n + below(3), n)));
    case 5: return someOf(EighOp::create(builder, loc, matrix(batch, n, n)));
    default: return someOf(SvdOp::create(builder, loc, coin() ? matrix(batch, n + below(3), n) : matrix(batch, n, n + below(3))));
    }
  }
  void someOf(Operation *op) {
    for (Value result : op->getResults())
      if (coin())
        made(tamed(result));
  }

  void transform() {
    Shape shape = shapeOfRank(below(2));
    shape.append({1 + below(8), 2});
    made(tamed(FftOp::create(builder, loc, like(shape), coin())));
  }

  //===--- Regions ---===//
  /// Some steps whose values stay inside; gives values of these shapes.
  SmallVector<Value> inside(ValueRange inner, ArrayRef<Shape> wanted) {
    SmallVector<Value> outer = scope;
    scope.append(inner.begin(), inner.end());
    if (++depth < 3)
      for (int64_t i = 1 + below(3); i > 0; --i)
        step();
    SmallVector<Value> results = llvm::map_to_vector(wanted, [&](const Shape &shape) { return tamed(like(shape)); });
    --depth;
    scope = outer;
    return results;
  }
  /// Code goes into a region for as long as this lives.
  struct Within {
    Within(OpBuilder &builder, OpBuilder &inner) : guard(builder) {
      builder.restoreInsertionPoint(inner.saveInsertionPoint());
    }
    OpBuilder::InsertionGuard guard;
  };

  void scan() {
    int64_t trip = extent();
    Value carry = any(), whole = anyOfRank(1);
    Shape stack = anyShape();
    if (stack.size() == 3)
      stack.pop_back();
    Shape shape(shapeOf(carry)), rows{trip};
    rows.append(shapeOf(whole).begin() + 1, shapeOf(whole).end());
    auto scan = ScanOp::create(
        builder, loc, ValueRange{carry}, ValueRange{like(rows)}, trip, coin(),
        [&](OpBuilder &inner, Location, Value pass, ValueRange carries, ValueRange rows) {
          Within region(builder, inner);
          SmallVector<Value> values{carries[0], rows[0]};
          if (coin())
            values.push_back(ex(CastOp::create(builder, loc, pass, builder.getF64Type())) * 0.25);
          return inside(values, {shape, stack});
        });
    for (Value result : scan.getResults())
      made(result);
  }

  /// Shrinks until small; how often depends on the values.
  void repeat() {
    Value x = any();
    Shape shape(shapeOf(x));
    Value start = ex(tamed(x)) + 2.5;
    auto loop = WhileOp::create(
        builder, loc, ValueRange{start}, 30,
        [&](OpBuilder &inner, Location, ValueRange values) -> Value {
          Ex largest{&inner, loc,
                     ReduceOp::create(inner, loc, values[0], ReduceKind::max, range(0, int64_t(shape.size())))};
          return compare(CompareKind::gt, largest, 0.8);
        },
        [&](OpBuilder &inner, Location, ValueRange values) {
          Within region(builder, inner);
          Value factor = inside(values, {shape})[0];
          return SmallVector<Value>{ex(values[0]) * (ex(factor) * 0.1 + 0.75)};
        });
    made(loop->getResult(0));
    Value passes = CastOp::create(builder, loc, loop->getResult(1), builder.getF64Type());
    made(ex(passes) * 0.1);
  }

  void branch() {
    Value c = condition(any0());
    Shape shape = anyShape();
    auto cond = CondOp::create(
        builder, loc, c,
        [&](OpBuilder &inner, Location) {
          Within region(builder, inner);
          return inside({}, {shape});
        },
        [&](OpBuilder &inner, Location) {
          Within region(builder, inner);
          return inside({}, {shape});
        });
    made(cond->getResult(0));
  }

  /// The last values, and some in the middle.
  SmallVector<Value> someResults() {
    SmallVector<Value> results;
    for (Value value : llvm::reverse(scope))
      if (results.size() < 2 || (results.size() < 5 && below(4) == 0))
        results.push_back(value);
    return results;
  }

  std::mt19937_64 random;
  OpBuilder builder;
  Location loc;
  Shape extents;
  SmallVector<Value> scope;
  int depth = 0;
};

} // namespace

OwningOpRef<ModuleOp> makeRandomProgram(MLIRContext &context, uint64_t seed, uint64_t index) {
  return Generator(context, seed * 1'000'003 + index).make();
}

std::vector<NdArray> makeInputs(func::FuncOp function, uint64_t seed) {
  std::vector<NdArray> inputs;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    std::mt19937_64 random(seed * 97 + i);
    auto tensor = cast<RankedTensorType>(type);
    std::vector<double> values(tensor.getNumElements());
    for (double &value : values)
      value = std::uniform_real_distribution<double>(-1.5, 1.5)(random);
    inputs.emplace_back(tensor.getShape(), nd::elementOf(tensor), std::move(values));
  }
  return inputs;
}

} // namespace dyn::fuzz
