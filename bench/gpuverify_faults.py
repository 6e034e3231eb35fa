"""What GPUVerify's tests announce, as read in each file, and what is known of the findings that they do not announce."""

from __future__ import annotations

RACE, BARRIER, ASSERT = ["race"], ["barrier"], ["assert"]
ADDRESS = ["bounds|invalid instruction or address"]  # a null pointer, or constant memory that a kernel writes

# The faults of the tests that GPUVerify rejects; None if no launch shows one, because only the proof fails.
FAULTS: dict[str, list[str] | None] = {
    "annotation_tests/test_axiom": None,  # right only for block (16,16), which its grid does not have
    "atomics/add_tid": RACE,
    "atomics/add_zero": RACE,
    "atomics/test_abstraction_enforced": ASSERT,
    "cooperative_groups/fail/block_divergence_grid_group": BARRIER,
    "cooperative_groups/fail/divergence_grid_group": BARRIER,
    "cooperative_groups/fail/divergence_thread_block": BARRIER,
    "cooperative_groups/fail/race": RACE,
    "curand_tests/fail/curand_mtgp32_block_race": RACE,
    "curand_tests/fail/curand_mtgp32_race": RACE,
    "curand_tests/fail/curand_race": RACE,
    "curand_tests/fail/init_race": RACE,
    "fail_tests/race_on_shared": RACE,
    "fail_tests/shared_int": RACE,
    "fresh_arrays/fail/array": RACE,
    "fresh_arrays/fail/inherit": RACE,
    "fresh_arrays/fail/struct_char": RACE,
    "fresh_arrays/fail/struct_float": RACE,
    "fresh_arrays/fail/struct_nested": RACE,
    "function_pointers/basic_argument_fail": ADDRESS,
    "function_pointers/basic_assignment_fail": ADDRESS,
    "function_pointers/constant_value": ADDRESS,
    "function_pointers/funcptr_to_ptr_add": ADDRESS,
    "function_pointers/pass_struct/call": ADDRESS,
    "function_pointers/soundness_issue": ASSERT,
    "globalarray/fail": RACE,
    "loop_unwind": RACE,
    "memcpy/fail_arrayofstruct": RACE,
    "memcpy/fail_overstep": RACE,
    "memcpy/lentoobig": RACE,
    "memcpy/notexactdiv": RACE,
    "memcpy/null_dst": ADDRESS,
    "memcpy/null_src": ADDRESS,
    "memcpy/unhandled_varlen": RACE,
    "memset/null_dst": ADDRESS,
    "memset/unhandled_varval": [],
    "misc/fail/miscfail2": None,  # an invariant
    "misc/fail/miscfail3": RACE,
    "misc/fail/miscfail4": RACE,
    "misc/fail/miscfail5": ADDRESS,
    "misc/fail/miscfail6": ADDRESS,
    "misc/fail/miscfail7": None,  # a pointer that the prover cannot follow
    "misc/fail/miscfail8": ASSERT,
    "misc/pass/misc3": ADDRESS,
    "param_values/value_causing_race": RACE,
    "param_values/value_in_assert": ASSERT,
    "pointeranalysistests/testbasicaliasing": RACE,
    "pointertests/cast": RACE,
    "warpsync/bad_inter_group": RACE,
    "warpsync/broken_shuffle": RACE,
    "warpsync/equality_abstraction_issue": RACE,  # the assertion that fails depends on it
}

# Files that are no programs of CUDA 13, with what nvcc says of them.
NOT_CUDA: dict[str, str] = {
    "argument_promotion": "texture reference",
    "atomics/pointer_add": "host variable in a kernel",
    "cuda_arch": "an #error in host code",
    "memcpy_simplification/global_passed_to_call": "texture reference",
    "memcpy_simplification/i8_element_global_passed_to_call1": "host variable in a kernel",
    "memcpy_simplification/i8_element_global_passed_to_call2": "host variable in a kernel",
    "misc/fail/miscfail1": "undeclared function",
    "misc/fail/miscfail6": "array of size 0",
}

UNWRITTEN = "uninitialized shared memory"
LOCKSTEP = "true: no __syncwarp() between a write and another lane's read"

# Findings that a test does not announce, as judged by reading it: their kinds, and what they are.
UNANNOUNCED: dict[str, tuple[list[str], str]] = {
    "annotation_tests/test_axiom": (["race on global memory"], "true: its axiom holds for no block of its grid"),
    "misc/fail/miscfail2": ([UNWRITTEN], "true: nothing writes sdata before line 63 reads it"),
    "misc/pass/misc1": ([UNWRITTEN], "true: nothing writes F"),
    "pointertests/test_copy_between_memory_spaces": ([UNWRITTEN], "true: nothing writes A"),
    "scope": ([UNWRITTEN], "true: only a quarter of s_Hist is cleared, and all of it read"),
    "warpsync/2d": (["race on shared memory", UNWRITTEN], LOCKSTEP + "; nothing writes tile before"),
    "warpsync/intragroup_scan": (["race on global memory"], LOCKSTEP),
    "warpsync/scan_warp": (["race on global memory"], LOCKSTEP),
    "warpsync/shuffle": (["race on global memory"], LOCKSTEP),
}
