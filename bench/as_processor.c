// Emulates the CPUID of an older CPU, named by the variable CONVLAB_AS, in programs that preload this library
// (LD_PRELOAD). `avx2`: up to AVX2 and FMA, without AVX-512, AVX-VNNI and AMX. `avx512_vnni`: with AVX-512 and its
// 8-bit products, without bf16 and AMX. Engines that select code by CPUID and have no switch for it can be compared as
// they would run on such a machine.
//
// Linux can make CPUID trap for a process if the CPU supports it (`cpuid_fault` in /proc/cpuinfo). Each trapped CPUID
// is answered here with the CPU's values, minus the feature bits listed below (Intel's manual, volume 2A, CPUID). If
// the CPU does not support it, the program exits with status 77 before it begins.

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

#define SET_CPUID 0x1012  // of arch_prctl: with argument 0 CPUID traps, with 1 it does not

struct Registers {
  uint32_t a, b, c, d;
};

struct Missing {
  uint32_t leaf, subleaf;
  struct Registers bits;
};

static const struct Missing kBeyondAvx2[] = {
    // F, DQ, IFMA, PF, ER, CD, BW, VL; VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ; 4VNNIW, 4FMAPS, VP2INTERSECT, AMX-BF16,
    // FP16, AMX-TILE, -INT8
    {7, 0, {0, 0xdc230000, 0x00005842, 0x03c0010c}},
    // AVX-VNNI, AVX512-BF16, AMX-FP16, AVX-IFMA; AVX-VNNI-INT8, AVX-NE-CONVERT, AMX-COMPLEX, AVX-VNNI-INT16, AVX10
    {7, 1, {0x00a00030, 0, 0, 0x00080530}},
    // States of AVX-512 and AMX that the operating system could save
    {0xd, 0, {0x000600e0, 0, 0, 0}},
    {0x1d, 0, {~0u, ~0u, ~0u, ~0u}},  // tiles
    {0x24, 0, {~0u, ~0u, ~0u, ~0u}},  // AVX10
    {0}};

static const struct Missing kBeyondVnni[] = {
    {7, 0, {0, 0, 0, 0x03c00000}},           // AMX-BF16, AVX512-FP16, AMX-TILE, AMX-INT8
    {7, 1, {0x00a00030, 0, 0, 0x00080530}},  // as above
    {0xd, 0, {0x00060000, 0, 0, 0}},         // states of AMX
    {0x1d, 0, {~0u, ~0u, ~0u, ~0u}},         // tiles
    {0x24, 0, {~0u, ~0u, ~0u, ~0u}},         // AVX10
    {0}};

static const struct Missing* missing;

static void trap(int on) { syscall(SYS_arch_prctl, SET_CPUID, on ? 0L : 1L); }

static struct Registers as_named(uint32_t leaf, uint32_t subleaf) {
  struct Registers r;
  trap(0);
  asm volatile("cpuid" : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d) : "a"(leaf), "c"(subleaf));
  trap(1);
  for (const struct Missing* each = missing; each->leaf != 0; ++each) {
    if (each->leaf != leaf || each->subleaf != subleaf) continue;
    r.a &= ~each->bits.a, r.b &= ~each->bits.b, r.c &= ~each->bits.c, r.d &= ~each->bits.d;
  }
  return r;
}

static void answer(int number, siginfo_t* info, void* context) {
  (void)info;
  greg_t* const registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  const uint8_t* const instruction = (const uint8_t*)registers[REG_RIP];
  if (instruction[0] != 0x0f || instruction[1] != 0xa2) {  // another fault: it repeats, and ends the program
    signal(number, SIG_DFL);
    return;
  }
  const struct Registers r = as_named((uint32_t)registers[REG_RAX], (uint32_t)registers[REG_RCX]);
  registers[REG_RAX] = r.a, registers[REG_RBX] = r.b, registers[REG_RCX] = r.c, registers[REG_RDX] = r.d;
  registers[REG_RIP] += 2;
}

__attribute__((constructor)) static void begin(void) {
  const char* const name = getenv("CONVLAB_AS");
  if (name == NULL) return;
  missing = strcmp(name, "avx2") == 0 ? kBeyondAvx2 : kBeyondVnni;
  struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigaction(SIGSEGV, &action, NULL);
  if (syscall(SYS_arch_prctl, SET_CPUID, 0L) != 0) {
    fprintf(stderr, "as_processor: CPUID cannot be trapped here: %s\n", strerror(errno));
    _exit(77);
  }
}
