// Loaded before a program's libraries (LD_PRELOAD), shows it a processor that ends at AVX2 and FMA: no AVX-512, no AVX-VNNI, no
// AMX. So engines that choose their code by CPUID, and offer no switch, can be compared as they would run on such a machine.
//
// Linux lets a process have CPUID trapped where the processor can (`cpuid_fault` in /proc/cpuinfo). Each is then answered here: as
// the processor does, less the bits of Intel's manual (volume 2A, CPUID) that are named below. Where it cannot, the program
// ends with status 77 before it begins.

#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define SET_CPUID 0x1012  // of arch_prctl: 0 has CPUID trapped, 1 does not

struct Registers {
  uint32_t a, b, c, d;
};

static const struct {
  uint32_t leaf, subleaf;
  struct Registers missing;
} kMissing[] = {
    // F, DQ, IFMA, PF, ER, CD, BW, VL; VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ; 4VNNIW, 4FMAPS, VP2INTERSECT, AMX-BF16, FP16, AMX-TILE, -INT8
    {7, 0, {0, 0xdc230000, 0x00005842, 0x03c0010c}},
    // AVX-VNNI, AVX512-BF16, AMX-FP16, AVX-IFMA; AVX-VNNI-INT8, AVX-NE-CONVERT, AMX-COMPLEX, AVX-VNNI-INT16, AVX10
    {7, 1, {0x00a00030, 0, 0, 0x00080530}},
    // States of AVX-512 and AMX, which the system could keep
    {0xd, 0, {0x000600e0, 0, 0, 0}},
    {0x1d, 0, {~0u, ~0u, ~0u, ~0u}},  // tiles
    {0x24, 0, {~0u, ~0u, ~0u, ~0u}},  // AVX10
};

static void trap(int on) { syscall(SYS_arch_prctl, SET_CPUID, on ? 0L : 1L); }

static struct Registers as_avx2(uint32_t leaf, uint32_t subleaf) {
  struct Registers r;
  trap(0);
  asm volatile("cpuid" : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d) : "a"(leaf), "c"(subleaf));
  trap(1);
  for (size_t i = 0; i < sizeof(kMissing) / sizeof(kMissing[0]); ++i) {
    if (kMissing[i].leaf != leaf || kMissing[i].subleaf != subleaf) continue;
    r.a &= ~kMissing[i].missing.a, r.b &= ~kMissing[i].missing.b;
    r.c &= ~kMissing[i].missing.c, r.d &= ~kMissing[i].missing.d;
  }
  return r;
}

static void answer(int number, siginfo_t* info, void* context) {
  (void)info;
  greg_t* const registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  const uint8_t* const instruction = (const uint8_t*)registers[REG_RIP];
  if (instruction[0] != 0x0f || instruction[1] != 0xa2) {  // another fault: it happens again, and ends the program
    signal(number, SIG_DFL);
    return;
  }
  const struct Registers r = as_avx2((uint32_t)registers[REG_RAX], (uint32_t)registers[REG_RCX]);
  registers[REG_RAX] = r.a, registers[REG_RBX] = r.b, registers[REG_RCX] = r.c, registers[REG_RDX] = r.d;
  registers[REG_RIP] += 2;
}

__attribute__((constructor)) static void begin(void) {
  struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigaction(SIGSEGV, &action, NULL);
  if (syscall(SYS_arch_prctl, SET_CPUID, 0L) != 0) {
    fprintf(stderr, "as_avx2: CPUID cannot be trapped here: %s\n", strerror(errno));
    _exit(77);
  }
}
