// Loads the shared vectors with a function that reads a file of `vectors/`.

export async function load(read) {
  const [ethereum, abi, transactions, typedData, syrup, xmss, leanvm, precompiles, errors] = await Promise.all(
    [
      'eth-ops/vectors.json', 'abi/encode.json', 'tx/generated.json', 'eip712/documents.json', 'syrup/vectors.json',
      'xmss/negative_test_2e8.json', 'xmss/leanvm.json', 'precompiles/report.json', 'errors/messages.json',
    ].map(read),
  )
  return { ethereum, abi, transactions, typedData, syrup, xmss, leanvm, precompiles, errors }
}
