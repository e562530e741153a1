"""Compiled kernels on disk as machine code that is linked and called, without numba's compiler.

numba's own cache keeps what another function could be compiled with: to read a first kernel from it, numba fills its
tables of everything that it can compile and has LLVM compile its runtime, which takes 42 MB (numba 0.68). No kernel is
called by another, so of each only its code is kept here, with the names that calling it needs.

The process that compiles a kernel links the kept code as well, instead of using what numba has just linked: helpers may
be other copies there, vectorised in another way, and sums would have other last digits in the first process than in
later ones. For the same reason each kernel has a linker of its own, which knows no other's helpers.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

from llvmlite import binding
from numba import _dynfunc
from numba.core import compiler, sigutils
from numba.core.caching import Cache, CompileResultCacheImpl
from numba.core.runtime import _nrt_python

__all__ = ["MachineCodeCache"]

_Saved = tuple[bytes, str, str, list[tuple[str, list[Any]]], Any, list[str]]


class _MachineCode(CompileResultCacheImpl):
    """What is saved of a compiled kernel, and how it becomes one again."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._function = function

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        """Tell the files from those of numba's own cache, which earlier versions left in the same folder."""
        return f"code-{super().get_filename_base(fullname, abiflags)}"

    def reduce(self, cres: Any) -> _Saved:
        """Take the code, the names in it of what Python calls and of its environment, and what linking it needs."""
        library, description = cres.library, cres.fndesc
        module = library._final_module
        declared = [*module.functions, *module.global_variables]
        return (
            library._get_compiled_object(),
            description.llvm_cpython_wrapper_name,
            cres.target_context.get_env_name(description),
            [(environment.env_name, list(environment.consts)) for environment in cres._find_referenced_environments()],
            cres.signature,
            [one.name for one in declared if one.is_declaration and not one.name.startswith("llvm.")],
        )

    def rebuild(self, target_context: Any, payload: _Saved) -> Any:
        """Link the code and return what a dispatcher needs to call it, or None where a name in it is unknown."""
        code, wrapper, own, environments, signature, external = payload
        function = self._function
        _name_runtime()
        if _unknown(external):
            target_context.refresh()  # numba names all that it has
            if _unknown(external):
                return None  # it is compiled again; LLVM would end the process
        linker = _new_linker()
        # Neither as a module, which would have to be read, nor finished by finalize_object(), which runs the compiler
        linker.add_object_file(binding.ObjectFileRef.from_data(code))
        address = linker.get_function_address(wrapper)
        kept = {}
        for name, constants in environments:
            kept[name] = _dynfunc.Environment(function.__globals__)
            kept[name].consts.extend(constants)
            ctypes.c_void_p.from_address(linker.get_global_value_address(name)).value = id(kept[name])
        entry = _dynfunc.make_function(
            sys.modules[function.__module__],
            function.__name__,
            function.__doc__ or "",
            address,
            kept[own],
            tuple(kept.values()),
        )
        # objectmode: not offered to other functions, which would have to be compiled with its module
        return compiler.compile_result(signature=signature, entry_point=entry, objectmode=True)


class MachineCodeCache(Cache):
    """Takes the place of a dispatcher's own cache."""

    _impl_class = _MachineCode

    def __init__(self, dispatcher: Any) -> None:
        super().__init__(dispatcher.py_func)
        self._dispatcher = dispatcher

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the kernel for arguments of these types; unlike numba, prepare for compilation only to compile."""
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(sig, target_context)
            if found is not None:
                return found
        arguments, result = sigutils.normalize_signature(sig)
        compiled = self._dispatcher._compiler.compile(arguments, result)
        self.save_overload(sig, compiled)
        self._dispatcher._cache_misses[sig] += 1
        self._dispatcher._cache_hits[sig] -= 1  # what is returned is taken for a hit
        return self._impl.rebuild(target_context, self._impl.reduce(compiled)) or compiled


def _unknown(names: list[str]) -> bool:
    return any(binding.address_of_symbol(name) is None for name in names)


_linkers: list[Any] = []  # code ends with the linker that holds it


def _new_linker() -> Any:
    machine = binding.Target.from_triple(binding.get_process_triple()).create_target_machine()
    _linkers.append(binding.create_mcjit_compiler(binding.parse_assembly(""), machine))
    return _linkers[-1]


@cache
def _name_runtime() -> None:
    """Tell the linker where numba's memory management lies, as numba does when it prepares for compilation."""
    for name, address in _nrt_python.c_helpers.items():
        binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)
