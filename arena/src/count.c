// A plugin of QEMU that counts the instructions which the emulated program executes, and reports the number on standard
// error when the program ends, in the words of callgrind.
//
// Distributions do not package qemu-plugin.h. The declarations below are the part of QEMU's documented interface
// (https://qemu.org/docs/master/devel/tcg-plugins.html) that is used here, which all versions of it share.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t Id;
struct qemu_plugin_tb;

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
void qemu_plugin_register_vcpu_tb_trans_cb(Id id, void (*translated)(Id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, void (*executed)(unsigned, void *), int flags,
                                          void *data);
void qemu_plugin_register_atexit_cb(Id id, void (*ended)(Id, void *), void *data);

// The version of the interface. QEMU 9 refuses those before 2, older ones refuse 2.
int qemu_plugin_version = 1;

__attribute__((constructor)) static void choose_version(void) {
    if (dlsym(RTLD_DEFAULT, "qemu_plugin_scoreboard_new")) qemu_plugin_version = 2;
}

static uint64_t count;

// A block of instructions has no branch inside, so each execution runs all of it.
static void executed(unsigned cpu, void *instructions) {
    (void)cpu;
    __atomic_fetch_add(&count, (uintptr_t)instructions, __ATOMIC_RELAXED);
}

static void translated(Id id, struct qemu_plugin_tb *block) {
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(block, executed, 0, (void *)qemu_plugin_tb_n_insns(block));
}

static void ended(Id id, void *data) {
    (void)id, (void)data;
    fprintf(stderr, "Collected : %llu\n", (unsigned long long)count);
}

int qemu_plugin_install(Id id, const void *info, int argc, char **argv) {
    (void)info, (void)argc, (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
