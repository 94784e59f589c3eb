import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { LONGEST_MS, VERIFIED_MS } from "../../src/desk/sessions.ts"
import { LINK_MS, MOST_LINKS } from "../../src/rpc/DeskLinks.ts"
import { ADDRESS, type Answers, type DeskAnswer, NAME, OWN, PAYS, Refused, TestDesk } from "./askDesk.ts"

/** The links of `svcd-cli desk`, and what else shows that it is the user. */

const open = (desk: TestDesk, link: string): Effect.Effect<DeskAnswer> =>
  Effect.suspend(() => desk.ask({ path: "open", fields: { link, act: "open" } }))

const end = (desk: TestDesk, link: string) =>
  Effect.suspend(() => desk.ask({ path: "open", fields: { link, act: "end" } }))

const page = (desk: TestDesk, link: string) => Effect.suspend(() => desk.ask({ path: `open?link=${link}` }))

/** In a browser of its own; the desk's cookie is as before afterwards. */
const elsewhere = <A>(desk: TestDesk, work: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.suspend(() => {
    const { cookie } = desk
    desk.cookie = ""
    return Effect.ensuring(
      work,
      Effect.sync(() => {
        desk.cookie = cookie
      })
    )
  })

const isIn = (desk: TestDesk) => Effect.map(desk.ask({ path: "names" }), ({ status }) => status === 200)

describe("a link", () => {
  it.live("signs in once its button is pressed, and not when it is looked at", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make()
      const link = desk.link()
      for (let looks = 0; looks < 3; looks++) {
        const { body, cookies, headers, status } = yield* page(desk, link)
        assert.deepStrictEqual([status, cookies, body.includes("Open the desk")], [200, [], true])
        assert.strictEqual(headers["Cache-Control"], "no-store")
        // A browser then says the origin of the form, and nobody the link.
        assert.strictEqual(headers["Referrer-Policy"], "strict-origin")
      }
      const opened = yield* open(desk, link)
      assert.deepStrictEqual([opened.status, opened.location, opened.cookies.length], [303, "./names", 2])
      assert.isTrue(yield* isIn(desk))
      // The link again, in the browser that used it: by the history, or a second press.
      for (const again of [yield* page(desk, link), yield* open(desk, link)]) {
        assert.deepStrictEqual([again.status, again.location], [303, "./names"])
      }
    }))

  it.live("says that it was used, in another browser, which can end the session that it opened", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make()
      const link = desk.link()
      yield* open(desk, link)
      desk.time += 3 * 60_000
      yield* elsewhere(
        desk,
        Effect.gen(function*() {
          for (const again of [yield* page(desk, link), yield* open(desk, link)]) {
            assert.deepStrictEqual([again.status, again.cookies], [410, []])
            assert.include(again.body, "3 minutes ago")
            assert.include(again.body, "End that session")
          }
        })
      )
      assert.isTrue(yield* isIn(desk))
      const ended = yield* elsewhere(desk, end(desk, link))
      assert.include(ended.body, "That session has ended")
      assert.isFalse(yield* isIn(desk))
      assert.include((yield* elsewhere(desk, end(desk, link))).body, "It has ended already")
    }))

  it.live("works for ten minutes", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make()
      const [first, second] = [desk.link(), desk.link()]
      desk.time += LINK_MS - 1
      assert.strictEqual((yield* elsewhere(desk, open(desk, first))).status, 303)
      desk.time += 1
      for (const late of [yield* page(desk, second), yield* open(desk, second)]) {
        assert.deepStrictEqual([late.status, late.cookies, late.body.includes("has expired")], [410, [], true])
        assert.include(late.body, "svcd-cli desk")
      }
    }))

  it.live("is unknown if it was changed, cut, or made by another process", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make()
      const link = desk.link()
      const others = [
        TestDesk.make().link(),
        link.slice(1),
        `${link}x`,
        "",
        "__proto__",
        `${link}%00`,
        "x".repeat(5_000)
      ]
      for (const other of others) {
        const { body, cookies, status } = yield* open(desk, other)
        assert.deepStrictEqual([status, cookies, body.includes("does not know this link")], [410, [], true])
        assert.strictEqual((yield* end(desk, other)).status, 200)
      }
      assert.strictEqual((yield* open(desk, link)).status, 303)
    }))

  it.live("is one of at most sixteen of its user, and takes no place of others", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make()
      const bobs = desk.link("bob")
      const links = Array.from({ length: MOST_LINKS + 2 }, () => desk.link("alice"))
      const states: Array<number> = []
      for (const link of [...links, bobs]) states.push((yield* elsewhere(desk, page(desk, link))).status)
      assert.deepStrictEqual(states, [410, 410, ...Array<number>(MOST_LINKS + 1).fill(200)])
    }))

  it.live("gives the rights of the user that made it, and shows that user's name if it has one", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make()
      desk.permitted = { methods: new Set(["name_show"]), rights: undefined }
      const restricted = desk.link("bob")
      desk.permitted = undefined
      assert.include((yield* page(desk, restricted)).body, "as bob")
      yield* open(desk, restricted)
      assert.strictEqual((yield* desk.ask({ path: "names" })).status, 403)
      assert.deepStrictEqual(desk.called("name_list"), [])
      const own = desk.link("__cookie__")
      assert.notInclude((yield* page(desk, own)).body, "__cookie__")
      yield* open(desk, own)
      const names = yield* desk.ask({ path: "names" })
      assert.deepStrictEqual([names.status, names.body.includes("__cookie__")], [200, false])
    }))

  it.live("is refused where the desk is: from other machines, and under foreign names", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make()
      const link = desk.link()
      const fields = { link, act: "open" }
      const wrong = [
        yield* desk.ask({ path: "open", fields, remote: true }),
        yield* desk.ask({ path: "open", fields, headers: { host: "evil.example" } }),
        yield* desk.ask({ path: "open", fields, headers: { "x-forwarded-proto": "https" } })
      ]
      assert.deepStrictEqual(wrong.map(({ status }) => status), [403, 403, 403])
      const proxied = TestDesk.make({}, true)
      const { cookies, status } = yield* proxied.ask({
        path: "open",
        fields: { link: proxied.link(), act: "open" },
        headers: { host: "names.example.org", "x-forwarded-proto": "https" },
        remote: true
      })
      assert.deepStrictEqual([status, cookies.every((cookie) => cookie.includes("; Secure"))], [303, true])
      // Used by nobody so far.
      assert.strictEqual((yield* open(desk, link)).status, 303)
    }))
})

const payment = (desk: TestDesk) =>
  Effect.map(desk.send("send", { address: ADDRESS, amount: "1.5" }), ({ location }) => location.split("id=")[1] ?? "")

const pay = (desk: TestDesk, id: string, fields: Readonly<Record<string, string>> = {}) =>
  desk.send("confirm", { id, ...fields })

describe("what shows that it is the user", () => {
  it.live("without a passphrase: the link itself for some time, then a fresh one, which leads back", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make(PAYS)
      yield* open(desk, desk.link("__cookie__"))
      assert.strictEqual((yield* pay(desk, yield* payment(desk))).status, 303)
      desk.time += VERIFIED_MS
      // Nobody leaves the desk alone for that long.
      const id = yield* payment(desk)
      const { body } = yield* desk.ask({ path: `confirm?id=${id}` })
      assert.include(body, "svcd-cli desk")
      assert.match(body, /<button class="primary" type="submit" disabled aria-describedby="why">/)
      assert.notInclude(body, "name=\"password\"")
      const sent = desk.called("sendrawtransaction").length
      assert.strictEqual((yield* pay(desk, id, { password: "right" })).status, 403)
      // Of another user: it begins another session, and shows nothing about this one.
      yield* elsewhere(desk, open(desk, desk.link("bob")))
      assert.strictEqual((yield* pay(desk, id)).status, 403)
      assert.lengthOf(desk.called("sendrawtransaction"), sent)
      assert.strictEqual((yield* open(desk, desk.link("__cookie__"))).location, `./confirm?id=${id}`)
      assert.strictEqual((yield* pay(desk, id)).status, 303)
      assert.lengthOf(desk.called("sendrawtransaction"), sent + 1)
    }))

  it.live("with a passphrase: the passphrase, even if nothing has to be unlocked, and the lock stays as it is", () =>
    Effect.gen(function*() {
      let until = 0
      let renewals = false
      const encrypted: Answers = {
        getwalletinfo: () => ({
          walletname: "",
          private_keys_enabled: true,
          unlocked_until: until,
          ...(renewals ? { renewals_only: true } : {})
        }),
        walletpassphrase: ([passphrase]) => passphrase === "open" ? null : new Refused(-14, "incorrect"),
        name_list: () => [OWN]
      }
      const stop = (desk: TestDesk) =>
        Effect.map(desk.send("renew", { hex: NAME, which: "off" }), ({ location }) => location.split("id=")[1] ?? "")
      const states = [
        { until: 0, renewals: false, calls: ["walletpassphrase", "walletlock"] },
        { until: 4_000_000_000, renewals: true, calls: ["walletpassphrase"] },
        { until: 4_000_000_000, renewals: false, calls: ["walletpassphrase"] }
      ]
      for (const state of states) {
        until = state.until
        renewals = state.renewals
        const desk = TestDesk.make(encrypted)
        yield* open(desk, desk.link())
        desk.time += VERIFIED_MS
        const id = yield* stop(desk)
        const { body } = yield* desk.ask({ path: `confirm?id=${id}` })
        assert.match(body, /name="passphrase"/)
        assert.notMatch(body, /name="password"|svcd-cli desk/)
        for (const passphrase of ["", "no"]) {
          const wrong = yield* pay(desk, id, { passphrase })
          assert.deepStrictEqual([wrong.status, desk.called("name_autorenew").at(-1)?.params.length], [403, undefined])
        }
        const before = desk.calls.length
        assert.strictEqual((yield* pay(desk, id, { passphrase: "open" })).status, 303)
        const made = desk.calls.slice(before).map(({ method }) => method).filter((method) =>
          method.startsWith("wallet")
        )
        assert.deepStrictEqual(made, state.calls)
        // The same lock again, or the renewals alone in between.
        const [, timeout, renewalsOnly] = desk.called("walletpassphrase").at(-1)?.params ?? []
        assert.strictEqual(renewalsOnly, state.renewals || state.until === 0)
        assert.isTrue(typeof timeout === "number" && (state.until === 0 ? timeout <= 60 : timeout > 1e6))
        // It counts for some time.
        desk.time += 1
        assert.strictEqual((yield* pay(desk, yield* stop(desk))).status, 303)
      }
    }))

  it.live("for a user that signed in with a password: that password", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make(PAYS)
      yield* desk.login
      const id = yield* payment(desk)
      assert.match((yield* desk.ask({ path: `confirm?id=${id}` })).body, /name="password"/)
      assert.strictEqual((yield* pay(desk, id, { password: "no" })).status, 403)
      assert.strictEqual((yield* pay(desk, id, { password: "right" })).status, 303)
    }))
})

describe("the cookie for the pages about the node", () => {
  it.live("ends with its session, opens no page of the desk, and does not extend the session", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make()
      yield* open(desk, desk.link())
      const [session = "", reader = ""] = desk.cookie.split("; ")
      assert.strictEqual(desk.readerOf(reader)?.user, "alice")
      assert.strictEqual(desk.readerOf(session), undefined)
      assert.strictEqual(desk.readerOf(reader.replace("pages", "desk")), undefined)
      desk.cookie = reader.replace("pages", "desk")
      assert.isFalse(yield* isIn(desk))
      desk.cookie = `${session}; ${reader}`
      for (let passed = 0; passed < 30; passed++) {
        desk.time += 60_000
        desk.readerOf(reader)
      }
      assert.strictEqual(desk.readerOf(reader), undefined)
      assert.isBelow(desk.time, LONGEST_MS)
      yield* open(desk, desk.link())
      const later = desk.cookie.split("; ")[1] ?? ""
      assert.strictEqual(desk.readerOf(later)?.user, "alice")
      yield* desk.send("logout", {})
      assert.strictEqual(desk.readerOf(later), undefined)
    }))
})
