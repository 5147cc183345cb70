// Calls evmone's precompiles like its function `call_precompile`, except that the caller allocates the output: the
// arena counts allocations, but only those in Rust.
#include <test/state/precompiles_internal.hpp>

using namespace evmone::state;

namespace
{
struct Precompile
{
    decltype(identity_analyze)* analyze;
    decltype(identity_execute)* execute;
};

constexpr Precompile NUMBERED[] = {
    {ecrecover_analyze, ecrecover_execute},
    {sha256_analyze, sha256_execute},
    {ripemd160_analyze, ripemd160_execute},
    {identity_analyze, identity_execute},
    {expmod_analyze, expmod_execute},
    {ecadd_analyze, ecadd_execute},
    {ecmul_analyze, ecmul_execute},
    {ecpairing_analyze, ecpairing_execute},
    {blake2bf_analyze, blake2bf_execute},
    {point_evaluation_analyze, point_evaluation_execute},
    {bls12_g1add_analyze, bls12_g1add_execute},
    {bls12_g1msm_analyze, bls12_g1msm_execute},
    {bls12_g2add_analyze, bls12_g2add_execute},
    {bls12_g2msm_analyze, bls12_g2msm_execute},
    {bls12_pairing_check_analyze, bls12_pairing_check_execute},
    {bls12_map_fp_to_g1_analyze, bls12_map_fp_to_g1_execute},
    {bls12_map_fp2_to_g2_analyze, bls12_map_fp2_to_g2_execute},
};
constexpr Precompile P256_VERIFY{p256verify_analyze, p256verify_execute};

const Precompile& at(size_t address)
{
    return address == 0x100 ? P256_VERIFY : NUMBERED[address - 1];
}
}  // namespace

/// The most bytes that the call may return, or SIZE_MAX if no amount of gas is enough.
extern "C" size_t arena_evmone_analyze(size_t address, const uint8_t* input, size_t size)
{
    const auto [gas, output_size] = at(address).analyze({input, size}, EVMC_OSAKA);
    return gas == INT64_MAX ? SIZE_MAX : output_size;
}

/// Writes at most `capacity` bytes. Returns the number of bytes written, or SIZE_MAX if the call fails.
extern "C" size_t arena_evmone_execute(
    size_t address, const uint8_t* input, size_t size, uint8_t* output, size_t capacity)
{
    const auto [status, output_size] = at(address).execute(input, size, output, capacity);
    return status == EVMC_SUCCESS ? output_size : SIZE_MAX;
}
