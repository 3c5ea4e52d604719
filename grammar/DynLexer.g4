// Words and marks of Dyn (docs/language.md, "Lines and words").
//
// A line end is always the token NL here. Which of them end a statement is decided by a filter between lexer
// and parser (frontend/parse/Tokens.cpp), so this grammar has no code of any target. No input fails to lex:
// what is no token becomes UNCLOSED_STRING or UNKNOWN, which the same filter reports and takes out.

lexer grammar DynLexer;

// Reserved everywhere.
FN : 'fn' ;
IF : 'if' ;
THEN : 'then' ;
ELSE : 'else' ;
FOR : 'for' ;
IN : 'in' ;
WHILE : 'while' ;
LIMIT : 'limit' ;
REPEAT : 'repeat' ;
RETURN : 'return' ;
YIELD : 'yield' ;
AND : 'and' ;
OR : 'or' ;
NOT : 'not' ;
TRUE : 'true' ;
FALSE : 'false' ;
NONE : 'none' ;
USE : 'use' ;
BACKWARD : 'backward' ;

// Contextual: a keyword only where the parser asks for one; `name` in the parser lists them all.
// Declarations and rule kinds
MODEL : 'model' ;
DATA : 'data' ;
ENV : 'env' ;
TRAIN : 'train' ;
EXPERIMENT : 'experiment' ;
ESTIMATOR : 'estimator' ;
PRIVACY : 'privacy' ;
COMBINER : 'combiner' ;
CLIP : 'clip' ;
COMPRESSOR : 'compressor' ;
ATTACK : 'attack' ;
AGGREGATOR : 'aggregator' ;
OPTIMIZER : 'optimizer' ;
REGULARIZER : 'regularizer' ;
SCHEDULE : 'schedule' ;
SAMPLER : 'sampler' ;
FEDERATED : 'federated' ;
DECENTRAL : 'decentral' ;
PROBE : 'probe' ;
// Parts of rules and statements
BOUNDS : 'bounds' ;
MODULE : 'module' ;
LIVE : 'live' ;
STATE : 'state' ;
PARAM : 'param' ;
FROZEN : 'frozen' ;
FIXED : 'fixed' ;
CLIENT : 'client' ;
SERVER : 'server' ;
NODE : 'node' ;
LINK : 'link' ;
EMIT : 'emit' ;
SEND : 'send' ;
MINIMIZE : 'minimize' ;
RESTORE : 'restore' ;
LAST : 'last' ;
AS : 'as' ;
ON : 'on' ;
OVER : 'over' ;
PER : 'per' ;
BY : 'by' ;
// Clauses of a train and their parts
LOSS : 'loss' ;
EVAL : 'eval' ;
EACH : 'each' ;
CHECKPOINT : 'checkpoint' ;
PARTICIPATION : 'participation' ;
ARRIVAL : 'arrival' ;
GRAPH : 'graph' ;
WORKERS : 'workers' ;
PRECISION : 'precision' ;
SHARED : 'shared' ;
CLIENTS : 'clients' ;
PARTITION : 'partition' ;
SEED : 'seed' ;
EXPECT : 'expect' ;
PHASE : 'phase' ;
UNTIL : 'until' ;
WHEN : 'when' ;
AT : 'at' ;
EVERY : 'every' ;
STOP : 'stop' ;
BATCH : 'batch' ;
ALL : 'all' ;
UPTO : 'upto' ;
SHUFFLE : 'shuffle' ;
DROP : 'drop' ;
POISSON : 'poisson' ;
SPLIT : 'split' ;
EXCEPT : 'except' ;
OTHERWISE : 'otherwise' ;
FROM : 'from' ;
// Clocks
STEP : 'step' ;
STEPS : 'steps' ;
EPOCH : 'epoch' ;
EPOCHS : 'epochs' ;
ROUND : 'round' ;
ROUNDS : 'rounds' ;
EXAMPLE : 'example' ;
EXAMPLES : 'examples' ;
SECOND : 'second' ;
SECONDS : 'seconds' ;
// Experiments
RUN : 'run' ;
SWEEP : 'sweep' ;
FORK : 'fork' ;
WITH : 'with' ;
WITHOUT : 'without' ;
PLOT : 'plot' ;

LARROW : '<-' ;
ARROW : '->' ;
EQEQ : '==' ;
NE : '!=' ;
LE : '<=' ;
GE : '>=' ;
LT : '<' ;
GT : '>' ;
EQ : '=' ;
TILDE : '~' ;
PLUS : '+' ;
MINUS : '-' ;
STAR : '*' ;
DSLASH : '//' ;
SLASH : '/' ;
PERCENT : '%' ;
MATMUL : '@' ;
HAT : '^' ;
RANGE : '..' ;
DOT : '.' ;
COMMA : ',' ;
COLON : ':' ;
SEMI : ';' ;
LPAREN : '(' ;
RPAREN : ')' ;
LBRACK : '[' ;
RBRACK : ']' ;
LBRACE : '{' ;
RBRACE : '}' ;

NUMBER
  : '0x' [0-9a-fA-F] [0-9a-fA-F_]*
  | [0-9] [0-9_]* ('.' [0-9] [0-9_]*)? ([eE] [+-]? [0-9]+)?      // no bare dot at the end: `0..8` is a range
  ;
STRING : '"' (~["\\\r\n] | '\\' ~[\r\n])* '"' ;
UNCLOSED_STRING : '"' (~["\\\r\n] | '\\' ~[\r\n])* '\\'? ;
IDENT : [\p{L}_] [\p{L}\p{Nd}_]* ;

NL : '\r'? '\n' ;
COMMENT : '#' ~[\r\n]* -> channel(HIDDEN) ;                      // hidden, not skipped: docs are read from it
WS : [ \t]+ -> skip ;
UNKNOWN : . ;
