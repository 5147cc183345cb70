"""A backend of `eth_keys`: `ECC_BACKEND_CLASS=lydite.compat.eth_keys.LyditeECCBackend python app.py`."""

from eth_keys.backends.base import BaseECCBackend
from eth_keys.datatypes import NonRecoverableSignature, PublicKey, Signature
from eth_keys.exceptions import BadSignature, ValidationError

import lydite

__all__ = ["LyditeECCBackend"]


def _rs(signature):
    return signature.r.to_bytes(32, "big") + signature.s.to_bytes(32, "big")


class LyditeECCBackend(BaseECCBackend):
    def ecdsa_sign(self, msg_hash, private_key):
        return Signature(lydite.sign(msg_hash, private_key.to_bytes()), backend=self)

    def ecdsa_sign_non_recoverable(self, msg_hash, private_key):
        signature = lydite.sign(msg_hash, private_key.to_bytes())
        return NonRecoverableSignature(signature[:64], backend=self)

    def ecdsa_verify(self, msg_hash, signature, public_key):
        try:
            return lydite.verify(public_key.to_bytes(), msg_hash, _rs(signature))
        except lydite.SignatureError:
            return False

    def ecdsa_recover(self, msg_hash, signature):
        try:
            return PublicKey(lydite.recover_public_key(msg_hash, signature.to_bytes()), backend=self)
        except lydite.LyditeError as error:
            raise BadSignature(str(error)) from error

    def private_key_to_public_key(self, private_key):
        try:
            return PublicKey(lydite.public_key(private_key.to_bytes()), backend=self)
        except lydite.SignatureError as error:
            raise ValidationError(str(error)) from error

    def decompress_public_key_bytes(self, compressed_public_key_bytes):
        return lydite.public_key_to_sec1(compressed_public_key_bytes, compressed=False)[1:]

    def compress_public_key_bytes(self, uncompressed_public_key_bytes):
        return lydite.public_key_to_sec1(uncompressed_public_key_bytes)
