import { type AddressFormat, mainnetAddresses, regtestAddresses, testnetAddresses } from "./addressFormat.ts"
import { type Bytes, fromHex } from "./bytes.ts"

// The three networks and their values on the wire and in text (reference/protocol.md 1.1 to 1.4; upstream
// `kernel/chainparams.cpp`, `chainparamsbase.cpp`). Heights, limits and other rules are in consensus/params.ts.

export type NetworkName = "mainnet" | "testnet" | "regtest"

export interface Network extends AddressFormat {
  readonly name: NetworkName
  /** The reference node's name for it in `getblockchaininfo`. */
  readonly chainName: "main" | "test" | "regtest"
  /** First four bytes of every message and block file record, in wire order. */
  readonly magic: Bytes
  readonly defaultP2pPort: number
  readonly defaultRpcPort: number
  /** Version of BIP 32 public keys. Mainnet's and testnet's are Bitcoin's. */
  readonly extendedPublic: number
  readonly extendedPrivate: number
  /** Second step of derivation paths (BIP 44, 49, 84 and 86), without the hardening bit. */
  readonly coinType: number
  /** The first block. Its coinbase output cannot be spent. */
  readonly genesisBlock: Bytes
  /** Wire order. */
  readonly genesisHash: Bytes
  /** Host names of DNS seeds, with a final dot so that no search list applies. */
  readonly dnsSeeds: ReadonlyArray<string>
  /** Peers to try if no other address is known, as `address:port`. */
  readonly fixedSeeds: ReadonlyArray<string>
}

const constant = (hex: string): Uint8Array => {
  const bytes = fromHex(hex)
  if (bytes === undefined) throw new TypeError(`not hexadecimal: ${hex}`)
  return bytes
}

/** Takes the hash in wire order, to avoid loading a hash function. */
const genesis = (
  { block, hash }: { readonly hash: string; readonly block: string }
): Pick<Network, "genesisBlock" | "genesisHash"> => ({
  genesisBlock: constant(block),
  genesisHash: constant(hash)
})

/** Bitcoin's genesis block with another header (time, bits and nonce, 12 bytes), as on testnet and regtest. */
const bitcoinGenesis = (
  { hash, timeBitsNonce }: { readonly hash: string; readonly timeBitsNonce: string }
): Pick<Network, "genesisBlock" | "genesisHash"> =>
  genesis({
    hash,
    block: "0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f61" +
      "7fc81bc3888a51323a9fb8aa4b1e5e4a" +
      timeBitsNonce +
      "0101000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04ffff001d01044554" +
      "68652054696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365636f6e642062" +
      "61696c6f757420666f722062616e6b73ffffffff0100f2052a01000000434104678afdb0fe5548271967f1a67130b7105cd6a828" +
      "e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac00000000"
  })

export const mainnet: Network = {
  name: "mainnet",
  chainName: "main",
  magic: constant("f9beb4fe"),
  defaultP2pPort: 8334,
  defaultRpcPort: 8336,
  extendedPublic: 0x0488b21e,
  extendedPrivate: 0x0488ade4,
  ...mainnetAddresses,
  coinType: 7,
  ...genesis({
    hash: "70c7a9f0a2fb3d48e635a70d5b157c807e58c8fb45eb2c5e2cb7620000000000",
    block: "0100000000000000000000000000000000000000000000000000000000000000000000000dcbd3e6f061215bf3b3383c8ce2ec20" +
      "1bc65acde32595449ac86890bd2dc641c133aa4dff7f001c92a11ea2010100000001000000000000000000000000000000000000" +
      "0000000000000000000000000000ffffffff5404ff7f001c020a024b2e2e2e2063686f6f7365207768617420636f6d6573206e65" +
      "78742e20204c69766573206f6620796f7572206f776e2c206f7220612072657475726e20746f20636861696e732e202d2d2056ff" +
      "ffffff0100f2052a01000000434104b620369050cd899ffbbc4e8ee51e8c4534a855bb463439d63d235d4779685d8b6f4870a238" +
      "cf365ac94fa13ef9a2a22cd99d0d5ee86dcabcafce36c7acf43ce5ac00000000"
  }),
  dnsSeeds: [
    "nmc.seed.quisquis.de.",
    "seed.nmc.markasoftware.com.",
    "dnsseed1.nmc.dotbit.zone.",
    "dnsseed2.nmc.dotbit.zone.",
    "dnsseed.nmc.testls.space.",
    "namecoin.seed.cypherstack.com."
  ],
  fixedSeeds: [
    "31.179.204.142:8334",
    "37.191.194.220:8334",
    "45.62.228.132:8334",
    "46.188.83.149:8334",
    "46.229.238.187:8334",
    "47.90.204.241:8334",
    "47.106.161.182:8334",
    "47.252.14.48:8334",
    "62.75.198.178:7116",
    "63.247.147.166:8334",
    "65.21.235.170:8334",
    "65.186.33.100:8334",
    "68.35.213.175:8334",
    "68.64.172.246:8334",
    "69.30.211.114:8334",
    "70.184.247.44:8334",
    "76.106.6.27:8334",
    "78.32.157.222:8334",
    "78.36.44.36:17722",
    "81.2.237.10:8334",
    "82.65.114.73:8334",
    "82.117.166.77:8334",
    "82.119.233.36:8334",
    "87.121.37.156:8334",
    "89.75.52.19:45927",
    "91.217.137.27:8334",
    "95.154.90.99:8334",
    "97.77.231.90:9008",
    "103.243.173.210:8334",
    "103.243.173.214:8334",
    "107.221.86.186:8334",
    "108.61.196.133:8334",
    "109.236.92.161:8334",
    "116.203.63.94:8334",
    "119.23.20.3:8334",
    "149.248.57.185:8334",
    "152.228.187.235:8334",
    "162.62.21.212:8334",
    "173.212.202.33:8339",
    "178.55.187.114:8334",
    "184.98.116.90:8334",
    "185.87.45.95:8334",
    "188.167.143.95:8334",
    "193.210.234.208:8334",
    "212.51.144.42:8334",
    "[2001:15e8:110:50a::1]:8334",
    "[2001:470:8:809::1df5]:8334",
    "[2a00:c440:70:88b:2e0:81ff:fee6:e25c]:8334",
    "[2a02:168:420b:a::29]:8334"
  ]
}

export const testnet: Network = {
  name: "testnet",
  chainName: "test",
  magic: constant("fabfb5fe"),
  defaultP2pPort: 18334,
  defaultRpcPort: 18336,
  extendedPublic: 0x043587cf,
  extendedPrivate: 0x04358394,
  ...testnetAddresses,
  coinType: 1,
  ...bitcoinGenesis({
    hash: "08b067b31dc139ee8e7a76a4f2cfcca477c4c06e1ef89f4ae308951907000000",
    timeBitsNonce: "dae5494df8ff071dff0bec16"
  }),
  dnsSeeds: ["dnsseed.test.namecoin.webbtc.com."],
  fixedSeeds: []
}

export const regtest: Network = {
  name: "regtest",
  chainName: "regtest",
  magic: constant("fabfb5da"),
  defaultP2pPort: 18444,
  defaultRpcPort: 18443,
  extendedPublic: 0x043587cf,
  extendedPrivate: 0x04358394,
  ...regtestAddresses,
  coinType: 1,
  ...bitcoinGenesis({
    hash: "06226e46111a0b59caaf126043eb5bbf28c34f3a5e332a1fc7b2b73cf188910f",
    timeBitsNonce: "dae5494dffff7f2002000000"
  }),
  dnsSeeds: [],
  fixedSeeds: []
}

export const networks: Readonly<Record<NetworkName, Network>> = { mainnet, testnet, regtest }

export const networkNamed = (text: string): Network | undefined =>
  Object.values(networks).find(({ name }) => name === text)
