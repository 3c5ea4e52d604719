//===- Ast.h - The syntax tree of Dyn ---------------------------*- C++ -*-===//
//
// What a file says, before anything is known about it: names are strings, options stand in written order,
// nothing is resolved. A parent owns its children; every node has a span. The comment of a struct is its
// surface syntax, where [ ] is optional, … repeats and | separates choices.
//
// Kinds are tested with isa / cast / dynCast. Depth is limited by the parser, so recursion over a parsed
// tree is safe.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/AstBase.h"
#include "frontend/AstDecl.h"
#include "frontend/AstExpr.h"
#include "frontend/AstStmt.h"
