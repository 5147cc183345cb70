"""Drop-in replacements for the packages they are named after: `import lydite.compat.eth_abi as eth_abi`.

Input that Lydite rejects or does not support is passed to the original package, so results and exceptions match it.
"""
