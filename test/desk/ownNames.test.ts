import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { actOf, OUTLOOK_STATES, type OutlookState, type Urgency } from "../../src/base/outlookWords.ts"
import { type Answers, EMPTY_WALLET, hexOf, NAME, OWN, Refused, TestDesk } from "./askDesk.ts"

/** What an owner sees of each name, and may do next. */

const withOutlook = (state: OutlookState, urgency: Urgency) => ({
  ...OWN,
  outlook: { state, urgency, text: `text of ${state} <b>` }
})

const mainOf = ({ body }: { readonly body: string }): string => body.split("<main")[1] ?? ""

const names = (desk: TestDesk) => Effect.map(desk.ask({ path: "names" }), mainOf)

const signedIn = (answers: Answers) => {
  const desk = TestDesk.make(answers)
  return Effect.as(desk.login, desk)
}

/** The button or link beside the name in a list. */
const ACTS: Readonly<Record<NonNullable<ReturnType<typeof actOf>>, string>> = {
  unlock: "href=\"./desk/wallet\">Unlock for renewals",
  fund: "href=\"./desk/receive\">Receive coins",
  renew: `name="one" value="${NAME}">Renew`,
  "raise-fee": "<code class=\"break\">svcd-cli bumpfee TXID</code> raises its fee",
  sign: "href=\"./desk/sign\">Sign its renewal",
  register: `href="./desk/register?hex=${NAME}">Register again`
}

describe("the list of names", () => {
  it.live("has the words of each state, and the one act that helps", () =>
    Effect.gen(function*() {
      for (const state of OUTLOOK_STATES) {
        const body = yield* names(yield* signedIn({ name_list: () => [withOutlook(state, "warning")] }))
        assert.include(body, `text of ${state} &lt;b&gt;`)
        const act = actOf(state)
        assert.include(body, act === undefined ? "<span class=\"own-act\"></span>" : ACTS[act], state)
        assert.match(body, /<li class="attention">/)
        assert.match(body, /<progress class="life" max="30" value="30"/)
      }
    }))

  it.live("has nothing to do for a name that renews automatically", () =>
    Effect.gen(function*() {
      const body = yield* names(yield* signedIn({ name_list: () => [withOutlook("renews", "ok")] }))
      assert.match(body, /<li class="good">/)
      assert.include(body, "<span class=\"own-act\"></span>")
      assert.notInclude(body, "in danger")
      // Without an outlook, while the node syncs, it says nothing that may be wrong.
      const syncing = yield* names(yield* signedIn({ name_list: () => [OWN] }))
      assert.notMatch(syncing, /renews|by the wallet|auto/)
    }))

  it.live("renews the name of a button alone, whatever is ticked", () =>
    Effect.gen(function*() {
      const desk = yield* signedIn({
        name_renew: () => ({ names: [{ name: NAME, state: "waiting" }], transactions: 1, fee: 0.001 })
      })
      yield* desk.send("renew", { one: NAME, hex: hexOf("d/other") })
      assert.deepStrictEqual(desk.called("name_renew").at(-1)?.params[0], [NAME])
    }))
})

describe("the page of one name", () => {
  const pageOf = (desk: TestDesk) => Effect.map(desk.ask({ path: `name?hex=${NAME}` }), mainOf)

  it.live("has the words of each state, never the setting as a fact", () =>
    Effect.gen(function*() {
      for (const state of OUTLOOK_STATES) {
        const own = withOutlook(state, "warning")
        const body = yield* pageOf(yield* signedIn({ name_list: () => [own] }))
        assert.include(body, `The name text of ${state} &lt;b&gt;`)
        // The setting is on: only a button may say so.
        assert.strictEqual(body.includes("before it expires"), state === "renews", state)
      }
      assert.include(yield* pageOf(yield* signedIn({ name_list: () => [OWN] })), "until the node has all blocks")
    }))

  it.live("says that programs see nothing of an expired name, and offers no change", () =>
    Effect.gen(function*() {
      const gone = { ...withOutlook("free", "alarm"), expired: true, expires_in: -3 }
      const body = yield* pageOf(yield* signedIn({ name_list: () => [gone] }))
      assert.include(body, "treat an expired name as not registered")
      assert.notInclude(body, "192.0.2.1</code></li>")
      assert.include(body, "Last value")
      assert.include(body, ACTS.register)
      for (const word of ["Change its value", "Stop renewing", "Transfer"]) assert.notInclude(body, word)
      const held = yield* pageOf(yield* signedIn({ name_list: () => [OWN] }))
      assert.include(held, "192.0.2.1</code></li>")
      const other = yield* signedIn({ name_list: () => [{ ...gone, ismine: false }] })
      assert.strictEqual((yield* other.ask({ path: `name?hex=${NAME}` })).status, 400)
    }))
})

describe("the warning on each page", () => {
  const alert = { name: NAME, wallet: "", expires_in: 300, state: "locked", urgency: "alarm", text: "would <i>" }

  it.live("stays until the owner says so, about the names that it shows", () =>
    Effect.gen(function*() {
      const many = Array.from({ length: 12 }, (_, at) => ({ ...alert, name: hexOf(`d/n${at}`) }))
      const desk = yield* signedIn({ name_alerts: () => ({ names: [alert, ...many], complete: true }) })
      const body = yield* names(desk)
      assert.include(body, "13 names are in danger")
      assert.include(body, "would &lt;i&gt;.")
      assert.include(body, "And 3 more names.")
      const shown = [...body.matchAll(/type="hidden" name="hex" value="([0-9a-f]+)"/g)].map(([, hex]) => hex)
      assert.lengthOf(shown, 10)
      const token = yield* desk.token
      const { location } = yield* desk.ask({ path: "acknowledge", fields: { token, hex: NAME } })
      assert.strictEqual(location, "./names")
      assert.deepStrictEqual(desk.called("name_acknowledge").map(({ params }) => params[0]), [[NAME]])
      // Nothing at all would mean all of them.
      yield* desk.ask({ path: "acknowledge", fields: { token, hex: "zz" } })
      assert.lengthOf(desk.called("name_acknowledge"), 1)
    }))

  it.live("is on every page, once, and is asked for once a page", () =>
    Effect.gen(function*() {
      const desk = yield* signedIn({
        name_list: () => [OWN],
        name_alerts: () => ({ names: [alert], complete: true })
      })
      const pages = ["names", `name?hex=${NAME}`, "register", `edit?hex=${NAME}`, `transfer?hex=${NAME}`, "payments"]
      for (const path of [...pages, "receive", "send", "wallet", "choose", "words", "confirm?id=none", "name?hex=zz"]) {
        const before = desk.called("name_alerts").length
        const body = mainOf(yield* desk.ask({ path }))
        assert.lengthOf(body.split("A name is in danger"), 2, path)
        assert.strictEqual(desk.called("name_alerts").length, before + 1, path)
      }
      // A part of a page, asked for while the owner types.
      assert.notInclude((yield* desk.ask({ path: "meant?name=example" })).body, "in danger")
      // A form that comes back with what is wrong.
      assert.include((yield* desk.send("send", { address: "x", amount: "x" })).body, "in danger")
    }))

  it.live("never costs the page", () =>
    Effect.gen(function*() {
      const desk = yield* signedIn({ name_alerts: () => new Refused(-4, "scanning") })
      const { body, status } = yield* desk.ask({ path: "payments" })
      assert.deepStrictEqual([status, body.includes("in danger")], [200, false])
    }))

  it.live("is silent while blocks are missing, and for a user who may not see it", () =>
    Effect.gen(function*() {
      const incomplete = yield* signedIn({ name_alerts: () => ({ names: [alert], complete: false }) })
      assert.notInclude(yield* names(incomplete), "in danger")
      const desk = TestDesk.make({ name_alerts: () => ({ names: [alert], complete: true }) })
      desk.permitted = {
        methods: new Set(Object.keys(EMPTY_WALLET).filter((name) => name !== "name_alerts")),
        rights: undefined
      }
      yield* desk.login
      const { status } = yield* desk.ask({ path: "names" })
      assert.deepStrictEqual([status, desk.called("name_alerts")], [200, []])
    }))
})

describe("what cannot be done now", () => {
  it.live("is disabled, with the reason beside it", () =>
    Effect.gen(function*() {
      const desk = yield* signedIn({
        name_list: () => [OWN],
        name_pending: () => [{ name: NAME, txid: "ab".repeat(32) }],
        getbalances: () => ({ mine: { trusted: 0, untrusted_pending: 0, immature: 0 } })
      })
      const page = mainOf(yield* desk.ask({ path: `name?hex=${NAME}` }))
      for (const text of ["Change its value", "Renew", "Transfer"]) {
        assert.include(page, `<button type="button" disabled aria-describedby="why">${text}</button>`)
      }
      assert.include(page, "id=\"why\">Wait until the unconfirmed change is in a block.")
      assert.include(mainOf(yield* desk.ask({ path: "payments" })), "disabled aria-describedby=\"why\">Pay</button>")
    }))
})

describe("what is typed into the form of a registration", () => {
  const meaning = (desk: TestDesk, name: string, as = "domain") =>
    Effect.map(
      desk.ask({ path: `meant?${new URLSearchParams({ name, as }).toString()}` }),
      (answer) =>
        /id="draft" role="status">(.*?)<\/div>/s.exec(answer.body)?.[1]?.replaceAll(/<[^>]*>/g, " ").trim() ?? ""
    )

  it.live("is told while it is typed, and costs no call without a text", () =>
    Effect.gen(function*() {
      const desk = yield* signedIn({})
      assert.match(yield* meaning(desk, "Example"), /^This is\s+the domain example\.bit\s*\. It is free\./)
      assert.match(yield* meaning(desk, "www.example.bit"), /the domain example\.bit.*www/s)
      assert.match(yield* meaning(desk, "id/alice"), /the identity/)
      const calls = desk.calls.length
      assert.deepStrictEqual([yield* meaning(desk, " "), desk.calls.length], ["", calls])
      assert.notInclude(yield* meaning(desk, "<script>\u202e"), "\u202e")
      desk.answers = { ...desk.answers, name_show: () => ({ ...OWN, ismine: false }) }
      assert.match(yield* meaning(desk, "example"), /already taken/)
      desk.answers = { ...desk.answers, name_show: () => new Refused(-10, "syncing") }
      assert.strictEqual((yield* desk.ask({ path: "meant?name=example" })).status, 409)
    }))

  it.live("is not free while another registration waits for a block", () =>
    Effect.gen(function*() {
      const desk = yield* signedIn({ name_pending: () => [{ name: NAME, ismine: false }] })
      const said = yield* meaning(desk, "example")
      assert.match(said, /waits for a block/)
      assert.notMatch(said, /free/)
      desk.answers = { ...desk.answers, name_pending: () => [], name_show: () => new Refused(-10, "syncing") }
      assert.strictEqual((yield* desk.ask({ path: "meant?name=example" })).status, 409)
    }))
})
