import { assert, describe, it } from "@effect/vitest"
import { type Bytes, concat } from "../../../src/protocol/bytes.ts"
import {
  NAME_TX_VERSION,
  type NameOperation,
  nameScript,
  parseNameScript
} from "../../../src/protocol/nameOperation.ts"
import { Op } from "../../../src/protocol/script.ts"
import { makeTransaction, NO_WITNESS, outpoint } from "../../../src/protocol/transaction.ts"
import { MAX_RENEWAL_FEE, renewalProblem } from "../../../src/wallet/signing/renewalRule.ts"

const text = (characters: string): Uint8Array => new TextEncoder().encode(characters)

const OWN = text("own script")
const OTHER = text("other script")

interface Output {
  readonly script: Bytes
  readonly value: number
}

const rules = {
  isOwn: (script: Bytes) => Buffer.from(parseNameScript(script)?.address ?? script).equals(OWN),
  maxFee: MAX_RENEWAL_FEE
}

const update = (name: string, value: string): NameOperation => ({
  op: "name_update",
  name: text(name),
  value: text(value)
})

const named = (operation: NameOperation, owner: Bytes = OWN, value = 1_000_000): Output => ({
  script: nameScript(operation, owner),
  value
})

const HELD = named(update("d/a", "v"))
const REGISTERED = named({ op: "name_firstupdate", name: text("d/a"), rand: Uint8Array.of(1), value: text("v") })
const COMMITTED = named({ op: "name_new", commitment: new Uint8Array(20) })
/** It drops one more than it pushes, and so takes a signature from the stack. */
const UNSPENDABLE = concat(HELD.script.subarray(0, -OWN.length), Uint8Array.of(Op.OP_DROP), OWN)
const MONEY = { script: OWN, value: 5_000_000 }

const problem = (
  spent: ReadonlyArray<Output | undefined>,
  outputs: ReadonlyArray<Output>,
  version = NAME_TX_VERSION
): string | undefined =>
  renewalProblem(
    makeTransaction({
      version,
      lockTime: 0,
      outputs,
      inputs: spent.map((_, i) => ({
        prevout: outpoint(new Uint8Array(32).fill(i + 1), 0),
        scriptSig: new Uint8Array(0),
        sequence: 0,
        witness: NO_WITNESS
      }))
    }),
    spent,
    rules
  )

const CHANGE = { script: OWN, value: MONEY.value - 1_000 }

describe("renewalProblem", () => {
  it("finds none in an update with the same value to own scripts", () => {
    assert.isUndefined(problem([HELD, MONEY], [HELD, CHANGE]))
    assert.isUndefined(problem([REGISTERED, MONEY], [CHANGE, HELD]))
    assert.isUndefined(problem([HELD, MONEY], [HELD, { ...CHANGE, value: MONEY.value - MAX_RENEWAL_FEE }]))
  })

  it.each<readonly [string, ReadonlyArray<Output | undefined>, ReadonlyArray<Output>, RegExp, number | undefined]>([
    ["a plain payment", [MONEY], [{ script: OTHER, value: 1 }], /not a name operation/, 2],
    ["a payment to itself", [MONEY], [CHANGE], /not a name_update/, undefined],
    ["another version", [HELD, MONEY], [HELD, CHANGE], /not a name operation/, 2],
    ["another value", [HELD, MONEY], [named(update("d/a", "w")), CHANGE], /changes the value/, undefined],
    ["an empty value", [HELD, MONEY], [named(update("d/a", "")), CHANGE], /changes the value/, undefined],
    [
      "a name script that nobody can spend",
      [HELD, MONEY],
      [{ ...HELD, script: UNSPENDABLE }, CHANGE],
      /script/,
      undefined
    ],
    ["another owner", [HELD, MONEY], [named(update("d/a", "v"), OTHER), CHANGE], /pays to others/, undefined],
    ["another name", [HELD, MONEY], [named(update("d/b", "v")), CHANGE], /not a name_update/, undefined],
    ["change of another", [HELD, MONEY], [HELD, { ...CHANGE, script: OTHER }], /pays to others/, undefined],
    ["an output of another", [HELD, MONEY], [HELD, CHANGE, { script: OTHER, value: 0 }], /pays to others/, undefined],
    ["a coin of another", [HELD, { ...MONEY, script: OTHER }], [HELD, CHANGE], /spends coins of others/, undefined],
    [
      "a name of another",
      [named(update("d/a", "v"), OTHER), MONEY],
      [HELD, CHANGE],
      /spends coins of others/,
      undefined
    ],
    ["an unknown coin", [HELD, undefined], [HELD, CHANGE], /spends coins of others/, undefined],
    [
      "the fee",
      [HELD, MONEY],
      [HELD, { ...CHANGE, value: MONEY.value - MAX_RENEWAL_FEE - 1 }],
      /fee is too high/,
      undefined
    ],
    ["more than there is", [HELD, MONEY], [HELD, { ...CHANGE, value: MONEY.value + 1 }], /fee is too high/, undefined],
    ["the locked coins", [HELD, MONEY], [named(update("d/a", "v"), OWN, 1), CHANGE], /unlocks coins/, undefined],
    ["a name that is dropped", [HELD, MONEY], [CHANGE], /not a name_update/, undefined],
    [
      "a second name that is dropped",
      [HELD, named(update("d/b", "v")), MONEY],
      [HELD, CHANGE],
      /not a name_update/,
      undefined
    ],
    ["a registration", [COMMITTED, MONEY], [REGISTERED, CHANGE], /not a name_update/, undefined],
    ["a commitment", [MONEY], [COMMITTED, CHANGE], /not a name_update/, undefined],
    ["a commitment beside it", [HELD, MONEY], [HELD, COMMITTED, CHANGE], /not a name_update/, undefined],
    ["a commitment that is spent", [HELD, COMMITTED, MONEY], [HELD, CHANGE], /not a name_update/, undefined],
    ["a registration in its place", [HELD, MONEY], [REGISTERED, CHANGE], /not a name_update/, undefined]
  ])("refuses %s", (_, spent, outputs, expected, version) => {
    assert.match(problem(spent, outputs, version) ?? "", expected)
  })
})
