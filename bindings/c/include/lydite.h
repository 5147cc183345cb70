// Lydite for C: byte-level work of Ethereum.
//
// Made by cbindgen from bindings/c/src; a test compares the two. Every function is safe to call from any thread.
//
// Status: 0 is success; below 0 are the LYDITE_ERROR_ constants. Nothing unwinds through these functions. After an error
//   lydite_last_error() tells, on the same thread, what was wrong and at which byte.
// Inputs: a pointer and a number of bytes; a pointer may be NULL where the number is 0. Arrays of a fixed size are
//   pointers to that many bytes.
// Outputs: buffers of the caller. Where the size depends on the input, three arguments (out, capacity, written): with
//   out NULL only *written is set, to the size needed; with too small a capacity the error is
//   LYDITE_ERROR_BUFFER_TOO_SMALL and *written the size needed. out may not overlap an input.
// Memory: nothing is kept or allocated for the caller except by the functions ending in _new, whose results the
//   functions ending in _free release.
// Secrets: signing is constant-time and wipes its copies of the key.


#ifndef LYDITE_H
#define LYDITE_H

#include <stddef.h>
#include <stdint.h>


// Version of this interface: raised when a function changes or goes.
#define LYDITE_ABI_VERSION 1

// leanSig's production scheme: 46 chains, 2^32 epochs.
#define LYDITE_XMSS_LEANSIG_PROD 0

// leanSig's scheme for tests, 4 chains, 2^8 epochs. Forgeable.
#define LYDITE_XMSS_LEANSIG_TEST 1

// The production scheme over 2^8 epochs.
#define LYDITE_XMSS_LEANSIG_46_8 2

// The production scheme over 2^10 epochs.
#define LYDITE_XMSS_LEANSIG_46_10 3

// The production scheme over 2^18 epochs.
#define LYDITE_XMSS_LEANSIG_46_18 4

// hash-sig of 2025: Winternitz, 2^18 epochs.
#define LYDITE_XMSS_HASH_SIG_2025 5

// leanSig's signatures of 39 chains of 16, 2^18 epochs.
#define LYDITE_XMSS_LEANSIG_LEGACY_W4 6

// A type compiled for encoding and decoding. Immutable: any number of threads may use it at once.
typedef struct lydite_codec lydite_codec;

// An event's signature compiled for decoding its logs. Immutable: any number of threads may use it at once.
typedef struct lydite_event lydite_event;

// A key file open for signing. No other process can open it meanwhile.
//
// It belongs to the process that opened it: in a child made by fork, signing and preparing are LYDITE_ERROR_KEY_FILE. Open
// the key in the process that signs, after the fork. The same error is returned if the record of spent epochs was restored
// or replaced while the key is open. Never restore a record from a backup or a snapshot while the key is closed, and never
// use one key on two machines: that cannot be detected, and two signatures for one epoch reveal the key.
typedef struct lydite_xmss_key lydite_xmss_key;

// 0, or one of the LYDITE_ERROR_ constants.
typedef int32_t lydite_status;

// An account and its storage slots that a transaction announces.
typedef struct {
  // 20 bytes
  uint8_t address[20];
  // 32 bytes each
  const uint8_t *storage_keys;
  size_t storage_key_count;
} lydite_access_list_item;

// An account's signed consent to run the code of another (EIP-7702). Integers wider than 64 bits are big-endian.
typedef struct {
  // 0 is every chain
  uint8_t chain_id[32];
  // whose code is to be run
  uint8_t address[20];
  // of the consenting account
  uint64_t nonce;
  uint8_t y_parity;
  uint8_t r[32];
  uint8_t s[32];
} lydite_authorization;

// A transaction of any type: all zeros, then what the type has. Integers wider than 64 bits are big-endian. What the type
// has not must be zero.
typedef struct {
  // 0 (legacy) to 4
  uint8_t type_;
  // in type 0, 0 is a transaction that any chain takes
  uint64_t chain_id;
  uint64_t nonce;
  // wei per gas; types 0 and 1
  uint8_t gas_price[16];
  // wei per gas; types 2, 3, 4
  uint8_t max_priority_fee_per_gas[16];
  // wei per gas; types 2, 3, 4
  uint8_t max_fee_per_gas[16];
  uint64_t gas_limit;
  // 20 bytes; NULL creates a contract, in types 0, 1 and 2
  const uint8_t *to;
  // wei
  uint8_t value[32];
  const uint8_t *data;
  size_t data_length;
  // types 1 to 4
  const lydite_access_list_item *access_list;
  size_t access_list_length;
  // wei per gas; type 3
  uint8_t max_fee_per_blob_gas[16];
  // 32 bytes each; type 3
  const uint8_t *blob_versioned_hashes;
  size_t blob_versioned_hash_count;
  // type 4
  const lydite_authorization *authorization_list;
  size_t authorization_list_length;
} lydite_tx;

// Epochs of a key, each interval without its end.
typedef struct {
  // those that the key is for
  uint64_t active_first;
  uint64_t active_end;
  // those whose trees are at hand
  uint64_t prepared_first;
  uint64_t prepared_end;
  // those that can still be signed
  uint64_t unspent_first;
  uint64_t unspent_end;
} lydite_xmss_epochs;

// A NULL pointer where bytes are needed, or a number that cannot be.
#define LYDITE_ERROR_ARGUMENT -1

// The buffer is too small; *written is the size needed.
#define LYDITE_ERROR_BUFFER_TOO_SMALL -2

// Bytes or text that are not what they should be.
#define LYDITE_ERROR_DECODE -3

// A value that does not fit its type.
#define LYDITE_ERROR_ENCODE -4

// A signature or key that is not valid.
#define LYDITE_ERROR_SIGNATURE -5

// The precompile fails: all gas is burnt.
#define LYDITE_ERROR_PRECOMPILE -6

// A defect of Lydite; please report it.
#define LYDITE_ERROR_INTERNAL -7

// A key file that cannot be written, read or used: the epoch is spent or outside the key's, the process was forked from the
// one that opened it, or one of its files is damaged, replaced or open to others.
#define LYDITE_ERROR_KEY_FILE -8

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Compiles a type: "(address,uint256[])" is a list of arguments, a type without parentheses one argument. *out is to be
// released with lydite_codec_free.
lydite_status lydite_codec_new(const uint8_t *types, size_t length, lydite_codec **out);

// Releases a codec. NULL is allowed.
void lydite_codec_free(lydite_codec *codec);

// Encodes arguments given as text: "(0x1111111111111111111111111111111111111111,[1,2],\"text\")". Allocates while it
// runs.
lydite_status lydite_codec_encode(const lydite_codec *codec,
                                  const uint8_t *values,
                                  size_t length,
                                  uint8_t *out,
                                  size_t capacity,
                                  size_t *written);

// Decodes to the text that lydite_codec_encode reads, without NUL. Allocates while it runs.
lydite_status lydite_codec_decode(const lydite_codec *codec,
                                  const uint8_t *data,
                                  size_t length,
                                  uint8_t *out,
                                  size_t capacity,
                                  size_t *written);

// The selector of a function or error by its signature, canonical or human-readable: 4 bytes. Allocates while it runs.
lydite_status lydite_selector(const uint8_t *signature, size_t length, uint8_t *out);

// The first topic of an event by its signature, canonical or human-readable: 32 bytes. Allocates while it runs.
lydite_status lydite_event_topic(const uint8_t *signature, size_t length, uint8_t *out);

// Compiles "Transfer(address indexed from, address indexed to, uint256 value)"; "event" may stand before it, "anonymous"
// behind it. *out is to be released with lydite_event_free.
lydite_status lydite_event_new(const uint8_t *signature,
                               size_t length,
                               lydite_event **out);

// Releases an event. NULL is allowed.
void lydite_event_free(lydite_event *event);

// Decodes a log, with topics of 32 bytes each, to text as lydite_codec_decode does: all parameters in their order. An
// indexed parameter longer than a word is the 32 bytes of its hash, which is all that the log holds. Allocates while it
// runs.
lydite_status lydite_event_decode(const lydite_event *event,
                                  const uint8_t *topics,
                                  size_t topic_count,
                                  const uint8_t *data,
                                  size_t length,
                                  uint8_t *out,
                                  size_t capacity,
                                  size_t *written);

// The hash of a signed transaction of any type: 32 bytes. What is not a transaction is an error.
lydite_status lydite_tx_hash(const uint8_t *raw, size_t length, uint8_t *out);

// The sender of a signed transaction of any type: 20 bytes.
lydite_status lydite_tx_sender(const uint8_t *raw, size_t length, uint8_t *out);

// The senders of count transactions of one buffer, laid out as for lydite_keccak256_batch: 20 bytes each to out, and 1
// or 0 to ok. One that is not valid gives zeros and 0. Allocates while it runs.
lydite_status lydite_tx_sender_batch(const uint8_t *data,
                                     const size_t *offsets,
                                     size_t count,
                                     uint8_t *out,
                                     uint8_t *ok);

// Signs a transaction with the 32 bytes of secret_key: its envelope, ready to be sent. Allocates while it runs.
lydite_status lydite_tx_sign(const lydite_tx *transaction,
                             const uint8_t *secret_key,
                             uint8_t *out,
                             size_t capacity,
                             size_t *written);

// Signs chain_id, address and nonce of an authorization with the 32 bytes of the consenting account's secret_key: y_parity,
// r and s are set. Allocates while it runs.
lydite_status lydite_authorization_sign(lydite_authorization *authorization,
                                        const uint8_t *secret_key);

// The hash that personal_sign signs (EIP-191, version 0x45): 32 bytes.
lydite_status lydite_hash_message(const uint8_t *message, size_t length, uint8_t *out);

// The hash to sign for a typed data document (EIP-712) in JSON: 32 bytes. Allocates while it runs.
lydite_status lydite_hash_typed_data(const uint8_t *json, size_t length, uint8_t *out);

// Keccak-256: 32 bytes to out.
lydite_status lydite_keccak256(const uint8_t *data, size_t length, uint8_t *out);

// Keccak-256 of count items of one buffer: item i from data + offsets[i] to data + offsets[i + 1], count + 1 offsets.
// 32 bytes for each item to out. Allocates while it runs.
lydite_status lydite_keccak256_batch(const uint8_t *data, const size_t *offsets, size_t count, uint8_t *out);

// SHA-256: 32 bytes to out.
lydite_status lydite_sha256(const uint8_t *data, size_t length, uint8_t *out);

// Lower-case hexadecimal digits, two a byte, without prefix and without NUL.
lydite_status lydite_hex_encode(const uint8_t *data, size_t length, uint8_t *out, size_t capacity, size_t *written);

// The bytes of hexadecimal digits of either case, an optional 0x before them.
lydite_status lydite_hex_decode(const uint8_t *text, size_t length, uint8_t *out, size_t capacity, size_t *written);

// The address's text with the EIP-55 checksum: 42 characters and a NUL to out.
lydite_status lydite_address_checksum(const uint8_t *address, uint8_t *out);

// The 20 bytes of an address's text (40 digits, with or without 0x). With checksummed not 0 the letters must have the
// case of EIP-55.
lydite_status lydite_address_parse(const uint8_t *text, size_t length, int32_t checksummed, uint8_t *out);

// The address of the contract that sender creates at nonce (CREATE): 20 bytes.
lydite_status lydite_create_address(const uint8_t *sender, uint64_t nonce, uint8_t *out);

// The address of the contract made by CREATE2, of the 32 bytes of its salt and of its code's hash: 20 bytes.
lydite_status lydite_create2_address(const uint8_t *sender,
                                     const uint8_t *salt,
                                     const uint8_t *init_code_hash,
                                     uint8_t *out);

// Runs the precompile at a number (its address's last two bytes) with gas_limit gas, at a fork: 0 Frontier, 1 Homestead,
// 2 Tangerine Whistle, 3 Spurious Dragon, 4 Byzantium, 5 Constantinople, 6 Petersburg, 7 Istanbul, 8 Berlin, 9 London,
// 10 Paris, 11 Shanghai, 12 Cancun, 13 Prague, 14 Osaka, 15 Amsterdam. *gas_used is set, to gas_limit where the call
// fails. Allocates while it runs. The outputs are at most 256 bytes long, those of identity (4) as long as the input,
// those of modexp (5) as its modulus.
lydite_status lydite_precompile(uint16_t number,
                                uint32_t fork,
                                const uint8_t *input,
                                size_t length,
                                uint64_t gas_limit,
                                uint64_t *gas_used,
                                uint8_t *out,
                                size_t capacity,
                                size_t *written);

// The address that signed the 32 bytes of hash: 20 bytes. v is 0 or 1, or 27 or 28; a high s is accepted.
lydite_status lydite_ecrecover(const uint8_t *hash, const uint8_t *signature, uint8_t *out);

// lydite_ecrecover of count hashes and signatures: 20 bytes each to out and 1 or 0 to ok. A signature that is not valid
// gives zeros and 0, and disturbs no other. Allocates while it runs.
lydite_status lydite_ecrecover_batch(const uint8_t *hashes,
                                     const uint8_t *signatures,
                                     size_t count,
                                     uint8_t *out,
                                     uint8_t *ok);

// The public key that signed the 32 bytes of hash: 64 bytes.
lydite_status lydite_recover_public_key(const uint8_t *hash, const uint8_t *signature, uint8_t *out);

// Signs the 32 bytes of hash with the 32 bytes of secret_key: deterministic (RFC 6979), low s, v 0 or 1, constant time.
// 65 bytes to out.
lydite_status lydite_sign(const uint8_t *secret_key, const uint8_t *hash, uint8_t *out);

// Verifies the 64 bytes r, s with a public key of 64 bytes: 0 if they are one of its signatures of hash, else an error.
lydite_status lydite_verify(const uint8_t *public_key, const uint8_t *hash, const uint8_t *signature);

// The public key of a secret key, in constant time: 64 bytes.
lydite_status lydite_public_key(const uint8_t *secret_key, uint8_t *out);

// The address of a public key: 20 bytes. The key is not checked to be on the curve.
lydite_status lydite_address_from_public_key(const uint8_t *public_key, uint8_t *out);

// The LYDITE_ABI_VERSION that the library was built with.
uint32_t lydite_abi_version(void);

// What was wrong in the last call on this thread that failed; empty if none has. Holds until the next failure.
const char *lydite_last_error(void);

// Whether the bytes are one whole canonical Syrup value: 0, or LYDITE_ERROR_DECODE with the byte at fault in the text.
// Allocates while it runs.
lydite_status lydite_syrup_check(const uint8_t *data, size_t length);

// The content id of one whole canonical Syrup value, the SHA-256 of its bytes: 32 bytes. Allocates while it runs.
lydite_status lydite_syrup_content_id(const uint8_t *data, size_t length, uint8_t *out);

// The sizes of a scheme's public keys and signatures, in bytes. Keys and signatures are in SSZ.
lydite_status lydite_xmss_sizes(uint32_t scheme, size_t *public_key, size_t *signature);

// Whether the signature is one of the public key for an epoch and a message of 32 bytes: 0, or LYDITE_ERROR_SIGNATURE;
// LYDITE_ERROR_DECODE for a key or signature that is malformed, and the text says which. Allocates while it runs.
lydite_status lydite_xmss_verify(uint32_t scheme,
                                 const uint8_t *public_key,
                                 size_t public_key_length,
                                 uint32_t epoch,
                                 const uint8_t *message,
                                 const uint8_t *signature,
                                 size_t signature_length);

// lydite_xmss_verify of count signatures, several at once: public keys and signatures of the sizes of the scheme behind
// one another, an epoch each, messages of 32 bytes; 1 or 0 each to valid. What is malformed is not valid. Allocates while
// it runs.
lydite_status lydite_xmss_verify_batch(uint32_t scheme,
                                       size_t count,
                                       const uint8_t *public_keys,
                                       const uint32_t *epochs,
                                       const uint8_t *messages,
                                       const uint8_t *signatures,
                                       uint8_t *valid);

// Makes a key from a seed of 32 secret random bytes, for at least epochs epochs from first on, and writes it to the file
// path (UTF-8), which must not exist, readable by its owner only, with the record of its spent epochs in path.epoch.
// public_key is set. Takes minutes for many epochs, and allocates while it runs.
lydite_status lydite_xmss_generate(uint32_t scheme,
                                   const uint8_t *path,
                                   size_t path_length,
                                   const uint8_t *seed,
                                   uint64_t first,
                                   uint64_t epochs,
                                   uint8_t *public_key);

// Creates the record of the key file path (UTF-8), made elsewhere (leanSig's SSZ), by which all epochs below next are spent.
// The caller must know which epochs the key has signed. A key that has its record, or that its group or others can read, is
// LYDITE_ERROR_KEY_FILE. Allocates while it runs.
lydite_status lydite_xmss_adopt(uint32_t scheme,
                                const uint8_t *path,
                                size_t path_length,
                                uint64_t next);

// Opens the key file path (UTF-8), which its group and others must not be able to read. *out is to be released with
// lydite_xmss_key_free.
lydite_status lydite_xmss_key_new(uint32_t scheme, const uint8_t *path, size_t path_length, lydite_xmss_key **out);

// Closes a key file. NULL is allowed. In a forked child this leaves the parent's key open.
void lydite_xmss_key_free(lydite_xmss_key *key);

// The public key, of the size of the scheme. Allocates while it runs.
lydite_status lydite_xmss_key_public_key(const lydite_xmss_key *key, uint8_t *out);

// The epochs of the key.
lydite_status lydite_xmss_key_epochs(const lydite_xmss_key *key, lydite_xmss_epochs *out);

// Moves the window of prepared epochs up to this one, which signing does too, and writes the key anew. Allocates while it
// runs.
lydite_status lydite_xmss_key_prepare(const lydite_xmss_key *key,
                                      uint32_t epoch);

// From now on makes the tree after the window in a thread of its own, a few leaves at a time with a pause of so many
// nanoseconds in between, so that the window moves without computing. Allocates while it runs, and in that thread.
lydite_status lydite_xmss_key_prepare_ahead(const lydite_xmss_key *key, uint64_t pause);

// Signs a message of 32 bytes for an epoch, and spends it and all before it: that is on the disk before the signature is in
// out. LYDITE_ERROR_KEY_FILE for a spent epoch, and in a process forked from the one that opened the key. With out NULL or
// too small nothing is signed. Allocates while it runs.
lydite_status lydite_xmss_key_sign(const lydite_xmss_key *key,
                                   uint32_t epoch,
                                   const uint8_t *message,
                                   uint8_t *out,
                                   size_t capacity,
                                   size_t *written);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LYDITE_H */
