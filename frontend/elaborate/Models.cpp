//===- Models.cpp - instances, their calls and parameters -----------------===//
#include "frontend/elaborate/Elaborator.h"
#include "frontend/elaborate/Stacks.h"

using namespace mlir;

namespace dyn::elab {

Value Elaborator::instantiateModel(const ast::ModelDecl &decl, const std::vector<ast::Argument> &args, Span span,
                                   Frame &frame) {
  auto instance = std::make_shared<Instance>();
  instance->decl = &decl;
  instance->hyper = std::make_shared<Scope>(globals);
  // One list of parameters is the inputs: with inputs the call runs a new instance, without it only makes one.
  if (!decl.hyperparameters.written)
    return args.empty() ? Value(instance, span) : callInstance(*instance, args, span, frame);
  if (!bind(decl.hyperparameters, args, instance->hyper, frame, NameKind::Hyperparameter, "`" + decl.name.text + "`",
            span))
    return {};
  return Value(instance, span);
}

void Elaborator::placeInstance(Instance &instance, const std::string &name, Frame &frame) {
  if (instance.path.empty())
    instance.path = (frame.self && !frame.self->path.empty() ? frame.self->path + "." : "") + name;
}

Value Elaborator::callInstance(Instance &instance, const std::vector<ast::Argument> &args, Span span, Frame &frame) {
  const std::string &name = instance.decl->name.text;
  if (instance.path.empty()) {
    if (frame.inRuntimeBranch) {
      diags.report(Diag::anonymous_in_loop, span, name).help("bind it before the loop: `layer = " + name + "(…)`");
      return {};
    }
    std::string place = frame.self ? name + "." + std::to_string(frame.self->calls[name]++) : name;
    placeInstance(instance, place, frame);
  }
  InstantiationScope chain(diags, name + " as `" + instance.path + "`", span);
  auto scope = std::make_shared<Scope>(instance.hyper);
  if (!bind(instance.decl->inputs, args, scope, frame, NameKind::Local, "`" + name + "`", span))
    return {};
  instance.calls.clear();
  Frame inner{scope, &instance, instance.path};
  inner.passes = frame.passes;
  auto outerParams = readParam;
  const Tensor *outerTree = keptTree;
  const Tensor *tree = instance.at ? instance.at->as<Tensor>() : nullptr;
  if (tree && !mlir::cast<ir::TreeAttr>(ir::rangeOf(tree->type().getEncoding())).getPaths().empty())
    keptTree = tree;
  else if (tree)
    readParam = [this, &instance, span](ParamInfo &info) { return leafAt(instance, info, span); };
  Value result = runBody(instance.decl->body, inner, span, "`" + name + "`");
  readParam = std::move(outerParams);
  keptTree = outerTree;
  if (onModelDone && !result.isInvalid())
    onModelDone(instance, *scope, span);
  if (instance.decl->result && !result.isInvalid()) {
    auto typed = conform(result, *instance.decl->result, scope, "the result of `" + name + "`", inner.resultSpan);
    return typed ? *typed : Value();
  }
  return result;
}

Value Elaborator::instanceAt(const Instance &instance, const std::vector<ast::Argument> &args, Span span, Frame &frame) {
  if (args.size() != 1 || args.front().name) {
    diags.report(Diag::recast, span, "at", "one tree of parameters", describeArguments(args.size()));
    return {};
  }
  auto made = std::make_shared<Instance>(instance);
  Value tree = evaluate(*args.front().value, frame);
  // A first pass only finds the parameters.
  if (tree.isInvalid())
    return discovering && !hasFailed() ? Value(made, span) : Value();
  auto *t = tree.as<Tensor>();
  if (!t || !isa_and_present<ir::TreeAttr>(ir::rangeOf(t->type().getEncoding())) || isStackOfTrees(t->type())) {
    diags.report(Diag::recast, args.front().span, "at", "a tree of parameters", describe(tree));
    return {};
  }
  made->at = std::make_shared<Value>(tree);
  return Value(made, span);
}

/// A parameter of `net.at(p)`: its part of a whole tree, or of the tree of the model's own parameters.
mlir::Value Elaborator::leafAt(const Instance &instance, ParamInfo &info, Span span) {
  const Tensor &tree = *instance.at->as<Tensor>();
  auto encoding = mlir::cast<ir::TreeAttr>(ir::rangeOf(tree.type().getEncoding()));
  std::vector<ParamInfo *> leaves = leavesBelow("");
  if (encoding.getShapes().size() != leaves.size())
    leaves = leavesBelow(llvm::StringRef(instance.path).split('.').first.str());
  size_t at = llvm::find(leaves, &info) - leaves.begin();
  if (at == leaves.size() || encoding.getShapes().size() != leaves.size() ||
      encoding.getShapes()[at].asArrayRef() != ArrayRef<int64_t>(info.shape)) {
    diags.report(Diag::no_leaf, span, info.path).help("`" + instance.path + ".at` takes a tree like `" + instance.path + ".params`");
    auto type = RankedTensorType::get(info.shape, realType);
    return full(0, type, false, span).as<Tensor>()->value;
  }
  SmallVector<int64_t> offsets = encoding.offsets();
  auto flat = create<ir::RecastOp>(span, ir::withRange(tree.type(), {}), tree.value);
  auto part = create<nd::SliceOp>(span, flat, ArrayRef<int64_t>{offsets[at]},
                                  ArrayRef<int64_t>{offsets[at + 1] - offsets[at]}, ArrayRef<int64_t>{1});
  return create<nd::ReshapeOp>(span, part, ArrayRef<int64_t>(info.shape));
}

/// The path of a parameter or a state of the model that runs.
static std::string pathIn(const Frame &frame, const ast::Ident &name) {
  return (frame.self && !frame.self->path.empty() ? frame.self->path + "." : "") + name.text;
}

void Elaborator::bindKept(const ast::Ident &name, NameKind kind, Frame &frame) {
  frame.scope->define(name.text, leafOf(*keptTree, pathIn(frame, name), name.span), kind, name.span);
}

void Elaborator::declareParam(const ast::LeafStmt &stmt, Frame &frame) {
  if (keptTree)
    return bindKept(stmt.name, NameKind::Param, frame);
  if (!frame.self && !mayDeclareParams && paramsByPath.empty())
    return notHere(stmt.span, "`param`");
  auto refused = [&] { frame.scope->define(stmt.name.text, Value(), NameKind::Param, stmt.name.span); };
  // An experiment has no parameters.
  if (!readParam) {
    notHere(stmt.span, "a model with parameters");
    return refused();
  }
  std::string path = pathIn(frame, stmt.name);
  SmallVector<int64_t> shape;
  Elem elem = Elem::Real;
  if (!stmt.type || !declaredShape(*stmt.type, frame.scope, shape, elem))
    return refused();
  if (elem != Elem::Real) {
    diags.report(Diag::param_not_real, stmt.type->span, stmt.name.text);
    return refused();
  }
  ParamInfo *&info = paramsByPath[path];
  if (info && info->shape != shape) {
    diags.report(Diag::param_shape_changed, stmt.span, path, describeShape(info->shape), describeShape(shape))
        .note(info->from, "first made here");
    return refused();
  }
  if (!info && !mayDeclareParams) {
    notHere(stmt.span, ("`" + path + "`, which the loss does not use,").c_str());
    paramsByPath.erase(path);
    return refused();
  }
  if (!info) {
    params.push_back(std::make_unique<ParamInfo>());
    info = params.back().get();
    info->path = path;
    info->shape = shape;
    info->decl = &stmt;
    info->frozen = stmt.frozen;
    info->scope = std::make_shared<Scope>(*frame.scope);
    info->from = stmt.span;
  }
  frame.scope->define(stmt.name.text, Value(Tensor{readParam(*info), false, 0}, stmt.name.span), NameKind::Param,
                      stmt.name.span);
}

} // namespace dyn::elab
