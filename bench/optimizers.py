"""The elementwise optimizers that `bench/run optimizers` measures, and who stands beside them.

One row a rule: the clause of ours, its counterpart in torch.optim (class, arguments) and in optax (function,
arguments), or None where the library has none. Rates are chosen so that a step changes little: only time is measured.
"""

LR = 1e-6

ROWS = {
    "sgd": (f"sgd(lr={LR})", ("SGD", {}), ("sgd", {})),
    "momentum": (f"momentum(lr={LR})", ("SGD", {"momentum": 0.9}), ("sgd", {"momentum": 0.9})),
    "nesterov": (f"nesterov(lr={LR})", ("SGD", {"momentum": 0.9, "nesterov": True}), ("sgd", {"momentum": 0.9, "nesterov": True})),
    "adam": (f"adam(lr={LR})", ("Adam", {}), ("adam", {})),
    "adamw": (f"adamw(lr={LR})", ("AdamW", {}), ("adamw", {})),
    "amsgrad": (f"amsgrad(lr={LR})", ("Adam", {"amsgrad": True}), ("amsgrad", {})),
    "nadam": (f"nadam(lr={LR})", ("NAdam", {}), ("nadam", {})),
    "radam": (f"radam(lr={LR})", ("RAdam", {}), ("radam", {})),
    "adamax": (f"adamax(lr={LR})", ("Adamax", {}), ("adamax", {})),
    "adagrad": (f"adagrad(lr={LR})", ("Adagrad", {}), ("adagrad", {})),
    "adadelta": (f"adadelta(lr={LR})", ("Adadelta", {}), ("adadelta", {})),
    "rmsprop": (f"rmsprop(lr={LR})", ("RMSprop", {}), ("rmsprop", {})),
    "rprop": (f"rprop(lr={LR})", ("Rprop", {}), ("rprop", {})),
    "adabelief": (f"adabelief(lr={LR})", None, ("adabelief", {})),
    "yogi": (f"yogi(lr={LR})", None, ("yogi", {})),
    "adan": (f"adan(lr={LR})", None, ("adan", {})),
    "lion": (f"lion(lr={LR})", None, ("lion", {})),
    "signsgd": (f"signsgd(lr={LR})", None, ("sign_sgd", {})),
    "signum": (f"signum(lr={LR})", None, ("signum", {})),
    "ademamix": (f"ademamix(lr={LR})", None, ("contrib.ademamix", {})),
    "adopt": (f"adopt(lr={LR})", None, ("contrib.adopt", {})),
    "madgrad": (f"madgrad(lr={LR})", None, ("contrib.madgrad", {})),
}


def lengths(count, leaves):
    """As mixedLeaves in CompiledUpdate.cpp: between one and thirteen parts."""
    parts = [1 + 5 * i % 13 for i in range(leaves)]
    sizes = [count * part // sum(parts) for part in parts]
    sizes[-1] += count - sum(sizes)
    return sizes
