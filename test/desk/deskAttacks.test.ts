import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Confirmations, OPEN_MS } from "../../src/desk/confirmations.ts"
import { deskStarting } from "../../src/desk/deskStarting.ts"
import { pageRequest } from "../../src/http/Pages.ts"
import { html } from "../../src/web/html.ts"
import { ADDRESS, type Answers, NAME, OWN, PASSWORD, PAYS, Refused, TestDesk } from "./askDesk.ts"

/** What an attacker, another window or another wallet could make of the desk. */

const OTHER_ADDRESS = "mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8"

const idOf = ({ location }: { readonly location: string }): string => location.split("id=")[1] ?? ""

const confirm = (desk: TestDesk, id: string) => desk.send("confirm", { id, password: PASSWORD })

const payment = (desk: TestDesk, address = ADDRESS) => Effect.map(desk.send("send", { address, amount: "1.5" }), idOf)

const named = (walletname: string): Answers => ({
  getwalletinfo: () => ({ walletname, private_keys_enabled: true, phrase_kept: true })
})

describe("wallets", () => {
  it.live("a page of one wallet does nothing in another one that a second window chose", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make({ ...PAYS, ...named("first") })
      yield* desk.login
      const id = yield* payment(desk)
      assert.include((yield* desk.ask({ path: `confirm?id=${id}` })).body, "In the wallet first.")
      const before = yield* desk.token
      yield* desk.send("choose", { wallet: "second" })
      const form = yield* desk.ask({ path: "send", fields: { token: before, address: ADDRESS, amount: "1" } })
      assert.deepStrictEqual([form.status, form.body.includes("This form is no longer valid")], [403, true])
      for (const answer of [yield* desk.ask({ path: `confirm?id=${id}` }), yield* confirm(desk, id)]) {
        assert.deepStrictEqual([answer.status, answer.body.includes("for another wallet")], [409, true])
      }
      assert.deepStrictEqual(desk.called("walletprocesspsbt", "sendrawtransaction"), [])
      assert.strictEqual((yield* confirm(desk, yield* payment(desk))).status, 303)
      assert.deepStrictEqual(desk.called("sendrawtransaction").map(({ wallet }) => wallet), ["second"])
    }))

  it.live("the only wallet stays that of the session, and its end leads to the choice", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make({ ...named("first"), listwallets: () => ["second\u202e"] })
      yield* desk.login
      yield* desk.ask({ path: "names" })
      desk.answers = { ...desk.answers, ...named("second") }
      yield* desk.ask({ path: "names" })
      assert.strictEqual(desk.called("name_list").at(-1)?.wallet, "first")
      desk.answers = { ...desk.answers, getwalletinfo: () => new Refused(-18, "not loaded") }
      const choice = yield* desk.ask({ path: "names" })
      assert.include(choice.body, "Choose a wallet")
      assert.notInclude(choice.body.replaceAll(/value="[^"]*"/g, ""), "\u202e")
      const token = /name="token" value="([^"]+)"/.exec(choice.body)?.[1] ?? ""
      const { location } = yield* desk.ask({ path: "choose", fields: { token, wallet: "second" } })
      assert.strictEqual(location, "./names")
      // From then on each page names it, and leads to the others.
      desk.answers = { ...desk.answers, ...named("second"), listwallets: () => ["first", "second"] }
      assert.match((yield* desk.ask({ path: "names" })).body, /href="\.\/desk\/choose"[^]*wallet second<\/a>/)
      assert.match(
        (yield* desk.ask({ path: "choose" })).body,
        /value="second" checked><span>second <span class="hint">The one that you see now/
      )
    }))
})

describe("recovery words", () => {
  const PLACES = ["word-2", "word-9", "word-24"]
  const WORDS = { "word-2": "zebra", "word-9": "able", "word-24": "about" }

  /** The places for which a page has a field. */
  const askedIn = ({ body }: { readonly body: string }): ReadonlyArray<string> =>
    [...body.matchAll(/name="(word-\d+)"/g)].map(([, name = ""]) => name)

  it.live("three of them are given back, and the desk never shows any", () =>
    Effect.gen(function*() {
      const info = { walletname: "first", private_keys_enabled: true, unlocked_until: 0, phrase_kept: false }
      const desk = TestDesk.make({
        getwalletinfo: () => info,
        walletpassphrase: ([passphrase]) => passphrase === "open" ? null : new Refused(-14, "incorrect"),
        checkrecoverywords: () => ({ correct: false })
      })
      yield* desk.login
      assert.include((yield* desk.ask({ path: "names" })).body, "was never shown")
      const page = yield* desk.ask({ path: "words" })
      assert.include(page.body, "svcd-wallet export --phrase --wallet first -network regtest")
      assert.lengthOf(new Set(askedIn(page)), 3)

      const wrong = yield* desk.send("words", { ...WORDS, passphrase: "open" })
      assert.strictEqual(wrong.status, 400)
      assert.include(wrong.body, "At least one of these words is wrong")
      assert.deepStrictEqual([askedIn(wrong), wrong.body.includes("zebra")], [PLACES, false])
      assert.deepStrictEqual(desk.calls.slice(-3).map(({ method, params }) => [method, params[0]]), [
        ["walletpassphrase", "open"],
        ["checkrecoverywords", { 2: "zebra", 9: "able", 24: "about" }],
        ["walletlock", undefined]
      ])
      assert.include((yield* desk.send("words", { ...WORDS, passphrase: "no" })).body, "The passphrase is wrong")
      assert.strictEqual((yield* desk.send("words", { "word-2": "zebra" })).status, 400)

      desk.answers = { ...desk.answers, checkrecoverywords: () => new Refused(-8, "the wallet has 12 words") }
      const other = yield* desk.send("words", { ...WORDS, passphrase: "open" })
      assert.isTrue(askedIn(other).every((name) => Number(name.slice(5)) <= 12))
      desk.answers = {
        ...desk.answers,
        getwalletinfo: () => ({ ...info, phrase_kept: true, phrase_checked: 1_700_000_000 }),
        checkrecoverywords: () => ({ correct: true })
      }
      const right = yield* desk.follow(yield* desk.send("words", { ...WORDS, passphrase: "open" }))
      assert.include(right.body, "You verified your seed phrase on 14 Nov 2023")
      assert.notInclude((yield* desk.ask({ path: "names" })).body, "recovery word")
    }))
})

describe("payments", () => {
  it.live("a link cannot show the address of another owner as that of the wallet", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make({ getaddressinfo: ([address]) => ({ ismine: address === ADDRESS }) })
      yield* desk.login
      assert.include((yield* desk.ask({ path: `receive?address=${ADDRESS}` })).body, ">mrCDrC")
      assert.notInclude(
        (yield* desk.ask({ path: `receive?address=${OTHER_ADDRESS}` })).body.split("<main")[1] ?? "",
        OTHER_ADDRESS
      )
      desk.answers = { ...desk.answers, getaddressinfo: () => new Refused(-5, "invalid address") }
      assert.strictEqual((yield* desk.ask({ path: `receive?address=${"x".repeat(30)}` })).status, 200)
    }))

  it.live("addresses that the seed phrase does not recover are not issued without a warning", () =>
    Effect.gen(function*() {
      let left: number | undefined = 101
      const desk = TestDesk.make({
        getwalletinfo: () => ({ walletname: "", private_keys_enabled: true, phrase_kept: true, addresses_left: left }),
        getnewaddress: () =>
          new Refused(
            -12,
            "the last 1000 bech32 addresses were not paid, and the seed phrase would not recover a payment to another one.",
            "beyond-words"
          )
      })
      yield* desk.login
      const said = "can still be issued"
      assert.notInclude((yield* desk.ask({ path: "receive" })).body, said)
      left = 100
      assert.include((yield* desk.ask({ path: "receive" })).body, `100 addresses of a type ${said}`)
      left = undefined
      assert.notInclude((yield* desk.ask({ path: "receive" })).body, said)
      const { body } = yield* desk.send("receive", {})
      assert.include(body, "because too many addresses are unpaid")
      assert.notInclude(body, "Unlock it")
    }))

  it.live("what one session has paid, no later session pays again, and what it left open is forgotten", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make({ ...PAYS, ...named("first") })
      yield* desk.login
      const [paid, made, open] = [yield* payment(desk), yield* payment(desk), yield* payment(desk, OTHER_ADDRESS)]
      desk.time++
      const first = desk.cookie
      desk.cookie = ""
      yield* desk.login
      const second = desk.cookie
      // Two sessions with a page each that pay the same, made before either was sent.
      desk.cookie = first
      assert.strictEqual((yield* confirm(desk, paid)).status, 303)
      desk.cookie = second
      yield* desk.ask({ path: "names" })
      assert.include((yield* confirm(desk, made)).body, "This was already done")
      // The back button after a new log-in leads to the result, and what the ended session left open is gone.
      desk.cookie = first
      yield* desk.send("logout", {})
      yield* desk.login
      const back = yield* desk.ask({ path: `confirm?id=${paid}` })
      assert.strictEqual(back.location, `./result?id=${paid}`)
      assert.include((yield* desk.follow(back)).body, "The payment is sent")
      assert.strictEqual((yield* confirm(desk, paid)).location, `./result?id=${paid}`)
      assert.include((yield* confirm(desk, open)).body, "This page is no longer valid")
      assert.lengthOf(desk.called("sendrawtransaction"), 1)
    }))

  it.live("after a payment that may have been sent, another window does not send the same", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make(PAYS)
      yield* desk.login
      const failing = (code: number) => {
        desk.answers = { ...desk.answers, sendrawtransaction: () => new Refused(code, "no answer") }
      }
      const twoPages = Effect.all([payment(desk), payment(desk)])
      failing(-32603)
      const [first, second] = yield* twoPages
      assert.include((yield* desk.follow(yield* confirm(desk, first))).body, "It is uncertain whether")
      desk.answers = { ...desk.answers, ...PAYS }
      assert.include((yield* confirm(desk, second)).body, "This may already have been done")
      assert.lengthOf(desk.called("sendrawtransaction"), 1)
      // A page that was made later is the user's decision, and so is one after a refusal that sent nothing.
      desk.time++
      failing(-26)
      const [third, fourth] = yield* twoPages
      assert.include((yield* desk.follow(yield* confirm(desk, third))).body, "Nothing was sent")
      desk.answers = { ...desk.answers, ...PAYS }
      assert.include((yield* desk.follow(yield* confirm(desk, fourth))).body, "The payment is sent")
    }))

  it.live("a payment does not replace another one that uses the same coins", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make(PAYS)
      yield* desk.login
      const ids = [yield* payment(desk), yield* payment(desk, OTHER_ADDRESS)]
      yield* confirm(desk, ids[0] ?? "")
      desk.answers = { ...desk.answers, gettxspendingprevout: () => [{ txid: "", vout: 1, spendingtxid: "cd" }] }
      const refused = yield* desk.follow(yield* confirm(desk, ids[1] ?? ""))
      assert.include(refused.body, "Another transaction spends the same coins")
      assert.lengthOf(desk.called("sendrawtransaction"), 1)
    }))
})

describe("names", () => {
  it.live("a change does not undo one that another window made after its page", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make({ name_list: () => [OWN], name_renew: () => ({ names: [], transactions: 1 }) })
      yield* desk.login
      const write = (address: string) =>
        Effect.map(desk.send("write", { hex: NAME, new: "0", kind: "domain", base: OWN.value, address }), idOf)
      const [first, second] = [yield* write("192.0.2.2"), yield* write("192.0.2.3")]
      yield* confirm(desk, first)
      desk.answers = {
        ...desk.answers,
        name_pending: () => [{ name: NAME, value: "7b7d", op: "name_update", txid: "cd", ismine: true }]
      }
      const refused = yield* desk.follow(yield* confirm(desk, second))
      assert.include(refused.body, "The name was changed after you opened this page")
      assert.lengthOf(desk.called("name_update"), 1)
    }))

  it.live("to give up a renewal or a registration asks for the password", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make({ name_list: () => [OWN] })
      yield* desk.login
      for (const [path, fields] of [["renew", { which: "off" }], ["cancel", {}]] as const) {
        const page = yield* desk.follow(yield* desk.send(path, { hex: NAME, ...fields }))
        assert.include(page.body, "name=\"password\"", path)
      }
      assert.deepStrictEqual(desk.called("name_autorenew", "name_cancel"), [])
    }))

  it.live("a release that fails in part has not sent a transaction", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make({ name_list: () => [OWN], name_autorenew: () => new Refused(-4, "disk is full") })
      yield* desk.login
      const id = idOf(yield* desk.send("release", { hex: NAME, empty: "1" }))
      assert.include((yield* desk.follow(yield* confirm(desk, id))).body, "Nothing was sent")
      assert.deepStrictEqual(desk.called("name_update"), [])
    }))
})

describe("the way to a page", () => {
  it.live("a name without a dot or a foreign address is not a name of this machine", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make()
      for (
        const [host, status] of [
          ["127.0.0.1:8336", 200],
          ["[::1]:8336", 200],
          ["svcd.localhost:1", 200],
          ["203.0.113.5:8443", 403],
          ["[2001:db8::1]", 403],
          ["server", 403]
        ] as const
      ) {
        assert.strictEqual((yield* desk.ask({ path: "login", headers: { host } })).status, status, host)
      }
    }))

  it("an address below a page has no page: its redirect would lead to itself", () => {
    const served = ["/desk", "/desk/", "/desk/names", "/desk/a/names", "/desk//"].filter((path) =>
      deskStarting.serves(pageRequest(path))
    )
    assert.deepStrictEqual(served, ["/desk", "/desk/", "/desk/names"])
  })
})

describe("memory", () => {
  it.effect("what was done or is too old keeps no passphrase", () =>
    Effect.gen(function*() {
      const confirmations = new Confirmations()
      const by = {}
      const plan = (same: string) => ({
        title: "",
        content: html``,
        button: "",
        back: "",
        spends: true,
        unlocks: "nothing" as const,
        same,
        run: () => Effect.succeed({ title: "", text: html`` })
      })
      const prepare = (same: string, now: number) => confirmations.prepare(plan(same), { by, now, wallet: "" })
      const done = confirmations.find(prepare("a", 0)) ?? assert.fail()
      const old = confirmations.find(prepare("b", 0)) ?? assert.fail()
      yield* confirmations.perform(done, Effect.succeed({ title: "", text: html`` }), {
        again: () => false,
        now: () => 0,
        wallet: ""
      })
      assert.isUndefined(done.run)
      prepare("c", OPEN_MS - 1)
      assert.isDefined(old.run)
      prepare("c", OPEN_MS)
      assert.isUndefined(old.run)
      confirmations.close({})
      assert.isDefined(confirmations.find(old.id))
      // At the end of the session only the outcome of what was done stays.
      confirmations.close(by)
      assert.isUndefined(confirmations.find(old.id))
      assert.isDefined(confirmations.find(done.id))
    }))
})
