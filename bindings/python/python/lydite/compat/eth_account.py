"""`eth_account.Account` with recovery and signing by Lydite."""

from eth_account import Account as _Account
from eth_account.datastructures import SignedMessage, SignedTransaction
from eth_account.messages import SignableMessage
from eth_utils.curried import combomethod
from hexbytes import HexBytes

import lydite
from lydite.compat.eth_utils import is_checksum_address

__all__ = ["Account"]

_INTEGERS = ("type", "chainId", "nonce", "gas", "gasPrice", "maxFeePerGas", "maxPriorityFeePerGas", "value")
_FIELDS = frozenset((*_INTEGERS, "to", "data"))


def _is_plain(fields):
    """Whether eth_account accepts these fields unchanged. It requires checksums, and has forms that Lydite rejects."""
    return (
        type(fields) is dict
        and fields.keys() <= _FIELDS
        and all(type(fields.get(name, 0)) is int for name in _INTEGERS)
        and (type(to := fields.get("to", b"")) is bytes or is_checksum_address(to))
        and type(fields.get("data", b"")) in (bytes, HexBytes)
        and {"chainId", "nonce", "gas", "value"} <= fields.keys()
    )


def _message_hash(message):
    return lydite.keccak256(b"\x19" + message.version + message.header + message.body)


class Account(_Account):
    @combomethod
    def recover_transaction(self, serialized_transaction):
        raw = serialized_transaction
        try:
            if isinstance(raw, str):
                raw = bytes.fromhex(raw.removeprefix("0x"))
            tx = lydite.Tx.decode(raw)
            authorizations = tx.authorization_list
            # EIP-7702 skips an authorization with a parity of 2 to 255; eth_account rejects the whole transaction, and
            # also one without authorizations.
            if authorizations is None or authorizations and all(item[3] in (0, 1) for item in authorizations):
                return lydite.to_checksum_address(tx.sender)
        except (ValueError, TypeError):
            pass
        return _Account().recover_transaction(serialized_transaction)

    @combomethod
    def sign_transaction(self, transaction_dict, private_key, blobs=None):
        if blobs is None and _is_plain(transaction_dict):
            try:
                key = self._parse_private_key(private_key).to_bytes()
                raw = lydite.sign_transaction(transaction_dict, key)
            except lydite.LyditeError:
                pass
            else:
                tx = lydite.Tx.decode(raw)
                signature = tx.signature
                v = signature[64] + (35 + 2 * tx.chain_id if tx.type == 0 else 0)
                r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:64], "big")
                return SignedTransaction(HexBytes(raw), HexBytes(tx.hash), r, s, v)
        return _Account().sign_transaction(transaction_dict, private_key, blobs=blobs)

    @combomethod
    def sign_message(self, signable_message, private_key):
        if isinstance(signable_message, SignableMessage) and len(signable_message.version) == 1:
            try:
                message_hash = _message_hash(signable_message)
                signature = lydite.sign(message_hash, self._parse_private_key(private_key).to_bytes())
            except (lydite.LyditeError, TypeError):
                pass
            else:
                v = 27 + signature[64]
                r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:64], "big")
                return SignedMessage(HexBytes(message_hash), r, s, v, HexBytes(signature[:64] + bytes([v])))
        return _Account().sign_message(signable_message, private_key)

    @combomethod
    def recover_message(self, signable_message, vrs=None, signature=None):
        if vrs is None and isinstance(signature, bytes) and len(signable_message.version) == 1:
            try:
                return lydite.to_checksum_address(lydite.ecrecover(_message_hash(signable_message), signature))
            except (lydite.LyditeError, TypeError):
                pass
        return _Account().recover_message(signable_message, vrs, signature)
