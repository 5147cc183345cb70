// Signs a transfer and recovers its sender, then encodes and decodes ABI arguments.
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

int main(void) {
    if (lydite_abi_version() != LYDITE_ABI_VERSION) {
        fprintf(stderr, "the header and the library have different interface versions\n");
        return 1;
    }
    uint8_t key[32], to[20];
    memset(key, 0x46, sizeof key);
    memset(to, 0x11, sizeof to);
    lydite_tx transfer = {.type_ = 2, .chain_id = 1, .nonce = 42, .gas_limit = 21000, .to = to};
    transfer.max_fee_per_gas[15] = 100;
    transfer.value[31] = 7;

    // The first call returns the size, the second writes the transaction.
    size_t size;
    check(lydite_tx_sign(&transfer, key, NULL, 0, &size));
    uint8_t *raw = malloc(size);
    if (raw == NULL) return 1;
    check(lydite_tx_sign(&transfer, key, raw, size, &size));

    uint8_t sender[20], text[43];
    check(lydite_tx_sender(raw, size, sender));
    check(lydite_address_checksum(sender, text));
    printf("%s\n", (const char *)text);

    // An error message contains the byte offset.
    if (lydite_tx_sender(raw, size - 1, sender) != LYDITE_ERROR_DECODE) return 1;
    fprintf(stderr, "expected error: %s\n", lydite_last_error());
    free(raw);

    lydite_codec *codec;
    check(lydite_codec_new((const uint8_t *)"(address,uint8[])", 17, &codec));
    const char *values = "(0x1111111111111111111111111111111111111111,[1,2])";
    uint8_t data[256], decoded[256];
    size_t length;
    check(lydite_codec_encode(codec, (const uint8_t *)values, strlen(values), data, sizeof data, &size));
    check(lydite_codec_decode(codec, data, size, decoded, sizeof decoded, &length));
    lydite_codec_free(codec);
    return length == strlen(values) && memcmp(decoded, values, length) == 0 ? 0 : 1;
}
