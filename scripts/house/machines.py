"""No `Bool` beside a state: what a machine of the core remembers is in the cases of its state.

A machine is a type of LayoverCore that has one of these:

- a stored variable of an enum of its own, `State` or `Phase`;
- `mutating` functions, and a stored variable of a shared enum `…State` or `…Phase`, or of a type `…Machine`;
- a name that ends in `Machine`.

A Bool that is `let` is no state. `ON_LIST` has the machines that store Bools, with how many.
"""

import re

from house.mutable_types import Types, all_types, key_of
from house.shrinking import compared

TARGET = "LayoverCore"
# The phase of a failure is where an attempt ended: it describes the past and is no state.
NO_MACHINES = {"LayoverCore.Failure"}
TYPE = re.compile(r"(?:\w+\.)*([A-Z]\w*)\??")
# `var state = State.idle`, `var machine = ExchangeMachine(…)`
TYPE_OF_VALUE = re.compile(r"(?:[A-Z]\w*\.)*([A-Z]\w*)(?=[.(]|$)")

ON_LIST = {
    "LayoverCore.Entry": 4,
    "LayoverCore.KeyReservations.Reservation": 4,
    "LayoverCore.Reachability": 2,
}


def breaches(tree, listed=None):
    return compared(
        bools_beside_state(tree.sources), ON_LIST if listed is None else listed, 0,
        "stores Bools beside its state ({number}): let them be data of its cases", "machines.py")


def bools_beside_state(sources):
    """`{machine: (number of its Bools, file, line of the first one)}`."""
    core = [file for file in sources if file.target == TARGET]
    mutating = Types(core).mutating
    enums = {each.name.split(".")[-1] for _, each, _ in all_types(core) if each.kind == "enum"}
    found = {}
    for file, each, path in all_types(core):
        key = key_of(file, each, path)
        variables = [one for one in each.properties if one.keyword == "var" and one.is_of_value]
        states = {state_of(one, enums) for one in variables} - {None}
        is_machine = each.name.endswith("Machine") or states & {"State", "Phase"} or states and key in mutating
        bools = [one for one in variables if is_bool(one)]
        if is_machine and bools and key not in NO_MACHINES:
            found[key] = (len(bools), file.name, file.line(bools[0].start))
    return found


def state_of(variable, enums):
    """Name of the variable's type if that is a state or a machine."""
    match = TYPE.fullmatch(variable.type) if variable.type else TYPE_OF_VALUE.match(variable.value)
    name = match[1] if match else ""
    return name if name.endswith("Machine") or name.endswith(("State", "Phase")) and name in enums else None


def is_bool(variable):
    return variable.type in ("Bool", "Bool?") or not variable.type and variable.value in ("true", "false")
