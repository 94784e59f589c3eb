import { assert, describe, it } from "@effect/vitest"
import { Flag, NO_FLAGS } from "../../src/consensus/flags.ts"
import { checkNameTransaction, madeNameScripts, nameEffects, nameScripts } from "../../src/consensus/names.ts"
import { mainnetParams } from "../../src/consensus/params.ts"
import type { Coin, NameClaim } from "../../src/consensus/view.ts"
import { decodeBlock } from "../../src/protocol/block.ts"
import { displayHash, EMPTY, fromHex, toHex } from "../../src/protocol/bytes.ts"
import { type NameOperation, nameScript, parseNameScript } from "../../src/protocol/nameOperation.ts"
import { decodeTransaction, outpoint, outpointKey, type Transaction } from "../../src/protocol/transaction.ts"
import { fixtureJson, fixtureText, hasShared } from "../support/fixtures.ts"
import { ANYONE, text } from "../support/regtest.ts"

/** The name rules on transactions of the main network. */

const PLAIN: Coin = { value: 1_000_000, script: ANYONE, height: 100, coinbase: false }

const transactionOf = (hex: string): Transaction => decodeTransaction(fromHex(hex) ?? EMPTY)

/** A.1: registration and a later update of d/bitcoin on mainnet. */
const D_BITCOIN_NEW = transactionOf(
  "00710000019d5bd215949686a20833c7a8879df3fd7327ddcc345d34883b6efce555c27bad0000000049483045022100c12741dcb1e59d3fda413c98a4" +
    "85d93fc3a035b814bb8012c409f838efb1be3a02206bb68be402893b8905dd7955f440b7f724f2506d68de778ef13db2b08c491f8f01ffffffff0280" +
    "6de72901000000434104d5fa46e34a0dc6e162216aa20a4f0ad3dd2e8c6ab2aa14608800954baf0e9d381b51ca56dffd0167da2596bc154c807aa23b" +
    "f7ca26ad21bad55fc4bc76fae2efac40420f000000000030511447dd31eb02f8307b3f08d455fea850dfe66a61576d76a91420013fd3cf2d8944e79b" +
    "e5c7ac73de91949916c488ac00000000"
)
const D_BITCOIN_FIRST = transactionOf(
  "0071000002cb2c7e36f81595107dd3a40dee976f05d0c4c9090996aa03841176a028ce4760010000008c493046022100ebc2fa03454cb41ed7e45f6f31" +
    "452580f81b3b93717b6bb53d9dde38f6692f9b022100a6afcdd3d7492fb6fdd86fa46fe2739f3a6bec4aa7b67691e5a37c92009cff7801410406f32a" +
    "6876d45f1ac54253bef3f0d4d3f133d0827b2fc584ab78018ef1e5d88636b10abe4c03d4a1e78d4ce8042016e6858bda97e5ce184f869d279485d3df" +
    "0affffffff9a77ebf968183ad9384e483399add0e15800b9423fe0a081e29cf8be6ff8a2ee0000000048473044022048011440a424837baf06efd202" +
    "f357715643f9fbef89d2ad8a17b41eb86b5074022056421a67107834fc1a1eaf28f175ee5fd848bfe641ab0732025a2de6c267c29501ffffffff0300" +
    "51250200000000434104309c991c4fb6c34d3722ca7776790c506ac762d46a2baa169eb14ed8c9a0c9bd998f59d00c7ca61fdb0a9a372427aa8b7d17" +
    "6cda2b1f1d06d7a2a8210014ecf0ac40420f00000000004d5209642f626974636f696e09e9423b3c569a3bb0001c77656270616765646576656c6f70" +
    "65722e6d652f6e616d65636f696e6d6d76a914dbc7c2fad09980487da47a2e00138cffcaab2d6188acc055942701000000016a00000000"
)

const D_BITCOIN_UPDATE = transactionOf(
  "0071000002d164ed05d8d3940df8d8d1b5f5c116f7152c304a1e2bdd55d773f6ccbbf4e775010000008a473044022054e1557304c504" +
    "498f8d40b961373d7401a4e4c1650518db8a9c3a49ee9add7e022061573b2837598c346b21c01969081a309c055d5da23b0ac7e139a6" +
    "290f2f0a4b014104d2628245cdfc6ccf5a762d303ba8a10bd54d597cfdcbf0ac3823bae666a36bb744ed44a2384f42525e37b5b1150c" +
    "5321718806c0f941904336588dd624f4ce93ffffffffb9c70ce4bbbfe58fa5846eb95a04aa37b1bbf3cc1a25e9bf3d99610180b401f2" +
    "00000000494830450220669b68c2b7b54eaa234254a7bf0340014838fcd6b01dfca89200ab1494e2b7d7022100b402036b83624a90f2" +
    "eef6b3d372af0c89cd3438ce0c5dfe70cbcd128462d0cc01ffffffff0250741600000000004341042fa0d54ceb072583db719fce8940" +
    "c95e62ad7203f2a09ee7e4ed99a333f4dc078a36de61b2548c137ebe99134130a135f0442bea4764906bd9bb7c04e07e8341ac40420f" +
    "0000000000f75309642f626974636f696e4ccf7b22696e666f223a7b22726567697374726172223a22687474703a2f2f726567697374" +
    "65722e646f742d6269742e6f7267227d2c22656d61696c223a2022726567697374657240646f742d6269742e6f7267222c226e73223a" +
    "5b226e73302e7765622d73776565742d7765622e6e6574222c226e73312e7765622d73776565742d7765622e6e6574225d2c226d6170" +
    "223a7b22223a7b226e73223a5b226e73302e7765622d73776565742d7765622e6e6574222c226e73312e7765622d73776565742d7765" +
    "622e6e6574225d7d7d7d6d7576a9148f29c40b89ceda0b9176819e2bb5a15f592c654888ac00000000"
)

describe("A.1: d/bitcoin", () => {
  const registration = (height: number, made: number): string | undefined => {
    const output = D_BITCOIN_NEW.outputs[1]
    if (output === undefined) throw new Error("the vector has no output 1")
    const coins = [{ ...output, height: made, coinbase: false }, PLAIN]
    const scripts = nameScripts(D_BITCOIN_FIRST, coins)
    const flags = NO_FLAGS
    const claim = () => undefined
    const check = { transaction: D_BITCOIN_FIRST, coins, scripts, height, params: mainnetParams, flags, claim }
    return checkNameTransaction(check)?.reason ??
      checkNameTransaction({ ...check, flags: Flag.NAMES_MEMPOOL | Flag.NAMES_LONG_SALT })?.reason
  }

  it("the transactions have their txids", () => {
    assert.strictEqual(
      displayHash(D_BITCOIN_NEW.txid),
      "6047ce28a076118403aa960909c9c4d0056f97ee0da4d37d109515f8367e2ccb"
    )
    assert.strictEqual(
      displayHash(D_BITCOIN_FIRST.txid),
      "ab1207bd605af57ed0b5325ac94d19578cff3bce668ebe8dda2f42a00b001f5d"
    )
  })

  it("the registration is valid in a block after 12 blocks; its short salt is refused in the mempool", () => {
    assert.strictEqual(registration(151, 140), "tx-firstupdate-immature")
    assert.strictEqual(registration(152, 140), "tx-firstupdate-invalid-rand")
  })

  it("the registration has the name in its second output, with an address after the prefix", () => {
    const [, made] = madeNameScripts(D_BITCOIN_FIRST)
    assert.strictEqual(made?.operation.op, "name_firstupdate")
    assert.strictEqual(toHex(made?.address ?? EMPTY), "76a914dbc7c2fad09980487da47a2e00138cffcaab2d6188ac")
  })
})

describe("A.1: an update of d/bitcoin", () => {
  const previous: NameOperation = { op: "name_update", name: text("d/bitcoin"), value: text("{}") }
  const [spent] = D_BITCOIN_UPDATE.inputs
  const outpointOfName = outpointKey(spent?.prevout ?? EMPTY)

  const reasonAfter = (updated: number): string | undefined => {
    const transaction = D_BITCOIN_UPDATE
    const coins = [{ ...PLAIN, script: nameScript(previous, ANYONE), height: updated }, PLAIN]
    const claim: NameClaim = { height: updated, outpoint: outpointOfName }
    const scripts = nameScripts(transaction, coins)
    const check = { transaction, coins, scripts, height: 12_099, params: mainnetParams, flags: NO_FLAGS }
    return checkNameTransaction({ ...check, claim: () => claim })?.reason
  }

  it("the update has its txid, its value of 207 bytes and its amount", () => {
    const txid = "3376c5e0e5b69d0a104863de8432d7c13f891065e7628a72487b770c6418d397"
    assert.strictEqual(displayHash(D_BITCOIN_UPDATE.txid), txid)
    const [, made] = madeNameScripts(D_BITCOIN_UPDATE)
    assert.strictEqual(made?.operation.op === "name_update" ? made.operation.value.length : 0, 207)
    assert.strictEqual(D_BITCOIN_UPDATE.outputs[1]?.value, 1_000_000)
  })

  it("the update is valid while the name lives, in the 11,999 blocks after the last update", () => {
    assert.isUndefined(reasonAfter(100))
    assert.strictEqual(reasonAfter(99), "tx-nameupdate-expired")
  })
})

describe.skipIf(!hasShared)("real name transactions", () => {
  const decode = (name: string): Transaction => {
    const { hex } = fixtureJson<{ readonly hex: string }>(`namecoin-mainnet/transactions/electrumx_tx_${name}.json`)
    return transactionOf(hex)
  }

  it("the whole life of d/heretostay follows the rules", () => {
    const [commitment, first, update] = ["0c6867", "5e3495", "cfc5d7"].map(decode)
    if (commitment === undefined || first === undefined || update === undefined) throw new Error("a fixture is missing")
    const made = (transaction: Transaction, height: number) =>
      new Map(transaction.outputs.map(({ script, value }, i) => [
        outpointKey(outpoint(transaction.txid, i)),
        { value, script, height, coinbase: false }
      ]))
    const known = new Map([...made(commitment, 100), ...made(first, 200)])
    const reasonOf = (transaction: Transaction, height: number, claim?: NameClaim) => {
      const coins = transaction.inputs.map(({ prevout }) => known.get(outpointKey(prevout)) ?? PLAIN)
      const scripts = nameScripts(transaction, coins)
      const check = { transaction, coins, scripts, height, params: mainnetParams, flags: NO_FLAGS, claim: () => claim }
      return checkNameTransaction(check)?.reason
    }
    assert.isUndefined(reasonOf(commitment, 100))
    assert.isUndefined(reasonOf(first, 200))
    const vout = first.outputs.findIndex(({ script }) => parseNameScript(script) !== undefined)
    assert.isUndefined(reasonOf(update, 300, { height: 200, outpoint: outpointKey(outpoint(first.txid, vout)) }))
    assert.strictEqual(reasonOf(update, 300), "tx-nameupdate-nonexistant")
    assert.strictEqual(reasonOf(first, 111), "tx-firstupdate-immature")
  })

  it.each([
    { file: "block_40000.hex", height: 40_000, ops: ["name_firstupdate"] },
    { file: "block_210000.hex", height: 210_000, ops: Array.from({ length: 7 }, () => "name_update") }
  ])("mainnet block $height has its name effects", ({ file, height, ops }) => {
    const block = decodeBlock(fromHex(fixtureText(`namecoin-mainnet/blocks/${file}`).trim()) ?? EMPTY)
    assert.deepStrictEqual(nameEffects(block, height, mainnetParams).map(({ operation }) => operation.op), ops)
  })
})
