/** The values of a network in the text of addresses and keys (reference/protocol.md 1.4). */
export interface AddressFormat {
  /** Version bytes of Base58Check addresses and private keys. */
  readonly base58: { readonly p2pkh: number; readonly p2sh: number; readonly wif: number }
  readonly bech32Hrp: string
}

export const mainnetAddresses: AddressFormat = { base58: { p2pkh: 52, p2sh: 13, wif: 180 }, bech32Hrp: "nc" }

export const testnetAddresses: AddressFormat = { base58: { p2pkh: 111, p2sh: 196, wif: 239 }, bech32Hrp: "tn" }

export const regtestAddresses: AddressFormat = { base58: { p2pkh: 111, p2sh: 196, wif: 239 }, bech32Hrp: "ncrt" }
