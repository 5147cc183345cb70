// Creates a key of leanSig's test scheme in the file named by the argument, signs for an epoch, and verifies the
// signature. A second signature for the same epoch is rejected.
#include <lydite.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(lydite_status status) {
    if (status != 0) {
        fprintf(stderr, "error %d: %s\n", (int)status, lydite_last_error());
        exit(1);
    }
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    const uint8_t *path = (const uint8_t *)arguments[1];
    const size_t length = strlen(arguments[1]);
    const uint32_t scheme = LYDITE_XMSS_LEANSIG_TEST;
    size_t key_size, signature_size, written;
    check(lydite_xmss_sizes(scheme, &key_size, &signature_size));
    uint8_t *public_key = malloc(key_size), *signature = malloc(signature_size);
    if (public_key == NULL || signature == NULL) return 1;

    // Use 32 secret random bytes for the seed; these are neither secret nor random.
    uint8_t seed[32] = {7}, message[32] = {1};
    check(lydite_xmss_generate(scheme, path, length, seed, 0, 256, public_key));

    lydite_xmss_key *key;
    check(lydite_xmss_key_new(scheme, path, length, &key));
    check(lydite_xmss_key_sign(key, 3, message, signature, signature_size, &written));
    check(lydite_xmss_verify(scheme, public_key, key_size, 3, message, signature, written));

    if (lydite_xmss_key_sign(key, 3, message, signature, signature_size, &written) != LYDITE_ERROR_KEY_FILE) return 1;
    fprintf(stderr, "expected error: %s\n", lydite_last_error());
    lydite_xmss_key_free(key);
    free(public_key);
    free(signature);
    return 0;
}
