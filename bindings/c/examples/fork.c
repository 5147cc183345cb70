// Creates a key of leanSig's test scheme in the file named by the argument, opens it, and forks. The child can read the
// public key, but neither sign, nor move the window, nor read the epochs; the parent can sign. A child that opens the
// key itself, after the parent has closed it, can sign.
#define _POSIX_C_SOURCE 200809L
#include <lydite.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint32_t scheme = LYDITE_XMSS_LEANSIG_TEST;
static uint8_t public_key[64], signature[1024], message[32] = {1}, other[32] = {2};
static size_t key_size, signature_size, written;

static void check(lydite_status status) {
    if (status != 0) {
        fprintf(stderr, "error %d: %s\n", (int)status, lydite_last_error());
        exit(1);
    }
}

static lydite_status sign(const lydite_xmss_key *key, uint32_t epoch, const uint8_t *of) {
    return lydite_xmss_key_sign(key, epoch, of, signature, sizeof signature, &written);
}

static int is_refused(lydite_status status) {
    return status == LYDITE_ERROR_KEY_FILE && strstr(lydite_last_error(), "forked from it") != NULL;
}

// Waits for a child, and returns its exit code.
static int code_of(pid_t child) {
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 100;
    return WEXITSTATUS(status);
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    const uint8_t *path = (const uint8_t *)arguments[1];
    const size_t length = strlen(arguments[1]);
    check(lydite_xmss_sizes(scheme, &key_size, &signature_size));
    if (key_size > sizeof public_key || signature_size > sizeof signature) return 2;
    // Use 32 secret random bytes; these are neither secret nor random.
    uint8_t seed[32] = {8};
    check(lydite_xmss_generate(scheme, path, length, seed, 0, 256, public_key));
    lydite_xmss_key *key;
    check(lydite_xmss_key_new(scheme, path, length, &key));
    check(lydite_xmss_key_prepare_ahead(key, 1000000000000));

    pid_t child = fork();
    if (child == 0) {
        if (!is_refused(sign(key, 5, other))) _exit(3);
        if (!is_refused(lydite_xmss_key_prepare(key, 200))) _exit(4);
        if (!is_refused(lydite_xmss_key_prepare_ahead(key, 1))) _exit(5);
        lydite_xmss_epochs epochs;
        if (!is_refused(lydite_xmss_key_epochs(key, &epochs))) _exit(8);
        uint8_t again[64];
        check(lydite_xmss_key_public_key(key, again));
        if (memcmp(again, public_key, key_size) != 0) _exit(9);
        lydite_xmss_key_free(key);
        // The parent still holds its lock.
        _exit(lydite_xmss_key_new(scheme, path, length, &key) == LYDITE_ERROR_KEY_FILE ? 0 : 6);
    }
    int code = code_of(child);
    if (code != 0) return code;
    check(sign(key, 5, message));
    check(lydite_xmss_verify(scheme, public_key, key_size, 5, message, signature, written));
    lydite_xmss_key_free(key);

    child = fork();
    if (child == 0) {
        check(lydite_xmss_key_new(scheme, path, length, &key));
        _exit(sign(key, 5, other) == LYDITE_ERROR_KEY_FILE && sign(key, 6, message) == 0 ? 0 : 7);
    }
    return code_of(child);
}
