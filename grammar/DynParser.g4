// Dyn (docs/language.md). Reads the tokens that the newline filter has passed (frontend/parse/Tokens.cpp): an NL
// that arrives here ends a statement, so NL or SEMI between statements is mandatory. No actions, no predicates.
//
// Lists of lines have the form  item? (sep item?)*  so that one token decides at each place between items:
// error recovery (frontend/parse/Errors.cpp) resumes there.

parser grammar DynParser;
options { tokenVocab = DynLexer; }

program : declaration? (sep declaration?)* EOF ;

sep : NL | SEMI ;

// What a person enters at once in a session (dync repl).
entry : entryItem? (sep entryItem?)* EOF ;

entryItem
  : declaration                                                                                     # enteredDecl
  | RUN name EQ variant                                                                             # enteredRun
  | RUN variant                                                                                     # enteredNamelessRun
  | SWEEP name EQ variant                                                                           # enteredSweep
  | EXPECT value                                                                                    # enteredExpect
  | value                                                                                           # enteredValue
  ;

// ---- Declarations ----

declaration
  : USE STRING                                                                                      # useDecl
  | function                                                                                        # fnDecl
  | MODEL name parameters parameters? (ARROW typeRef)? body                                         # modelDecl
  | ruleKind name parameters? ruleHead* body                                                        # ruleDecl
  | DATA name parameters? EQ value dataItems? dataTail*                                             # dataDecl
  | ENV name parameters? block                                                                      # envDecl
  | TRAIN name parameters? clauses                                                                  # trainDecl
  | EXPERIMENT name parameters? block                                                               # experimentDecl
  | binding                                                                                         # constantDecl
  ;

function : FN name parameters (ARROW typeRef)? body backward? ;

backward : BACKWARD LPAREN name (COMMA name)* RPAREN body ;

body
  : EQ value                                                                                        # valueBody
  | block                                                                                           # blockBody
  ;

parameters : LPAREN (parameter (COMMA parameter)*)? RPAREN ;

parameter : LIVE? name (COLON typeRef)? (EQ value)? ;

ruleKind
  : ESTIMATOR | PRIVACY | COMBINER | CLIP | COMPRESSOR | ATTACK | AGGREGATOR | OPTIMIZER | REGULARIZER
  | SCHEDULE | SAMPLER | FEDERATED | DECENTRAL | PROBE
  ;

ruleHead
  : BOUNDS logic                                                                                    # boundsHead
  | PER name                                                                                        # perHead
  | OVER name                                                                                       # overHead
  | ON pattern                                                                                      # onHead
  ;

// Which leaves, models or sets a rule is for.
pattern
  : shape                                                                                           # shapePattern
  | STRING                                                                                          # pathPattern
  | MODULE name recordType                                                                          # modulePattern
  | reference                                                                                       # namedPattern
  ;

dataItems : LBRACE dataItem? (sep dataItem?)* RBRACE ;

dataItem : FIXED? binding ;

dataTail
  : SPLIT LPAREN argument (COMMA argument)* RPAREN                                                  # splitTail
  | SEED arith                                                                                      # seedTail
  ;

// ---- Types ----

typeRef
  : FN LPAREN (typeRef (COMMA typeRef)*)? RPAREN ARROW typeRef                                      # functionType
  | recordType                                                                                      # recordOf
  | shape                                                                                           # realArray
  | name (LPAREN value (COMMA value)* RPAREN)? shape?                                               # namedType
  ;

shape : LBRACK (arith (COMMA arith)*)? RBRACK ;

recordType : LBRACE NL? field (COMMA field)* NL? RBRACE ;

field : name COLON typeRef ;

// ---- Trains ----

clauses : LBRACE clause? (sep clause?)* RBRACE ;

clause
  : DATA source (COMMA source)*                                                                     # dataClause
  | MODEL instance (COMMA instance)*                                                                # modelClause
  | LOSS (name EQ)? value                                                                           # lossClause
  | ruleKind (name EQ)? value ruleOption*                                                           # ruleClause
  | EVAL (name EQ)? value evalOption* evalItems                                                     # evalClause
  | CHECKPOINT timing                                                                               # checkpointClause
  | setting value                                                                                   # settingClause
  | PARTICIPATION value POISSON?                                                                    # participationClause
  | CLIENTS value (PARTITION value? (BY reference)?)?                                               # clientsClause
  | SHARED value                                                                                    # sharedClause
  | FROZEN STRING                                                                                   # frozenClause
  | SEED seeds                                                                                      # seedClause
  | EXPECT value                                                                                    # expectClause
  | EMIT named (COMMA named)*                                                                       # emitClause
  | PHASE name (FOR arith clock | UNTIL logic LIMIT arith clock) clauses                            # phaseClause
  | WHEN logic block                                                                                # whenClause
  | AT name arith? block                                                                            # atClause
  | STOP WHEN logic                                                                                 # stopClause
  | STEP block                                                                                      # stepClause
  | IF logic clauses (ELSE clauses)?                                                                # ifClause
  | leafDef                                                                                         # leafClause
  | stateDef                                                                                        # stateClause
  | function                                                                                        # fnClause
  | binding                                                                                         # localClause
  ;

setting : EPOCHS | STEPS | ROUNDS | PRECISION | ARRIVAL | GRAPH | WORKERS ;

source : (name EQ)? value sourceOption* ;

sourceOption
  : BATCH arith (UPTO arith (BY arith)?)?                                                           # batchOption
  | ALL                                                                                             # allOption
  | SHUFFLE                                                                                         # shuffleOption
  | DROP                                                                                            # dropOption
  | POISSON                                                                                         # poissonOption
  ;

instance : name EQ value (FROM value block?)? (FOR CLIENTS value)? ;

ruleOption
  : ON pattern                                                                                      # onOption
  | ON arith CLIENTS                                                                                # clientsOption
  | EXCEPT STRING                                                                                   # exceptOption
  | OTHERWISE                                                                                       # otherwiseOption
  | PER name                                                                                        # perOption
  | timing                                                                                          # timingOption
  ;

timing
  : EVERY arith? clock                                                                              # everyTiming
  | AT value                                                                                        # atTiming
  ;

clock : STEP | STEPS | EPOCH | EPOCHS | ROUND | ROUNDS | EXAMPLE | EXAMPLES | SECOND | SECONDS ;

evalOption
  : PER name                                                                                        # perEval
  | PARTITION value? BY reference                                                                   # partitionEval
  | timing                                                                                          # timedEval
  ;

evalItems : LBRACE evalItem? (sep evalItem?)* RBRACE ;

evalItem : name EQ EACH? value (BY reference)? ;

seeds
  : named (COMMA named)*                                                                            # seedStreams
  | value                                                                                           # oneSeed
  ;

// ---- Statements ----

block : LBRACE statement? (sep statement?)* RBRACE ;

statement
  : binding                                                                                         # bindingStmt
  | name (DOT name | LBRACK index (COMMA index)* RBRACK)+ EQ value                                  # placedStmt
  | postfix LARROW value                                                                            # writeStmt
  | stateDef                                                                                        # stateStmt
  | leafDef                                                                                         # leafStmt
  | function                                                                                        # fnStmt
  | ifStatement                                                                                     # ifStmt
  | FOR name IN logic block                                                                         # forStmt
  | WHILE logic LIMIT arith block                                                                   # whileStmt
  | REPEAT arith block                                                                              # repeatStmt
  | RETURN value (AS label)?                                                                        # returnStmt
  | YIELD value                                                                                     # yieldStmt
  | EMIT named (COMMA named)*                                                                       # emitStmt
  | SEND named (COMMA named)*                                                                       # sendNamedStmt
  | SEND value                                                                                      # sendStmt
  | MINIMIZE value ON reference (COMMA reference)* WITH reference                                   # minimizeStmt
  | place block                                                                                     # placeStmt
  | RESTORE LAST CHECKPOINT                                                                         # restoreStmt
  | RUN name EQ variant                                                                             # runStmt
  | SWEEP name EQ variant                                                                           # sweepStmt
  | EXPECT value                                                                                    # expectStmt
  | PLOT value (COMMA value)* (OVER value)? (BY name)?                                              # plotStmt
  | SEED seeds                                                                                      # seedStmt
  | postfix                                                                                         # callStmt  // must be a call with an effect
  ;

binding
  : name EQ value (AS label)?                                                                       # local
  | name COLON typeRef EQ value (AS label)?                                                         # typedLocal
  | name (COLON typeRef)? TILDE value                                                               # drawn
  ;

label : name (LBRACK index (COMMA index)* RBRACK)? ;

stateDef : name? STATE name (COLON typeRef)? (EQ | TILDE) value ;

leafDef : (PARAM | FROZEN) name COLON typeRef (EQ | TILDE) value ;

ifStatement : IF logic block (ELSE (block | ifStatement))? ;

place : CLIENT | SERVER | NODE | LINK ;

named : name EQ value ;

variant
  : FORK reference AT STEP arith change*                                                            # forkVariant
  | value change*                                                                                   # trainVariant
  ;

change
  : WITH part (COMMA part)*                                                                         # withChange
  | WITHOUT path (COMMA path)*                                                                      # withoutChange
  ;

part
  : path EQ value (ruleOption | sourceOption)*                                                      # setPart
  | path IN value                                                                                   # sweptPart
  ;

path : name (DOT name)* ;

// ---- Values ----
//
// Conditions, collected loops and closures reach as far right as they can; as operands they stand in ( ).

value
  : IF logic THEN value ELSE value                                                                  # conditional
  | FOR name IN logic block                                                                         # collected
  | name ARROW value                                                                                # closure
  | LPAREN (name (COMMA name)*)? RPAREN ARROW value                                                 # closureOfMany
  | logic                                                                                           # plain
  ;

logic
  : NOT logic                                                                                       # negated
  | logic AND logic                                                                                 # conjunction
  | logic OR logic                                                                                  # disjunction
  | test                                                                                            # testing
  ;

test : span ((EQEQ | NE | LT | LE | GT | GE) span)? ;

span : arith (RANGE arith)? ;

arith
  : arith (STAR | SLASH | DSLASH | PERCENT | MATMUL) arith                                          # multiplied
  | arith (PLUS | MINUS) arith                                                                      # added
  | unary                                                                                           # term
  ;

unary
  : MINUS unary                                                                                     # negative
  | postfix (HAT unary)?                                                                            # power
  ;

postfix
  : postfix DOT (name | NUMBER)                                                                     # member  // a number: `params.net.dense.0.W`
  | postfix LPAREN (argument (COMMA argument)*)? RPAREN                                             # call
  | postfix LBRACK index (COMMA index)* RBRACK                                                      # indexed
  | atom                                                                                            # simple
  ;

// A postfix chain that starts at a name: what `on`, `with`, `by` point at.
reference : name (DOT name | LPAREN (argument (COMMA argument)*)? RPAREN | LBRACK index (COMMA index)* RBRACK)* ;

argument : (name EQ)? (value | slicing) ;

index : value | slicing ;

slicing : value? COLON value? ;

atom
  : NUMBER                                                                                          # number
  | STRING                                                                                          # string
  | (TRUE | FALSE)                                                                                  # truth
  | NONE                                                                                            # nothing
  | name                                                                                            # variable
  | LPAREN named (COMMA named)* RPAREN                                                              # record
  | LPAREN value (COMMA value)* RPAREN                                                              # group  // one: brackets; more: a tuple of names or numbers
  | LBRACK value FOR name IN logic RBRACK                                                           # comprehension
  | LBRACK (value (COMMA value)*)? RBRACK                                                           # array
  ;

name
  : IDENT
  | MODEL | DATA | ENV | TRAIN | EXPERIMENT | ESTIMATOR | PRIVACY | COMBINER | CLIP | COMPRESSOR | ATTACK
  | AGGREGATOR | OPTIMIZER | REGULARIZER | SCHEDULE | SAMPLER | FEDERATED | DECENTRAL | PROBE
  | BOUNDS | MODULE | LIVE | STATE | PARAM | FROZEN | FIXED | CLIENT | SERVER | NODE | LINK | EMIT | SEND
  | MINIMIZE | RESTORE | LAST | AS | ON | OVER | PER | BY
  | LOSS | EVAL | EACH | CHECKPOINT | PARTICIPATION | ARRIVAL | GRAPH | WORKERS | PRECISION | SHARED | CLIENTS
  | PARTITION | SEED | EXPECT | PHASE | UNTIL | WHEN | AT | EVERY | STOP | BATCH | ALL | UPTO | SHUFFLE | DROP | POISSON
  | SPLIT | EXCEPT | OTHERWISE | FROM
  | STEP | STEPS | EPOCH | EPOCHS | ROUND | ROUNDS | EXAMPLE | EXAMPLES | SECOND | SECONDS
  | RUN | SWEEP | FORK | WITH | WITHOUT | PLOT
  ;
