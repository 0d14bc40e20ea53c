"""How functions are compiled: each step is translated alone, and an entry links all of them and is optimised once.

numba would optimise every function together with all that it calls, and make machine code of it: a function nine calls
deep nine times over, three quarters of the time that the engine took to compile. Only entries are called from outside,
so a step is translated to LLVM's language and left at that.

This is numba's own extension point (``pipeline_class``), on its internals: they are those of the version in the lock.
"""

from __future__ import annotations

from itertools import count
from typing import Any

from numba._dynfunc import make_function
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

NO_ADDRESS = 0
"""Where a step's machine code would begin: Python cannot call it."""
OF_NUMBA = -1
"""Stands for the number of a step: numba's own functions call no step."""

_numbers = count()


class StepLibrary(JITCodeLibrary):
    """A step's code as translated. Its number is higher than those of all that it calls."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.number = OF_NUMBA

    def finalize(self) -> None:
        """Nothing is optimised, linked or made machine code of."""
        self._raise_if_finalized()
        self._finalized = True


class EntryLibrary(JITCodeLibrary):
    """An entry's code, and all that it calls, directly or not."""

    def finalize(self) -> None:
        """Link callers before what they call: LLVM leaves out what nothing has asked for so far."""
        self._linking_libraries.sort(key=lambda library: -getattr(library, "number", OF_NUMBA))
        super().finalize()

    def _optimize_final_module(self) -> None:
        """Nobody else calls what was linked: LLVM may compile a step that has one caller into it, however long."""
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage.name == "linkonce_odr":
                function.linkage = "internal"
        super()._optimize_final_module()


@register_pass(mutates_CFG=True, analysis_only=False)
class StepLowering(NativeLowering):
    """Translates to a ``StepLibrary``, and has callers link that and all that it calls."""

    _name = "step_lowering"

    def run_pass(self, state: Any) -> bool:
        """In place of ``NativeLowering``."""
        library = state.library = StepLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        library.number = next(_numbers)  # what it calls has been compiled by now
        lowered = state["cr"]
        handle = handle_of(lowered, library)
        state.targetctx.insert_user_function(handle, lowered.fndesc, [library, *library._linking_libraries])
        state["cr"] = lowered._replace(cfunc=handle)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class EntryLowering(NativeLowering):
    """Translates to an ``EntryLibrary``, which the cache can keep."""

    _name = "entry_lowering"

    def run_pass(self, state: Any) -> bool:
        """In place of ``NativeLowering``."""
        state.library = EntryLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


def handle_of(lowered: Any, library: StepLibrary) -> Any:
    """What numba knows a compiled function by."""
    name = lowered.fndesc.qualname.split(".")[-1]
    return make_function(lowered.fndesc.lookup_module(), name, "a step", NO_ADDRESS, lowered.env, (library,))


def without_literals(dispatcher: Any) -> None:
    """Have a function compiled once, not again for every literal that it is called with: LLVM sees literals anyway."""
    for_types = dispatcher.get_call_template
    dispatcher.get_call_template = lambda kinds, named: for_types([types.unliteral(kind) for kind in kinds], named)


def with_lowering(state: Any, lowering: type[NativeLowering]) -> list[Any]:
    """numba's default pipeline but for its lowering."""
    pipeline = DefaultPassBuilder.define_nopython_pipeline(state)
    pipeline.passes = [(lowering if made is NativeLowering else made, said) for made, said in pipeline.passes]
    pipeline.finalize()
    return [pipeline]


class StepCompiler(CompilerBase):
    """Of steps."""

    def define_pipelines(self) -> list[Any]:
        """The passes."""
        return with_lowering(self.state, StepLowering)


class EntryCompiler(CompilerBase):
    """Of entries."""

    def define_pipelines(self) -> list[Any]:
        """The passes."""
        return with_lowering(self.state, EntryLowering)
