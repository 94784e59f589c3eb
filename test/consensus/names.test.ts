import { assert, describe, it } from "@effect/vitest"
import { Flag, NO_FLAGS } from "../../src/consensus/flags.ts"
import { type HistoricBug, historicBugsOf } from "../../src/consensus/historicBugs.ts"
import {
  checkNameTransaction,
  MIN_NAME_AMOUNT,
  minNameAmount,
  type NameCheck,
  nameEffects,
  nameScripts
} from "../../src/consensus/names.ts"
import { type ConsensusParams, mainnetParams, regtestParams, testnetParams } from "../../src/consensus/params.ts"
import type { Coin, NameClaim } from "../../src/consensus/view.ts"
import { decodeBlock, makeBlock } from "../../src/protocol/block.ts"
import { binaryString, type Bytes, displayHash, EMPTY, toHex } from "../../src/protocol/bytes.ts"
import { NAME_TX_VERSION, type NameOperation, nameScript } from "../../src/protocol/nameOperation.ts"
import {
  NO_WITNESS,
  outpoint,
  outpointKey,
  type Transaction,
  type TransactionInput,
  type TransactionOutput
} from "../../src/protocol/transaction.ts"
import { ANYONE, currency, nameNew, nameOutput, saltOf, text } from "../support/regtest.ts"

/** Height of the block that will contain the transaction. */
const HEIGHT = 1000

const NAME = text("d/example")
const SALT = saltOf(1)

const UPDATE: NameOperation = { op: "name_update", name: NAME, value: text("{}") }
const FIRST: NameOperation = { op: "name_firstupdate", name: NAME, rand: SALT, value: text("{}") }
const NEW = nameNew(NAME, SALT)

const coin = (script: Bytes, height = HEIGHT - 20): Coin => ({ value: 1_000_000, script, height, coinbase: false })

const nameCoin = (operation: NameOperation, height?: number): Coin => coin(nameScript(operation, ANYONE), height)

const PLAIN = coin(ANYONE)

const inputAt = (index: number): TransactionInput => ({
  prevout: outpoint(new Uint8Array(32).fill(5), index),
  scriptSig: EMPTY,
  sequence: 0xffffffff,
  witness: NO_WITNESS
})

const keyAt = (index: number): string => outpointKey(inputAt(index).prevout)

/** A transaction that spends `coins` to `outputs`, and its context. */
interface Situation {
  readonly coins?: ReadonlyArray<Coin | undefined>
  readonly outputs: ReadonlyArray<TransactionOutput>
  readonly version?: number
  readonly flags?: number
  readonly params?: NameCheck["params"]
  readonly height?: number
  readonly claim?: NameClaim | undefined
}

const verdict = (situation: Situation): string | undefined => {
  const { claim, coins = [PLAIN], flags = NO_FLAGS, height = HEIGHT, params = regtestParams } = situation
  const transaction = currency(coins.map((_, i) => inputAt(i)), situation.outputs, {
    version: situation.version ?? NAME_TX_VERSION
  })
  const scripts = nameScripts(transaction, coins)
  const asked: Array<string> = []
  const reject = checkNameTransaction({
    transaction,
    coins,
    scripts,
    height,
    params,
    flags,
    claim: (name) => {
      asked.push(name)
      return name === binaryString(NAME) ? claim : undefined
    }
  })
  assert.isAtMost(asked.length, 1)
  return reject?.reason
}

const CHANGE = { value: 1, script: ANYONE }

/** Rules under which these transactions are exceptions at `HEIGHT`. */
const withBug = (transaction: Transaction, bug: HistoricBug, height = HEIGHT): ConsensusParams => ({
  ...regtestParams,
  historicBugs: historicBugsOf([[height, displayHash(transaction.txid), bug]])
})

/** The claim of the name coin at input 0. */
const CURRENT: NameClaim = { height: HEIGHT - 20, outpoint: keyAt(0) }

describe("checkNameTransaction", () => {
  it("N0: a historic exception is not checked, at its height only", () => {
    const coins = [nameCoin(NEW), nameCoin(UPDATE), undefined]
    const outputs = [nameOutput(FIRST), nameOutput(UPDATE)]
    const transaction = currency(coins.map((_, i) => inputAt(i)), outputs, { version: 2 })
    for (const bug of ["ignore", "apply", "utxo"] as const) {
      const params = withBug(transaction, bug)
      assert.isUndefined(verdict({ coins, outputs, version: 2, params }))
      assert.strictEqual(verdict({ coins, outputs, version: 2, params, height: HEIGHT + 1 }), "tx-multiple-name-inputs")
      assert.strictEqual(verdict({ coins, outputs, version: 1, params }), "tx-multiple-name-inputs")
    }
  })

  it("N1: every coin must exist", () => {
    assert.strictEqual(verdict({ coins: [undefined], outputs: [CHANGE], version: 2 }), "bad-txns-inputs-missingorspent")
    const late = [PLAIN, nameCoin(UPDATE), undefined]
    assert.strictEqual(verdict({ coins: late, outputs: [CHANGE] }), "bad-txns-inputs-missingorspent")
    assert.isUndefined(verdict({ coins: [PLAIN, PLAIN], outputs: [CHANGE], version: 2 }))
  })

  it("N1, N2: inputs are checked in their order", () => {
    const two = nameCoin(UPDATE)
    assert.strictEqual(verdict({ coins: [two, two, undefined], outputs: [CHANGE] }), "tx-multiple-name-inputs")
    assert.strictEqual(verdict({ coins: [two, undefined, two], outputs: [CHANGE] }), "bad-txns-inputs-missingorspent")
  })

  it.each([
    { first: UPDATE, second: UPDATE },
    { first: NEW, second: NEW },
    { first: NEW, second: UPDATE }
  ])("N2: a transaction has at most one name input ($first.op, $second.op), in any version", ({ first, second }) => {
    const coins = [nameCoin(first), nameCoin(second)]
    assert.strictEqual(verdict({ coins, outputs: [nameOutput(UPDATE)] }), "tx-multiple-name-inputs")
    assert.strictEqual(verdict({ coins, outputs: [CHANGE], version: 2 }), "tx-multiple-name-inputs")
  })

  it.each([
    { first: UPDATE, second: UPDATE },
    { first: NEW, second: NEW },
    { first: UPDATE, second: NEW }
  ])("N3: a transaction has at most one name output ($first.op, $second.op), in any version", ({ first, second }) => {
    const outputs = [nameOutput(first), nameOutput(second)]
    assert.strictEqual(verdict({ outputs }), "tx-multiple-name-outputs")
    assert.strictEqual(verdict({ outputs, version: 2 }), "tx-multiple-name-outputs")
  })

  it.each([1, 2, 0x7101, 0x70ff, 0xffff7100])("N4, N5: a transaction of version %i must not have names", (version) => {
    const outputs = [nameOutput(NEW)]
    assert.strictEqual(verdict({ outputs, version }), "tx-nonname-with-name-output")
    assert.strictEqual(verdict({ coins: [nameCoin(NEW)], outputs: [CHANGE], version }), "tx-nonname-with-name-input")
    assert.strictEqual(verdict({ coins: [nameCoin(UPDATE)], outputs, version }), "tx-nonname-with-name-input")
    assert.isUndefined(verdict({ outputs: [CHANGE], version }))
  })

  it("N6: a name transaction must have a name output", () => {
    assert.strictEqual(verdict({ outputs: [CHANGE] }), "tx-name-without-name-output")
    assert.strictEqual(verdict({ coins: [nameCoin(UPDATE)], outputs: [CHANGE] }), "tx-name-without-name-output")
    assert.isUndefined(verdict({ outputs: [CHANGE, nameOutput(NEW)] }))
  })

  it.each([
    { params: mainnetParams, height: 212_499, least: 0 },
    { params: mainnetParams, height: 212_500, least: 1_000_000 },
    { params: testnetParams, height: 1, least: 1_000_000 },
    { params: regtestParams, height: 1, least: 1_000_000 }
  ])(
    "N6b: a name output has at least $least at height $height of $params.network.name",
    ({ height, least, params }) => {
      assert.strictEqual(minNameAmount(height, params), least)
      assert.isUndefined(verdict({ outputs: [nameOutput(NEW, least)], height, params }))
      const greedy = least === 0 ? undefined : "tx-name-greedy"
      assert.strictEqual(verdict({ outputs: [nameOutput(NEW, Math.max(least - 1, 0))], height, params }), greedy)
    }
  )

  it.each([NEW, FIRST, UPDATE])("N6b: the amount of a $op is checked before the other rules", (operation) => {
    const outputs = [nameOutput(operation, MIN_NAME_AMOUNT - 1)]
    assert.strictEqual(verdict({ coins: [nameCoin(UPDATE)], outputs }), "tx-name-greedy")
  })

  it.each([UPDATE, FIRST, NEW])("N7: a NAME_NEW must not spend a name such as a $op", (operation) => {
    assert.strictEqual(
      verdict({ coins: [nameCoin(operation)], outputs: [nameOutput(NEW)] }),
      "tx-namenew-with-name-input"
    )
  })

  it.each([
    { size: 0, reason: "tx-namenew-wrong-size" },
    { size: 19, reason: "tx-namenew-wrong-size" },
    { size: 20, reason: undefined },
    { size: 21, reason: "tx-namenew-wrong-size" }
  ])("N7b: a commitment of $size bytes: $reason", ({ reason, size }) => {
    const outputs = [nameOutput({ op: "name_new", commitment: new Uint8Array(size) })]
    assert.strictEqual(verdict({ outputs }), reason)
  })

  it.each([UPDATE, FIRST])("N8: a $op must spend a name", (operation) => {
    assert.strictEqual(verdict({ outputs: [nameOutput(operation)] }), "tx-nameupdate-without-name-input")
  })

  it.each([
    { size: 255, reason: undefined },
    { size: 256, reason: "tx-name-invalid" }
  ])("N9: a name of $size bytes: $reason", ({ reason, size }) => {
    const name = new Uint8Array(size).fill(0x78)
    const first: NameOperation = { op: "name_firstupdate", name, rand: SALT, value: EMPTY }
    assert.strictEqual(verdict({ coins: [nameCoin(nameNew(name, SALT))], outputs: [nameOutput(first)] }), reason)
  })

  it.each([
    { size: 1023, reason: undefined },
    { size: 1024, reason: "tx-value-invalid" }
  ])("N10: a value of $size bytes: $reason", ({ reason, size }) => {
    const value = new Uint8Array(size)
    const update = [nameOutput({ op: "name_update", name: NAME, value })]
    assert.strictEqual(verdict({ coins: [nameCoin(UPDATE)], outputs: update, claim: CURRENT }), reason)
    const first = [nameOutput({ op: "name_firstupdate", name: NAME, rand: SALT, value })]
    assert.strictEqual(verdict({ coins: [nameCoin(NEW)], outputs: first }), reason)
  })

  it("N9 is checked before N10, and N10 before N11", () => {
    const long: NameOperation = { op: "name_update", name: new Uint8Array(256), value: new Uint8Array(1024) }
    assert.strictEqual(verdict({ coins: [nameCoin(NEW)], outputs: [nameOutput(long)] }), "tx-name-invalid")
    const value: NameOperation = { op: "name_update", name: NAME, value: new Uint8Array(1024) }
    assert.strictEqual(verdict({ coins: [nameCoin(NEW)], outputs: [nameOutput(value)] }), "tx-value-invalid")
  })

  it("N11: an update spends a registration or an update", () => {
    const outputs = [nameOutput(UPDATE)]
    assert.strictEqual(verdict({ coins: [nameCoin(NEW)], outputs, claim: CURRENT }), "tx-nameupdate-invalid-prev")
    assert.isUndefined(verdict({ coins: [nameCoin(FIRST)], outputs, claim: CURRENT }))
    assert.isUndefined(verdict({ coins: [nameCoin(UPDATE)], outputs, claim: CURRENT }))
  })

  it("N12: an update spends the same name, byte for byte", () => {
    for (const name of ["d/Example", "d/exampl", "d/example2", ""]) {
      const outputs = [nameOutput({ op: "name_update", name: text(name), value: EMPTY })]
      assert.strictEqual(verdict({ coins: [nameCoin(UPDATE)], outputs, claim: CURRENT }), "tx-nameupdate-name-mismatch")
    }
  })

  it("N13: in the mempool an unconfirmed coin needs no claim, a confirmed one does", () => {
    const outputs = [nameOutput(UPDATE)]
    const flags = Flag.NAMES_MEMPOOL
    assert.isUndefined(verdict({ coins: [nameCoin(UPDATE, HEIGHT)], outputs, flags }))
    const confirmed = [nameCoin(UPDATE, HEIGHT - 1)]
    assert.strictEqual(verdict({ coins: confirmed, outputs, flags }), "tx-nameupdate-nonexistant")
    assert.strictEqual(verdict({ coins: [nameCoin(UPDATE, HEIGHT)], outputs }), "tx-nameupdate-nonexistant")
  })

  it("N14: an update needs a registered name", () => {
    assert.strictEqual(
      verdict({ coins: [nameCoin(UPDATE)], outputs: [nameOutput(UPDATE)] }),
      "tx-nameupdate-nonexistant"
    )
  })

  it.each([
    { age: 29, reason: undefined },
    { age: 30, reason: "tx-nameupdate-expired" }
  ])("N15: a name updated $age blocks ago: $reason", ({ age, reason }) => {
    const height = HEIGHT - age
    const claim = { height, outpoint: keyAt(0) }
    assert.strictEqual(verdict({ coins: [nameCoin(UPDATE, height)], outputs: [nameOutput(UPDATE)], claim }), reason)
  })

  it("N15, 4.4.2: the spent coin is the coin of the claim", () => {
    const outputs = [nameOutput(UPDATE)]
    const coins = [nameCoin(UPDATE)]
    const elsewhere = { ...CURRENT, outpoint: keyAt(1) }
    assert.strictEqual(verdict({ coins, outputs, claim: elsewhere }), "tx-invalid-nameop")
    assert.strictEqual(verdict({ coins, outputs, claim: { ...CURRENT, height: HEIGHT - 19 } }), "tx-invalid-nameop")
  })

  it("N16: a registration spends a NAME_NEW", () => {
    for (const operation of [UPDATE, FIRST]) {
      const reason = verdict({ coins: [nameCoin(operation)], outputs: [nameOutput(FIRST)] })
      assert.strictEqual(reason, "tx-firstupdate-nonnew-input")
    }
    assert.isUndefined(verdict({ coins: [nameCoin(NEW)], outputs: [nameOutput(FIRST)] }))
  })

  it.each([
    { age: 11, reason: "tx-firstupdate-immature" },
    { age: 12, reason: undefined }
  ])("N17: a NAME_NEW $age blocks old: $reason", ({ age, reason }) => {
    const situation = { coins: [nameCoin(NEW, HEIGHT - age)], outputs: [nameOutput(FIRST)] }
    assert.strictEqual(verdict(situation), reason)
    assert.isUndefined(verdict({ ...situation, flags: Flag.NAMES_MEMPOOL }))
  })

  it.each([
    { size: 0, short: undefined, long: "tx-firstupdate-invalid-rand" },
    { size: 19, short: undefined, long: "tx-firstupdate-invalid-rand" },
    { size: 20, short: undefined, long: undefined },
    { size: 21, short: "tx-firstupdate-invalid-rand", long: "tx-firstupdate-invalid-rand" }
  ])("N18, N19: a salt of $size bytes: $short, under the long-salt rule $long", ({ long, short, size }) => {
    const rand = new Uint8Array(size)
    const coins = [nameCoin(nameNew(NAME, rand))]
    const outputs = [nameOutput({ op: "name_firstupdate", name: NAME, rand, value: EMPTY })]
    assert.strictEqual(verdict({ coins, outputs }), short)
    assert.strictEqual(verdict({ coins, outputs, flags: Flag.NAMES_LONG_SALT }), long)
  })

  it("N20: the commitment matches name and salt", () => {
    const outputs = [nameOutput(FIRST)]
    const reasonFor = (commitment: NameOperation) => verdict({ coins: [nameCoin(commitment)], outputs })
    assert.strictEqual(reasonFor(nameNew(NAME, saltOf(2))), "tx-firstupdate-hash-mismatch")
    assert.strictEqual(reasonFor(nameNew(text("d/other"), SALT)), "tx-firstupdate-hash-mismatch")
  })

  it.each([0, 19, 21, 32])(
    "N20, 4.4.2: a commitment of %i bytes, which a coinbase can create, matches no name",
    (size) => {
      const commitment: NameOperation = { op: "name_new", commitment: new Uint8Array(size) }
      const reason = verdict({ coins: [nameCoin(commitment)], outputs: [nameOutput(FIRST)] })
      assert.strictEqual(reason, "tx-firstupdate-hash-mismatch")
    }
  )

  it.each([
    { age: 29, reason: "tx-firstupdate-existing-name" },
    { age: 30, reason: undefined }
  ])("N21: a name updated $age blocks ago: $reason", ({ age, reason }) => {
    const claim = { height: HEIGHT - age, outpoint: keyAt(7) }
    assert.strictEqual(verdict({ coins: [nameCoin(NEW)], outputs: [nameOutput(FIRST)], claim }), reason)
  })

  it("N16 to N21 are checked in this order", () => {
    const claim = CURRENT
    const wrong = { op: "name_firstupdate", name: NAME, rand: new Uint8Array(21), value: EMPTY } as const
    const young = [nameCoin(nameNew(text("d/other"), SALT), HEIGHT - 1)]
    const old = [nameCoin(nameNew(text("d/other"), SALT))]
    assert.strictEqual(verdict({ coins: young, outputs: [nameOutput(wrong)], claim }), "tx-firstupdate-immature")
    assert.strictEqual(verdict({ coins: old, outputs: [nameOutput(wrong)], claim }), "tx-firstupdate-invalid-rand")
    assert.strictEqual(verdict({ coins: old, outputs: [nameOutput(FIRST)], claim }), "tx-firstupdate-hash-mismatch")
    const right = [nameCoin(NEW)]
    assert.strictEqual(verdict({ coins: right, outputs: [nameOutput(FIRST)], claim }), "tx-firstupdate-existing-name")
  })

  it("an empty name is valid", () => {
    const first: NameOperation = { op: "name_firstupdate", name: EMPTY, rand: SALT, value: EMPTY }
    assert.isUndefined(verdict({ coins: [nameCoin(nameNew(EMPTY, SALT))], outputs: [nameOutput(first)] }))
  })
})

describe("nameEffects", () => {
  const header = decodeBlock(regtestParams.network.genesisBlock)
  const effectsOf = (transaction: Transaction, height = HEIGHT, params = regtestParams) =>
    nameEffects(makeBlock(header, [transaction]), height, params).map(({ height: at, operation, value, vout }) => ({
      op: operation.op,
      height: at,
      value,
      vout
    }))

  const outputs = [CHANGE, nameOutput(FIRST, 5), nameOutput(NEW), nameOutput(UPDATE, 6)]

  it.each(
    [
      { bug: "ignore", effects: 0 },
      { bug: "utxo", effects: 0 },
      { bug: "apply", effects: 2 }
    ] as const
  )("F1: an exception of kind $bug has $effects effects", ({ bug, effects }) => {
    const transaction = currency([inputAt(0)], outputs, { version: NAME_TX_VERSION })
    assert.lengthOf(effectsOf(transaction, HEIGHT, withBug(transaction, bug)), effects)
    assert.lengthOf(effectsOf(transaction, HEIGHT + 1, withBug(transaction, bug)), 2)
  })

  it("F1, F2: an exception of kind apply has no effects in another version", () => {
    const transaction = currency([inputAt(0)], outputs, { version: 1 })
    assert.lengthOf(effectsOf(transaction, HEIGHT, withBug(transaction, "apply")), 0)
  })

  it("F2: only transactions of the name version have effects", () => {
    for (const version of [1, 2, 0x7101]) {
      assert.deepStrictEqual(effectsOf(currency([inputAt(0)], outputs, { version })), [])
    }
  })

  it("F3: registrations and updates have effects in the order of the outputs; a NAME_NEW has none", () => {
    assert.deepStrictEqual(effectsOf(currency([inputAt(0)], outputs, { version: NAME_TX_VERSION })), [
      { op: "name_firstupdate", height: HEIGHT, value: 5, vout: 1 },
      { op: "name_update", height: HEIGHT, value: 6, vout: 3 }
    ])
  })

  it("F3: an effect has name, address and transaction", () => {
    const transaction = currency([inputAt(0)], [nameOutput(UPDATE)], { version: NAME_TX_VERSION })
    const [effect] = nameEffects(makeBlock(header, [transaction]), 7, regtestParams)
    assert.strictEqual(toHex(effect?.name ?? EMPTY), toHex(NAME))
    assert.strictEqual(toHex(effect?.address ?? EMPTY), toHex(ANYONE))
    assert.strictEqual(effect?.transaction, transaction)
  })
})
