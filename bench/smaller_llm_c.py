"""Changes of llm.c's programs, whose work is fixed in their sources: each kernel runs once per block size, on less data.

Sizes keep what the kernels rely on: as many tokens as the largest block has threads, 64 channels per head, sequences
that are tiles of 128 and as long as a block, vocabularies of an odd size that is larger than a block."""

from __future__ import annotations

ONCE = ("benchmark_kernel(repeat_times", "benchmark_kernel(1")  # instead of hundreds of launches of the same work
TOKENS = ("int T = 1024;", "int T = 128;")
CHANNELS = [TOKENS, ("int C = 768;", "int C = 128;")]
PROJECTION = [*CHANNELS, ("int OC = 768 * 4;", "int OC = 128 * 4;")]
ATTENTION = [
    ("int B = 8;", "int B = 1;"),
    ("int B = 4;", "int B = 1;"),
    ("int T = 1024;", "int T = 256;"),
    ("int C = 768;", "int C = 128;"),
    ("int NH = 12;", "int NH = 2;"),
]
WORDS = [("B = 8;", "B = 2;"), ("T = 1024;", "T = 64;"), ("V = 50257;", "V = 2053;")]
FLOAT = ("#define ENABLE_BF16", "")

# By program, or by program and kernel: what only that kernel needs.
SMALLER_LLM_C: dict[str, list[tuple[str, str]]] = {
    "adamw": [("num_parameters = 1048576", "num_parameters = 65536")],
    "attention_backward": ATTENTION,
    "attention_backward 6": [("{32, 64, 128, 256, 512, 1024}", "{32, 64, 128, 256}")],  # no block may be longer than T
    "attention_forward": ATTENTION,
    "classifier_fused": WORDS,
    "crossentropy_forward": WORDS,
    "crossentropy_softmax_backward": WORDS,
    "encoder_backward": [*CHANNELS, ("int V = 50257;", "int V = 2053;")],
    "encoder_forward": [*CHANNELS, ("int V = 50257;", "int V = 2053;")],
    "fused_residual_forward": CHANNELS,
    "gelu_backward": CHANNELS,
    "gelu_forward": CHANNELS,
    "global_norm": [("int C = 768;", "int C = 64;"), ("int L = 12;", "int L = 2;")],
    "layernorm_backward": [TOKENS, ("int C = 1600;", "int C = 320;")],  # no multiple of 256, as 1600 is none
    "layernorm_backward 1": [FLOAT],
    "layernorm_backward 8": [("int C = 1600;", "int C = 512;")],  # needs a multiple of 256
    "layernorm_backward 9": [("int C = 1600;", "int C = 512;")],  # needs a multiple of 256
    "layernorm_forward": CHANNELS,
    "matmul_backward": PROJECTION,
    "matmul_backward_bias": PROJECTION,
    "matmul_backward_bias 5": [FLOAT],
    "matmul_forward": [("int B = 32;", "int B = 2;"), *PROJECTION],
    "permute": [("int dim_1 = 24;", "int dim_1 = 4;")],
    "residual_forward": CHANNELS,
    "softmax_forward": WORDS,
    "trimat_forward": ATTENTION,
}


def smaller_llm_c(program: str, kernel: int) -> list[tuple[str, str]]:
    """The changes for one kernel. Of two changes of the same text, the first counts."""
    return [ONCE, *SMALLER_LLM_C.get(f"{program} {kernel}", []), *SMALLER_LLM_C[program]]
