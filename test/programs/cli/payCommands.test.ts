import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { encodeQR } from "qr"
import { aboutText, amountText } from "../../../src/protocol/amount.ts"
import { nameCosts } from "../../../src/protocol/nameCosts.ts"
import { RpcUnreachable } from "../../../src/rpc/RpcClient.ts"
import { answering, runWith } from "./commandRun.ts"
import { OWNER, TXID } from "./someNames.ts"

describe("svcd-cli pay and receive", () => {
  const PAYING = {
    validateaddress: { isvalid: true },
    walletcreatefundedpsbt: "{\"fee\":0.00022500}",
    sendtoaddress: JSON.stringify(TXID),
    getnewaddress: JSON.stringify(OWNER)
  }

  it("estimates fees at the highest known rate, and writes amounts without needless decimals", () => {
    assert.deepStrictEqual(nameCosts(80, []), { commitment: 22_500, operation: 50_000 })
    assert.deepStrictEqual(nameCosts(80, [undefined, 1_000, 300_000]), { commitment: 67_500, operation: 150_000 })
    assert.deepStrictEqual([0, 1, 150_000_000, 1_000_000].map(amountText), [
      "0 NMC",
      "0.00000001 NMC",
      "1.5 NMC",
      "0.01 NMC"
    ])
    assert.deepStrictEqual([72_500, 1, 0].map(aboutText), ["about 0.0008 NMC", "about 0.0001 NMC", "about 0 NMC"])
  })

  it.effect("asks with amount, fee and address", () =>
    Effect.gen(function*() {
      const prompt = answering("y")
      const { run, sent } = runWith(PAYING, { prompt })
      const { stdout } = yield* run("pay", OWNER, "1.5", "-comment", "rent")
      assert.match(prompt.asked[0] ?? "", /Pay {2}1\.5 NMC\nTo {3}N1owner\nFee {2}about 0\.000225 NMC/)
      const [params] = sent("sendtoaddress")
      assert.strictEqual(JSON.stringify(params), JSON.stringify([OWNER, { text: "1.50000000" }, "rent"]))
      assert.include(stdout, TXID)
    }))

  it.effect("shows the whole address on a narrow terminal", () =>
    Effect.gen(function*() {
      const prompt = answering("y")
      const address = `N${"1".repeat(60)}`
      yield* runWith(PAYING, { prompt, columns: 30 }).run("pay", address, "1.5")
      assert.include(prompt.asked[0] ?? "", `To   ${address}\n`)
    }))

  it.effect("refuses more than the wallet can spend, without a question", () =>
    Effect.gen(function*() {
      const { run, sent } = runWith({ ...PAYING, getbalances: "{\"mine\":{\"trusted\":1.00000000}}" })
      assert.match((yield* run("pay", OWNER, "1.5", "-yes")).stderr, /can spend 1 NMC.*svcd-cli receive/)
      assert.lengthOf(sent("sendtoaddress"), 0)
    }))

  it.effect("points to the command that shows the payment in words", () =>
    Effect.gen(function*() {
      assert.include((yield* runWith(PAYING).run("pay", OWNER, "1.5", "-yes")).stdout, `"svcd-cli tx ${TXID}" shows`)
      const paid = {
        confirmations: 0,
        fee: "FEE",
        comment: "rent\u001b[2J",
        details: [{ category: "send", address: OWNER, amount: "PAID", abandoned: false }]
      }
      const shown = (more: object) => {
        const answer = JSON.stringify({ ...paid, ...more }).replace("\"FEE\"", "-0.00022500").replace(
          "\"PAID\"",
          "-1.50000000"
        )
        const { run, sent } = runWith({ gettransaction: answer })
        return Effect.map(run("tx", TXID), ({ code, stdout }) => {
          assert.deepStrictEqual([code, sent("gettransaction")], [0, [[TXID]]])
          return stdout
        })
      }
      assert.strictEqual(
        yield* shown({}),
        `State    waits for a block\nPaid     1.5 NMC to ${OWNER}\nFee      0.000225 NMC\nComment  rent\\u001b[2J\n`
      )
      const inBlock = { confirmations: 3, blockheight: 700_001, blocktime: 1_800_000_000 }
      assert.match(yield* shown(inBlock), /^State +in block 700,001 of 2027-01-15, with 3 confirmations\n/)
      assert.match(yield* shown({ confirmations: -2 }), /^State +conflicted:/)
      assert.match(yield* shown({ replaced_by_txid: "cd" }), /^State +replaced by the transaction cd\n/)
      assert.match(yield* shown({ details: [{ ...paid.details[0], abandoned: true }] }), /^State +abandoned/)
      const ofNames = { details: [{ category: "send", name: "update: 'd/x'", amount: 0, abandoned: false }] }
      assert.match(yield* shown(ofNames), /\nName +update: 'd\/x'\n/)
    }))

  it.effect("does not repeat a private key in the place of the address, even with a slip in it", () =>
    Effect.gen(function*() {
      const { run, sent } = runWith({ ...PAYING, validateaddress: { isvalid: false, error: "Invalid checksum" } })
      for (const key of [`c${"5".repeat(51)}`, `c${"5".repeat(40)}0${"5".repeat(10)}`]) {
        const { code, stderr } = yield* run("pay", key, "1.5", "-yes")
        assert.strictEqual(code, 1)
        assert.include(stderr, "it is hidden, because it may be a private key")
        assert.notInclude(stderr, "555")
      }
      assert.deepStrictEqual(sent("sendtoaddress"), [])
    }))

  it.effect("pays once, and says that it may have paid where no answer comes", () =>
    Effect.gen(function*() {
      const lost = new RpcUnreachable({ address: "127.0.0.1:8336", code: "ECONNRESET", wasSent: true })
      const { daemon, run } = runWith({ ...PAYING, sendtoaddress: lost })
      const { code, stderr } = yield* run("pay", OWNER, "1.5", "-yes")
      assert.strictEqual(code, 1)
      assert.match(stderr, /may have executed the call: check with "svcd-cli listtransactions"/)
      assert.deepStrictEqual(
        daemon.calls.filter(({ method }) => method === "sendtoaddress").map(({ once }) => once),
        [true]
      )
      const absent = new RpcUnreachable({ address: "127.0.0.1:8336", code: "ECONNREFUSED", wasSent: false })
      assert.match(
        (yield* runWith({ ...PAYING, sendtoaddress: absent }).run("pay", OWNER, "1.5", "-yes")).stderr,
        /is svcd running/
      )
    }))

  it.effect.each([
    { amount: "0", remedy: "The amount is zero. It must be above zero." },
    { amount: " -1", remedy: "The amount is negative. It must be above zero." },
    { amount: "1,5", remedy: "Use a decimal point and no commas, as in 1.5." },
    { amount: "0.000000001", remedy: "The amount has more than 8 decimals. The smallest amount is 0.00000001." },
    { amount: "21000001", remedy: "The amount exceeds the total supply of 21000000 NMC." },
    { amount: "1e30", remedy: "This is not an amount. Use digits and a decimal point only, as in 0.5." },
    { amount: "all", remedy: "This is not an amount. Use digits and a decimal point only, as in 0.5." }
  ])("refuses the amount $amount, and says why", ({ amount, remedy }) =>
    Effect.gen(function*() {
      const { run, sent } = runWith(PAYING)
      assert.strictEqual(
        (yield* run("pay", "-yes", OWNER, amount)).stderr,
        `error: the amount "${amount}" cannot be paid\n${remedy}\n`
      )
      assert.lengthOf(sent("sendtoaddress"), 0)
    }))

  it.effect("says what is wrong with an address", () =>
    Effect.gen(function*() {
      const validateaddress = { isvalid: false, error: "Invalid checksum" }
      const { run, sent } = runWith({ ...PAYING, validateaddress })
      const told = (...words: ReadonlyArray<string>) => Effect.map(run("pay", "-yes", ...words), ({ stderr }) => stderr)
      assert.strictEqual(
        yield* told("N1bad", "1"),
        "error: \"N1bad\" is not an address of this network: Invalid checksum\n"
      )
      assert.include(
        yield* told("d/example", "1"),
        "\nthat is a name: \"svcd-cli name d/example\" shows the address of its owner\n"
      )
      assert.strictEqual(
        yield* told("1.5", OWNER),
        `error: the address comes before the amount\nsvcd-cli pay "${OWNER}" 1.5\n`
      )
      assert.deepStrictEqual(JSON.parse(yield* told("N1bad", "1,5", "-json")), {
        error: {
          code: 1,
          message: "the amount \"1,5\" cannot be paid",
          remedy: "Use a decimal point and no commas, as in 1.5."
        }
      })
      assert.lengthOf(sent("sendtoaddress"), 0)
    }))

  it.effect("prints an address", () =>
    Effect.gen(function*() {
      const { run, sent } = runWith(PAYING)
      assert.strictEqual((yield* run("receive", "shop")).stdout, `${OWNER}\n`)
      assert.deepStrictEqual(sent("getnewaddress"), [["shop"]])
      assert.deepStrictEqual(JSON.parse((yield* run("receive", "-json")).stdout), { address: OWNER, label: "" })
    }))

  it.effect("draws the address as a QR code on a terminal that is wide enough, and not with -json", () =>
    Effect.gen(function*() {
      const wide = yield* runWith(PAYING, { columns: 80 }).run("receive")
      const [address, ...lines] = wide.stdout.trimEnd().split("\n")
      assert.strictEqual(address, OWNER)
      const modules = lines.flatMap((line) => {
        const rows = [...line].map((block) => [" ▄".includes(block), " ▀".includes(block)] as const)
        return [rows.map(([upper]) => upper), rows.map(([, lower]) => lower)]
      })
      const expected = encodeQR(`namecoin:${OWNER}`, "raw", { ecc: "medium", border: 4 })
      assert.deepStrictEqual(modules.slice(0, expected.length), expected)
      assert.strictEqual((yield* runWith(PAYING, { columns: 20 }).run("receive")).stdout, `${OWNER}\n`)
      assert.notInclude((yield* runWith(PAYING, { columns: 80 }).run("receive", "-json")).stdout, "█")
    }))
})
