// Recovers the addresses of many signatures in one call.
#include <algorithm>
#include <array>
#include <cstdio>
#include <lydite.h>
#include <stdexcept>
#include <vector>

static void check(lydite_status status) {
    if (status != 0) throw std::runtime_error(lydite_last_error());
}

int main() {
    constexpr std::size_t count = 20;
    std::array<std::uint8_t, 32> key;
    key.fill(0x46);
    std::vector<std::uint8_t> hashes(32 * count), signatures(65 * count), addresses(20 * count), ok(count);
    for (std::size_t i = 0; i < count; ++i) {
        hashes[32 * i] = static_cast<std::uint8_t>(i);
        check(lydite_sign(key.data(), &hashes[32 * i], &signatures[65 * i]));
    }
    signatures[65 * 3] ^= 1; // still a valid signature, but of another address

    check(lydite_ecrecover_batch(hashes.data(), signatures.data(), count, addresses.data(), ok.data()));
    char text[43];
    check(lydite_address_checksum(addresses.data(), reinterpret_cast<std::uint8_t *>(text)));
    std::puts(text);
    for (std::size_t i = 0; i < count; ++i) {
        const bool same = std::equal(&addresses[0], &addresses[20], &addresses[20 * i]);
        if (same != (i != 3)) return 1;
    }
}
