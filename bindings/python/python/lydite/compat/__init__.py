"""Modules that answer like the packages they are named after, faster: `import lydite.compat.eth_abi as eth_abi`.

What Lydite refuses or does not know is handed to the original package, so that results and exceptions are its own.
"""
