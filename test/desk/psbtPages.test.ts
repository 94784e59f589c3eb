import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ADDRESS, type Answers, hexOf, NAME, OWN, PASSWORD, PAYS, Refused, TestDesk } from "./askDesk.ts"
import { confirm } from "./confirming.ts"

/** A wallet without private keys: what its owner signs elsewhere. */

const WATCHING: Answers = {
  ...PAYS,
  getwalletinfo: () => ({ walletname: "", private_keys_enabled: false }),
  name_list: () => [OWN],
  name_renew: () => ({ names: [{ name: NAME, state: "waiting" }], transactions: 1, fee: 0.001 }),
  // As the node does: nothing is sent without keys.
  name_update: ([, , options]) =>
    Object(options).psbt === true
      ? { psbt: "cHNidP8=", fee: 0.001, changepos: 0 }
      : new Refused(-4, "Error: Private keys are disabled for this wallet", "no-private-keys"),
  reviewpsbt: () => ({ lines: ["Renews d/<b>"], warnings: [], complete: true }),
  sendpsbt: () => "cd".repeat(32)
}

const watching = (answers: Answers = {}) => {
  const desk = TestDesk.make({ ...WATCHING, ...answers })
  return Effect.as(desk.login, desk)
}

const idOf = ({ location }: { readonly location: string }): string => location.split("id=")[1] ?? ""

const FORMS = [
  ["write", { hex: NAME, new: "0", kind: "domain", base: OWN.value, address: "192.0.2.7" }],
  ["transfer", { hex: NAME, address: ADDRESS }],
  ["release", { hex: NAME, empty: "1" }],
  ["send", { address: ADDRESS, amount: "0.1" }]
] as const

describe("a wallet without private keys", () => {
  it.live("makes a file to sign of each change, and sends nothing", () =>
    Effect.gen(function*() {
      for (const [page, fields] of FORMS) {
        const desk = yield* watching()
        const planned = yield* desk.send(page, fields)
        const shown = yield* desk.follow(planned)
        assert.include(shown.body, "Make the PSBT</button>", page)
        const result = yield* desk.follow(yield* confirm(desk, idOf(planned)))
        assert.include(result.body, "Nothing was sent.", page)
        const file = yield* desk.ask({ path: `psbt?id=${idOf(planned)}` })
        assert.strictEqual(file.body, page === "send" ? "unsigned\n" : "cHNidP8=\n")
        assert.match(file.headers["Content-Disposition"] ?? "", /^attachment; filename="[A-Za-z0-9._-]+\.psbt"$/)
        assert.strictEqual(file.headers["Content-Type"], "application/octet-stream")
        assert.deepStrictEqual(desk.called("sendpsbt", "sendrawtransaction", "walletprocesspsbt"), [])
        // Attributes have random identifiers.
        assert.notInclude(result.body.replaceAll(/"[^"]*"/g, ""), "-4")
      }
    }))

  it.live("has no page on which the owner learns only at the end that there are no keys", () =>
    Effect.gen(function*() {
      const desk = yield* watching()
      const register = yield* desk.ask({ path: "register?name=example" })
      assert.strictEqual(register.status, 400)
      assert.include(register.body, "takes two signatures")
      const wallet = yield* desk.ask({ path: "wallet" })
      assert.notInclude(wallet.body, "no passphrase")
      assert.include(wallet.body, "href=\"./desk/sign\"")
      const renewal = yield* desk.send("renew", { which: "all" })
      assert.include((yield* desk.follow(yield* confirm(desk, idOf(renewal)))).body, "It makes a PSBT for each name")
    }))
})

describe("the page Sign elsewhere", () => {
  it.live("has the renewals that wait for a signature, as files with harmless names", () =>
    Effect.gen(function*() {
      const hostile = hexOf("d/\"\r\nX: <b>/../\u202e")
      const row = { state: "waiting", psbt: "cHNidA==", time: 1 }
      const desk = yield* watching({
        name_renewals: () => [{ ...row, name: hostile }, { ...row, name: NAME, state: "sent" }, {
          name: NAME,
          state: "waiting",
          time: 1
        }]
      })
      const { body } = yield* desk.ask({ path: "sign" })
      assert.include(body, `./desk/psbt?hex=${hostile}`)
      assert.notInclude(body, `./desk/psbt?hex=${NAME}`)
      assert.notInclude(body, "<b>/")
      const file = yield* desk.ask({ path: `psbt?hex=${hostile}` })
      assert.match(file.headers["Content-Disposition"] ?? "", /^attachment; filename="[A-Za-z0-9._-]+\.psbt"$/)
      assert.strictEqual(file.body, "cHNidA==\n")
      for (const path of [`psbt?hex=${NAME}`, "psbt?id=none", "psbt"]) {
        assert.strictEqual((yield* desk.ask({ path })).status, 400, path)
      }
    }))

  it.live("shows what a signed one does, and sends it once, after a confirmation", () =>
    Effect.gen(function*() {
      const desk = yield* watching({
        reviewpsbt: () => ({ lines: ["GIVES AWAY d/<b>\u202e"], warnings: ["output 0 <i>"], complete: true })
      })
      const planned = yield* desk.send("sign", { psbt: " cHNi\r\ndA== " })
      assert.deepStrictEqual(desk.called("reviewpsbt").map(({ params }) => params), [["cHNidA=="]])
      const { body } = yield* desk.follow(planned)
      assert.include(body, "GIVES AWAY d/&lt;b&gt;")
      assert.include(body, "Look at this first: output 0 &lt;i&gt;.")
      assert.notInclude(body, "\u202e")
      assert.deepStrictEqual(desk.called("sendpsbt"), [])
      const refused = yield* desk.send("confirm", { id: idOf(planned), password: `not ${PASSWORD}` })
      assert.deepStrictEqual([refused.status, desk.called("sendpsbt")], [403, []])
      const sent = yield* desk.follow(yield* confirm(desk, idOf(planned)))
      yield* confirm(desk, idOf(planned))
      assert.include(sent.body, "The transaction is sent")
      assert.deepStrictEqual(desk.called("sendpsbt").map(({ params }) => params), [["cHNidA=="]])
    }))

  it.live("sends nothing that lacks signatures, is not a PSBT, is too long, or may not be sent", () =>
    Effect.gen(function*() {
      const answer = (answers: Answers, psbt = "cHNidA==") =>
        Effect.flatMap(watching(answers), (desk) => desk.send("sign", { psbt }))
      const partial = yield* answer({ reviewpsbt: () => ({ lines: ["Renews d/x"], warnings: [], complete: false }) })
      assert.deepStrictEqual([partial.status, partial.body.includes("Signatures are missing")], [400, true])
      assert.include(partial.body, "Renews d/x")
      const broken = yield* answer({ reviewpsbt: () => new Refused(-22, "TX decode failed") })
      assert.include(broken.body, "This is not a PSBT in base64")
      assert.include((yield* answer({}, "A".repeat(60_001))).body, "too long for this page")
      assert.include((yield* answer({}, " ")).body, "Paste the signed PSBT")
      const desk = TestDesk.make(WATCHING)
      desk.permitted = {
        methods: new Set(Object.keys({ ...desk.answers }).filter((name) => name !== "sendpsbt")),
        rights: undefined
      }
      yield* desk.login
      assert.include((yield* desk.send("sign", { psbt: "cHNidA==" })).body, "does not have the right to send")
    }))
})
