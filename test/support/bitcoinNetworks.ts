import { mainnet, type Network, regtest, testnet } from "../../src/protocol/networks.ts"

/**
 * Bitcoin's prefixes, for vectors made for Bitcoin: our code takes a network's facts as a value, so the vectors
 * run against it unchanged. Keys are the chain names those vectors use.
 */
export const bitcoinNetworks: Readonly<Record<"main" | "testnet4" | "signet" | "regtest", Network>> = {
  main: { ...mainnet, base58: { p2pkh: 0, p2sh: 5, wif: 128 }, bech32Hrp: "bc" },
  testnet4: { ...testnet, base58: { p2pkh: 111, p2sh: 196, wif: 239 }, bech32Hrp: "tb" },
  signet: { ...testnet, base58: { p2pkh: 111, p2sh: 196, wif: 239 }, bech32Hrp: "tb" },
  regtest: { ...regtest, base58: { p2pkh: 111, p2sh: 196, wif: 239 }, bech32Hrp: "bcrt" }
}
