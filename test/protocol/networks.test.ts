import { assert, describe, it } from "@effect/vitest"
import { displayHash, toHex } from "../../src/protocol/bytes.ts"
import { hash256 } from "../../src/protocol/hash.ts"
import { mainnet, type Network, networkNamed, networks, regtest, testnet } from "../../src/protocol/networks.ts"
import { fixtureJson, fixtureText, hasShared } from "../support/fixtures.ts"

const all: ReadonlyArray<Network> = [mainnet, testnet, regtest]

describe("networkNamed", () => {
  it("networkNamed finds the three networks by name and no other", () => {
    for (const network of all) assert.strictEqual(networkNamed(network.name), network)
    for (const text of ["", "main", "test", "MAINNET", "mainnet ", "signet", "toString", "__proto__"]) {
      assert.isUndefined(networkNamed(text), text)
    }
    assert.deepStrictEqual(Object.keys(networks), ["mainnet", "testnet", "regtest"])
  })
})

describe("genesis blocks (reference/protocol.md 1.3)", () => {
  it.each([
    {
      network: mainnet,
      size: 292,
      time: 1303000001,
      bits: 0x1c007fff,
      nonce: 2719916434,
      merkleRoot: "41c62dbd9068c89a449525e3cd5ac61b20ece28c3c38b3f35b2161f0e6d3cb0d",
      hash: "000000000062b72c5e2ceb45fbc8587e807c155b0da735e6483dfba2f0a9c770"
    },
    {
      network: testnet,
      size: 285,
      time: 1296688602,
      bits: 0x1d07fff8,
      nonce: 384568319,
      merkleRoot: "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b",
      hash: "00000007199508e34a9ff81e6ec0c477a4cccff2a4767a8eee39c11db367b008"
    },
    {
      network: regtest,
      size: 285,
      time: 1296688602,
      bits: 0x207fffff,
      nonce: 2,
      merkleRoot: "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b",
      hash: "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"
    }
  ])("$network.name has its genesis header", ({ bits, hash, merkleRoot, network, nonce, size, time }) => {
    const block = network.genesisBlock
    const view = new DataView(block.buffer, block.byteOffset, block.byteLength)
    assert.strictEqual(block.length, size)
    assert.strictEqual(view.getUint32(0, true), 1)
    assert.strictEqual(displayHash(block.subarray(4, 36)), "0".repeat(64))
    assert.strictEqual(displayHash(block.subarray(36, 68)), merkleRoot)
    assert.strictEqual(view.getUint32(68, true), time)
    assert.strictEqual(view.getUint32(72, true), bits)
    assert.strictEqual(view.getUint32(76, true), nonce)
    assert.strictEqual(displayHash(network.genesisHash), hash)
  })

  it.each(all)("the genesis block of $name has one transaction, whose hash is the merkle root", ({ genesisBlock }) => {
    assert.strictEqual(genesisBlock[80], 1)
    assert.strictEqual(toHex(hash256(genesisBlock.subarray(81))), toHex(genesisBlock.subarray(36, 68)))
  })
})

describe.skipIf(!hasShared)("network facts of the fixtures", () => {
  interface Facts {
    readonly magic: string
    readonly p2p_port: number
    readonly rpc_port: number
    readonly pubkey_address_prefix: number
    readonly script_address_prefix: number
    readonly secret_key_prefix: number
    readonly bech32_hrp: string
    readonly xpub_prefix?: string
    readonly xprv_prefix?: string
    readonly genesis_hash: string
    readonly dns_seeds?: ReadonlyArray<string>
  }

  it.each(all)("the parameters of $name match", (network) => {
    const params = fixtureJson<Record<string, Facts>>("namecoin-mainnet/params/network_params.json")
    const facts = params[network.name] ?? assert.fail("no such network")
    assert.strictEqual(toHex(network.magic), facts.magic)
    assert.strictEqual(network.defaultP2pPort, facts.p2p_port)
    assert.strictEqual(network.defaultRpcPort, facts.rpc_port)
    assert.deepStrictEqual(network.base58, {
      p2pkh: facts.pubkey_address_prefix,
      p2sh: facts.script_address_prefix,
      wif: facts.secret_key_prefix
    })
    assert.strictEqual(network.bech32Hrp, facts.bech32_hrp)
    // The fixture omits them for regtest, where they equal testnet's (reference/protocol.md 1.1).
    const version = (number: number) => number.toString(16).padStart(8, "0")
    assert.strictEqual(version(network.extendedPublic), facts.xpub_prefix ?? "043587cf")
    assert.strictEqual(version(network.extendedPrivate), facts.xprv_prefix ?? "04358394")
    assert.strictEqual(displayHash(network.genesisHash), facts.genesis_hash)
    assert.deepStrictEqual(network.dnsSeeds, (facts.dns_seeds ?? []).map((host) => `${host}.`))
  })

  it.each(all)("the genesis block of $name matches completely", (network) => {
    const blocks = fixtureJson<Record<string, { readonly block: string }>>("namecoin-mainnet/blocks/genesis.json")
    assert.strictEqual(toHex(network.genesisBlock), blocks[network.name]?.block)
  })

  it("the fixed seeds match", () => {
    const seeds = fixtureText("namecoin-mainnet/params/seed_nodes_main.txt").split("\n").filter((line) => line !== "")
    assert.strictEqual(seeds.length, 49)
    assert.deepStrictEqual(mainnet.fixedSeeds, seeds)
    assert.deepStrictEqual(testnet.fixedSeeds, [])
    assert.deepStrictEqual(regtest.fixedSeeds, [])
  })
})

describe("distinct values of the networks", () => {
  it("each network has its own magic and genesis block", () => {
    assert.strictEqual(new Set(all.map(({ magic }) => toHex(magic))).size, 3)
    assert.strictEqual(new Set(all.map(({ genesisHash }) => toHex(genesisHash))).size, 3)
  })

  it("the networks have the reference node's names and BIP 44's coin types", () => {
    assert.deepStrictEqual(all.map(({ chainName }) => chainName), ["main", "test", "regtest"])
    assert.deepStrictEqual(all.map(({ coinType }) => coinType), [7, 1, 1])
  })
})
