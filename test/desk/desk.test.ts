import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { IDLE_MS, LONGEST_MS, MOST_SESSIONS } from "../../src/desk/sessions.ts"
import { ADDRESS, hexOf, NAME, OWN, PASSWORD, PAYS, Refused, TestDesk } from "./askDesk.ts"
import { confirm, toConfirm } from "./confirming.ts"

const payment = (desk: TestDesk) =>
  Effect.map(desk.send("send", { address: ADDRESS, amount: "1.5" }), ({ location }) => location.split("id=")[1] ?? "")

describe("log-in", () => {
  it.live("takes a password or a cookie file, and gives a cookie that scripts and other sites do not get", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make()
      assert.strictEqual((yield* desk.ask({ path: "names" })).location, "./login")
      const wrong = yield* desk.ask({ path: "login", fields: { user: "alice", password: "no" } })
      assert.deepStrictEqual([wrong.status, wrong.cookies], [403, []])
      const { cookies, location } = yield* desk.ask({
        path: "login",
        fields: { user: "", password: `__cookie__:${PASSWORD}\n` }
      })
      assert.strictEqual(location, "./names")
      assert.match(cookies[0] ?? "", /^svcd_desk_[0-9a-f]{8}=[\w-]{43}; HttpOnly; SameSite=Strict$/)
      assert.match(cookies[1] ?? "", /^svcd_pages_[0-9a-f]{8}=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/)
      const names = yield* desk.ask({ path: "names" })
      assert.notInclude(names.body, "__cookie__")
      assert.strictEqual(names.headers["Cache-Control"], "no-store")
      yield* desk.send("logout", {})
      assert.strictEqual((yield* desk.ask({ path: "names" })).location, "./login")
    }))

  it.live("ends after a time without a request, after a longer one in any case, and for the oldest of too many", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make()
      yield* desk.login
      desk.time += IDLE_MS - 1
      assert.strictEqual((yield* desk.ask({ path: "names" })).status, 200)
      desk.time += IDLE_MS
      assert.strictEqual((yield* desk.ask({ path: "names" })).status, 303)
      yield* desk.login
      for (let passed = 0; passed < LONGEST_MS; passed += IDLE_MS / 2) {
        yield* desk.ask({ path: "names" })
        desk.time += IDLE_MS / 2
      }
      assert.strictEqual((yield* desk.ask({ path: "names" })).status, 303)
      yield* desk.login
      const first = desk.cookie
      for (let others = 0; others < MOST_SESSIONS; others++) {
        desk.time++
        desk.cookie = ""
        yield* desk.login
      }
      assert.strictEqual((yield* desk.ask({ path: "names" })).status, 200)
      desk.cookie = first
      assert.strictEqual((yield* desk.ask({ path: "names" })).status, 303)
    }))

  it.live("a form without a session, of another session or without a token does nothing", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make(PAYS)
      yield* desk.login
      const id = yield* payment(desk)
      const token = yield* desk.token
      const fields = { id, password: PASSWORD, token }
      for (const wrong of ["", `${token.slice(1)}x`, "x"]) {
        const { body, status } = yield* desk.ask({ path: "confirm", fields: { ...fields, token: wrong } })
        assert.deepStrictEqual([status, body.includes("This form is no longer valid")], [403, true])
      }
      yield* desk.login
      assert.strictEqual((yield* desk.ask({ path: "confirm", fields })).status, 403)
      // The node was restarted: the cookie is that of an earlier process.
      const later = TestDesk.make(PAYS)
      later.cookie = desk.cookie
      const restarted = yield* later.ask({ path: "confirm", fields })
      assert.include(restarted.body, "You have been signed out")
      assert.deepStrictEqual([...desk.called("sendrawtransaction"), ...later.calls], [])
    }))

  it.live("other machines and foreign names get nothing, unless a proxy ends TLS", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make()
      const proxied = TestDesk.make({}, true)
      const https = { host: "names.example.org", "x-forwarded-proto": "https" }
      const status = (of: TestDesk, headers: Record<string, string>, remote = false) =>
        Effect.map(of.ask({ path: "login", headers, remote }), (answer) => answer.status)
      assert.strictEqual(yield* status(desk, {}), 200)
      assert.strictEqual(yield* status(desk, { host: "localhost:8336" }), 200)
      assert.strictEqual(yield* status(desk, { host: "evil.example" }), 403)
      assert.strictEqual(yield* status(desk, {}, true), 403)
      assert.strictEqual(yield* status(desk, https), 403)
      assert.strictEqual(yield* status(proxied, https), 200)
      assert.strictEqual(yield* status(proxied, https, true), 200)
      assert.strictEqual(yield* status(proxied, { ...https, "x-forwarded-proto": "http" }, true), 403)
      const { cookies } = yield* proxied.ask({
        path: "login",
        headers: https,
        fields: { user: "a", password: PASSWORD }
      })
      assert.deepStrictEqual(cookies.map((cookie) => cookie.includes("; Secure")), [true, true])
    }))
})

describe("confirmation", () => {
  it.live("asks for the password, and registers once, however often the page is sent", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make()
      yield* desk.login
      const { answer, id } = yield* toConfirm(desk)
      const page = yield* desk.follow(answer)
      assert.include(page.body, "{\n  &quot;ip&quot;: &quot;192.0.2.1&quot;\n}")
      assert.include(page.body, "0.01 NMC")
      assert.deepStrictEqual(desk.called("name_autoregister"), [])
      const wrong = yield* confirm(desk, id, { password: "no" })
      assert.deepStrictEqual([wrong.status, wrong.body.includes("The password is wrong")], [403, true])
      const both = yield* Effect.all([confirm(desk, id), confirm(desk, id)], { concurrency: "unbounded" })
      assert.deepStrictEqual(both.map(({ location }) => location), [`./result?id=${id}`, `./result?id=${id}`])
      assert.strictEqual((yield* confirm(desk, id)).location, `./result?id=${id}`)
      // The back button, and the page once more.
      assert.strictEqual((yield* desk.ask({ path: `confirm?id=${id}` })).location, `./result?id=${id}`)
      const result = yield* desk.ask({ path: `result?id=${id}` })
      assert.include(result.body, "The registration is under way")
      assert.deepStrictEqual(desk.called("name_autoregister").map(({ params }) => params), [
        [NAME, hexOf("{\"ip\":\"192.0.2.1\"}"), { nameEncoding: "hex", valueEncoding: "hex", autorenew: false }]
      ])
    }))

  it.live("a payment is the transaction that was shown, and of two windows one pays", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make(PAYS)
      yield* desk.login
      const [first, second] = [yield* payment(desk), yield* payment(desk)]
      const page = yield* desk.ask({ path: `confirm?id=${first}` })
      for (const text of [ADDRESS, "1.5 NMC", "0.00023 NMC", "1.50023 NMC"]) assert.include(page.body, text)
      yield* confirm(desk, first)
      const refused = yield* confirm(desk, second)
      assert.deepStrictEqual([refused.status, refused.body.includes("This was already done")], [409, true])
      assert.deepStrictEqual(desk.called("walletprocesspsbt", "sendrawtransaction").map(({ params }) => params), [
        ["unsigned"],
        ["00"]
      ])
      // A payment that begins afterwards is meant.
      desk.time++
      const third = yield* payment(desk)
      assert.strictEqual((yield* confirm(desk, third)).status, 303)
      assert.lengthOf(desk.called("sendrawtransaction"), 2)
    }))

  it.live("an amount above the balance leads back to the form, with what the wallet can spend", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make({
        ...PAYS,
        walletcreatefundedpsbt: () => new Refused(-4, "Insufficient funds", "funds-missing")
      })
      yield* desk.login
      const { body, status } = yield* desk.send("send", { address: ADDRESS, amount: "2.5" })
      assert.strictEqual(status, 400)
      for (const text of [`value="${ADDRESS}"`, "value=\"2.5\"", "It can spend 1.5 NMC now"]) assert.include(body, text)
    }))

  it.live("both windows at one moment pay once", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make(PAYS)
      yield* desk.login
      const ids = [yield* payment(desk), yield* payment(desk)]
      yield* Effect.all(ids.map((id) => confirm(desk, id)), { concurrency: "unbounded" })
      assert.lengthOf(desk.called("sendrawtransaction"), 1)
    }))

  it.live("is forgotten after some time", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make(PAYS)
      yield* desk.login
      const id = yield* payment(desk)
      desk.time += 15 * 60_000
      assert.include((yield* confirm(desk, id)).body, "This page has expired")
      assert.include((yield* confirm(desk, "unknown")).body, "This page is no longer valid")
      assert.deepStrictEqual(desk.called("sendrawtransaction"), [])
    }))

  it.live("a wallet that was locked meanwhile asks for its passphrase, and is locked again afterwards", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make()
      yield* desk.login
      const { id } = yield* toConfirm(desk)
      desk.answers = {
        ...desk.answers,
        getwalletinfo: () => ({ walletname: "", private_keys_enabled: true, unlocked_until: 0 }),
        name_autoregister: () =>
          desk.called("walletpassphrase").length > 1
            ? {}
            : new Refused(-13, "Error: Please enter the wallet passphrase"),
        walletpassphrase: ([passphrase]) => passphrase === "open" ? null : new Refused(-14, "incorrect")
      }
      const asked = yield* confirm(desk, id)
      assert.deepStrictEqual([asked.status, asked.body.includes("name=\"passphrase\"")], [403, true])
      assert.include(asked.body, "Nothing was sent")
      assert.include((yield* confirm(desk, id, { passphrase: "wrong" })).body, "The passphrase is wrong")
      assert.strictEqual((yield* confirm(desk, id, { passphrase: "open" })).location, `./result?id=${id}`)
      assert.deepStrictEqual(desk.calls.slice(-4).map(({ method }) => method), [
        "getwalletinfo",
        "walletpassphrase",
        "name_autoregister",
        "walletlock"
      ])
    }))

  it.live("a name that another owner was faster with, and a failure that leaves open what happened", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make({
        name_autoregister: () => new Refused(-25, "this name exists already", "name-taken")
      })
      yield* desk.login
      const { id } = yield* toConfirm(desk)
      const failed = yield* desk.follow(yield* confirm(desk, id))
      assert.strictEqual(failed.status, 409)
      assert.include(failed.body, "The name was registered in the meantime")
      assert.include(failed.body, "Nothing was sent")
      desk.answers = { ...desk.answers, name_autoregister: () => new Refused(-32_603, "Internal error") }
      const unclear = yield* desk.follow(yield* confirm(desk, (yield* toConfirm(desk)).id))
      assert.include(unclear.body, "It is uncertain whether anything was sent")
    }))

  it.live("a user without a right gets a sentence, and the method is not called", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make(PAYS)
      desk.permitted = {
        methods: new Set(Object.keys(desk.answers).filter((method) => method !== "sendrawtransaction")),
        rights: undefined
      }
      yield* desk.login
      const { body, status } = yield* desk.send("send", { address: ADDRESS, amount: "1" })
      assert.deepStrictEqual([status, body.includes("Your user does not have the right to pay")], [400, true])
      desk.permitted = { methods: new Set(), rights: undefined }
      yield* desk.login
      desk.calls.length = 0
      assert.strictEqual((yield* desk.ask({ path: "names" })).status, 403)
      assert.deepStrictEqual(desk.calls, [])
    }))
})

describe("renewals", () => {
  it.live("all leaves out the names that are switched off, and says so", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make({
        name_list: () => [OWN],
        name_renew: () => ({ names: [{ name: NAME, state: "waiting", fee: 0.0004 }], transactions: 1, left_out: 2 })
      })
      yield* desk.login
      const page = yield* desk.follow(yield* desk.send("renew", { which: "all" }))
      assert.include(page.body, "2 names are left out: renewal is turned off for them.")
      desk.answers = { ...desk.answers, name_renew: () => ({ names: [], transactions: 0, left_out: 1 }) }
      const none = yield* desk.send("renew", { which: "all" })
      assert.include(none.body, "There are no names to renew. 1 name is left out: renewal is turned off for it.")
    }))
})

describe("what a user writes", () => {
  it.live("is refused at the field of a name that cannot be meant", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make()
      yield* desk.login
      const answers = [
        ["name=d/&as=domain", "d/ is not a complete name"],
        ["name=id/&as=identity", "id/ is not a complete name"],
        ["name=x/&as=other", "x/ is not a complete name"],
        ["name=%20&as=other", "Enter a name."],
        ["name=x%E2%80%AEy&as=domain", "cannot be the name of a domain"],
        ["name=x%E2%80%AEy&as=identity", "cannot be the name of an identity"]
      ] as const
      for (const [query, words] of answers) {
        const { body, status } = yield* desk.ask({ path: `register?${query}` })
        assert.deepStrictEqual([status, body.includes(words)], [400, true], `${query}: ${body.slice(-2_000)}`)
        assert.notInclude(body, "Go on to confirm")
      }
      assert.match((yield* desk.ask({ path: "register?name=&as=identity" })).body, /value="identity" checked/)
      for (const query of ["name=x%E2%80%AEy&as=other", "name=b%C3%BCcher&as=domain", "name=id/alice&as=domain"]) {
        assert.include((yield* desk.ask({ path: `register?${query}` })).body, "Go on to confirm", query)
      }
    }))

  it.live("is refused with its own reason where it is no amount", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make(PAYS)
      yield* desk.login
      const answers = [
        ["1e9", "Use digits and a decimal point only"],
        ["-1", "negative"],
        ["21000000.1", "exceeds the total supply of 21000000 NMC"],
        ["9".repeat(60), "exceeds the total supply"],
        ["0.123456789", "more than 8 decimals"],
        ["", "Enter an amount"],
        ["x", "This is not an amount"],
        ["0", "zero"],
        ["1,5", "no commas"]
      ] as const
      for (const [amount, words] of answers) {
        assert.include((yield* desk.send("send", { address: ADDRESS, amount })).body, words, amount)
      }
      for (const amount of ["21000000", "1.500000000", ".5", "5.", "1 NMC"]) {
        assert.strictEqual((yield* desk.send("send", { address: ADDRESS, amount })).status, 303, amount)
      }
    }))
})

describe("what a page knows of the node", () => {
  it.live("links a confirmed transaction with its block", () =>
    Effect.gen(function*() {
      const row = { category: "send", amount: -1, time: 1 }
      const desk = TestDesk.make({
        listtransactions: () => [
          { ...row, confirmations: 3, blockheight: 103, txid: "ab".repeat(32) },
          { ...row, confirmations: 0, txid: "cd".repeat(32) }
        ]
      })
      yield* desk.login
      const { body } = yield* desk.ask({ path: "payments" })
      assert.include(body, `href="./tx/${"ab".repeat(32)}?block=103"`)
      assert.include(body, `href="./tx/${"cd".repeat(32)}"`)
    }))

  it.live("tells when the wallet renews in blocks of its network", () =>
    Effect.gen(function*() {
      const outlook = { state: "renews", urgency: "ok", text: "renews automatically" }
      const desk = TestDesk.make({ name_list: () => [{ ...OWN, outlook }] })
      yield* desk.login
      const { body } = yield* desk.ask({ path: `name?hex=${NAME}` })
      assert.include(body, "The name renews automatically, 3 blocks before it expires.")
    }))

  it.live("names the wallet, the network and the directory of the words", () =>
    Effect.gen(function*() {
      const command = (walletname: string) =>
        Effect.gen(function*() {
          const desk = TestDesk.make({
            getwalletinfo: () => ({ walletname, private_keys_enabled: true, phrase_kept: true })
          })
          yield* desk.login
          const { body } = yield* desk.ask({ path: "words" })
          return (/svcd-wallet export[^<]*/.exec(body)?.[0] ?? "").replaceAll("&#39;", "'").replaceAll("&quot;", "\"")
        })
      const place = "-network regtest -datadir '/srv/the node'\\''s'"
      assert.strictEqual(yield* command(""), `svcd-wallet export --phrase ${place}`)
      assert.strictEqual(yield* command("savings"), `svcd-wallet export --phrase --wallet savings ${place}`)
      assert.strictEqual(yield* command("a b"), `svcd-wallet export --phrase --wallet 'a b' ${place}`)
      assert.strictEqual(yield* command("a\u202eb"), `svcd-wallet export --phrase --wallet NAME ${place}`)
    }))
})
