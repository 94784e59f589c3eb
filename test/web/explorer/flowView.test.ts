import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { MAX_MONEY } from "../../../src/protocol/amount.ts"
import { NAME_TX_VERSION, nameScript } from "../../../src/protocol/nameOperation.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { makeTransaction, outpoint, totalValue } from "../../../src/protocol/transaction.ts"
import { transactionFlow } from "../../../src/web/explorer/flowView.ts"

/** The picture of a transaction: what is drawn, and within which bounds. */

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** P2WPKH of twenty equal bytes. */
const payTo = (of: number): Uint8Array => Uint8Array.of(0, 20, ...new Uint8Array(20).fill(of))

const nameCoin = (name: string, owner = payTo(9)): Uint8Array =>
  nameScript({ op: "name_update", name: bytes(name), value: bytes("{}") }, owner)

interface Drawn {
  /** `undefined`: the spent coins are not known. */
  readonly spent: ReadonlyArray<{ readonly script: Uint8Array; readonly value: number }> | undefined
  readonly paid: ReadonlyArray<{ readonly script: Uint8Array; readonly value: number }>
  readonly inputs?: number
}

const drawn = ({ inputs: count, paid, spent }: Drawn): string => {
  const inputs = Array.from({ length: count ?? spent?.length ?? 1 }, (_, at) => ({
    prevout: outpoint(new Uint8Array(32).fill(at + 1), at),
    scriptSig: new Uint8Array(),
    sequence: 0,
    witness: []
  }))
  const transaction = makeTransaction({ version: NAME_TX_VERSION, inputs, outputs: paid, lockTime: 0 })
  return transactionFlow({
    network: regtest,
    transaction,
    fee: spent && totalValue(spent) - totalValue(paid),
    inputs: inputs.slice(0, 40).map((input, at) => {
      const coin = spent?.[at]
      return { input, coin: coin && { ...coin, height: 5, coinbase: false } }
    }),
    outputs: paid.slice(0, 40).map((output, index) => ({ output, index, state: "unspent" })),
    page: 1
  }).text
}

const partsOf = (page: string): ReadonlyArray<string> => page.match(/<li [^]*?<\/li>/g) ?? []

describe("transactionFlow", () => {
  it("draws each input, each output and the fee, and marks the coin of the name on both sides", () => {
    const page = drawn({
      spent: [{ script: nameCoin("d/example"), value: 1_000_000 }, { script: payTo(1), value: 50_000_000 }],
      paid: [{ script: nameCoin("d/example", payTo(2)), value: 1_000_000 }, { script: payTo(1), value: 49_990_000 }]
    })
    assert.lengthOf(page.match(/<path /g) ?? [], 5)
    assert.lengthOf(page.match(/<path class="flow-name"/g) ?? [], 2)
    assert.lengthOf(page.match(/<li class="flow-name"><b>0.01 NMC<\/b><a href="\?name=d%2Fexample">/g) ?? [], 2)
    assert.match(page, /<li class="flow-fee"><b>0\.0001 NMC<\/b><span class="muted">fee</)
    assert.match(page, /0\.4999 NMC<\/b>.*?<span class="muted">change<\/span>/)
    assert.lengthOf(page.match(/>change</g) ?? [], 1)
  })

  it("draws a bounded number of parts, with the name's coin among them and the rest in one", () => {
    const many = Array.from({ length: 3_000 }, (_, at) => ({ script: payTo(at % 256), value: 1_000 + at }))
    const paid = many.toSpliced(20, 0, { script: nameCoin("d/example"), value: 1 })
    const page = drawn({ spent: many.map((coin) => ({ ...coin, value: coin.value + 10 })), paid })
    assert.lengthOf(partsOf(page), 8 + 9)
    assert.lengthOf(page.match(/<path class="flow-name"/g) ?? [], 1)
    assert.include(page, "2,993 more inputs")
    assert.include(page, "2,994 more outputs")
    assert.isBelow(page.length, 8_000)
  })

  it("says where amounts are not known, and draws what is known", () => {
    const page = drawn({ spent: undefined, inputs: 12, paid: [{ script: payTo(1), value: 5 }] })
    assert.include(page, "not known")
    assert.include(page, "5 more inputs")
    assert.notInclude(page, "flow-fee")
    assert.notInclude(page, "NaN")
  })

  it("shows hostile names as text", () => {
    const hostile = "x/<script>alert(1)</script>\u202e\u0000"
    const page = drawn({
      spent: [{ script: nameCoin(hostile), value: 2 }],
      paid: [{ script: nameCoin(hostile), value: 1 }]
    })
    assert.include(page, "&lt;script&gt;alert(1)&lt;/script&gt;<span class=\"mark\">U+202E</span>")
    assert.notInclude(page, "<script>")
    assert.notInclude(page, "\u202e")
  })

  it("stays within its square for any amounts", () => {
    const amount = FastCheck.oneof(FastCheck.constantFrom(0, 1, MAX_MONEY), FastCheck.maxSafeNat())
    const coins = FastCheck.array(amount, { minLength: 1, maxLength: 60 })
    FastCheck.assert(FastCheck.property(coins, coins, (spent, paid) => {
      const page = drawn({
        spent: spent.map((value) => ({ script: payTo(1), value })),
        paid: paid.map((value) => ({ script: nameCoin("d/a"), value }))
      })
      const numbers = [...page.matchAll(/ (?:d|x|y|width|height)="([^"]*)"/g)]
        .flatMap(([, drawing = ""]) => drawing.split(/[^\d.e-]+/).filter((part) => part !== "").map(Number))
      assert.isAbove(numbers.length, 8)
      assert.deepStrictEqual(numbers.filter((each) => !(each >= 0 && each <= 100)), [])
    }))
  })
})
