import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ADDRESS, hexOf, NAME, OWN, Refused, TestDesk } from "./askDesk.ts"
import { confirm, toConfirm } from "./confirming.ts"

describe("names", () => {
  it.live("a change keeps what the form does not show, and refuses to undo another change", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make({
        name_list: () => [OWN],
        name_renew: () => ({ names: [], transactions: 1, fee: 0.0004 })
      })
      yield* desk.login
      const form = yield* desk.ask({ path: `edit?hex=${NAME}` })
      assert.include(form.body, "Kept as they are")
      const sent = { hex: NAME, new: "0", kind: "domain", base: OWN.value, address: "192.0.2.1\r\n192.0.2.7" }
      const { location } = yield* desk.send("write", sent)
      yield* confirm(desk, location.split("id=")[1] ?? "")
      assert.deepStrictEqual(desk.called("name_update").map(({ params }) => params[1]), [
        hexOf("{\"ip\":[\"192.0.2.1\",\"192.0.2.7\"],\"x\":[1.50]}")
      ])
      const other = yield* desk.send("write", { ...sent, base: hexOf("{}") })
      assert.include(other.body, "changed after this form was opened")
      const same = yield* desk.send("write", { ...sent, address: "192.0.2.1" })
      assert.include(same.body, "The value is the same as before")
      const wrong = yield* desk.send("write", { ...sent, address: "192.0.2.1\r\n<img>" })
      assert.strictEqual(wrong.status, 400)
      assert.include(wrong.body, "Line 2 is not an address")
      assert.notInclude(wrong.body, "<img")
    }))

  it.live("only a registration that the node goes on with by itself can be cancelled", () =>
    Effect.gen(function*() {
      const row = { name: NAME, step: "maturing", txid: "ab".repeat(32), time: 1_700_000_000 }
      const desk = TestDesk.make({ name_registrations: () => [row] })
      yield* desk.login
      const button = "action=\"./desk/cancel\""
      assert.notInclude((yield* desk.ask({ path: "names" })).body, button)
      desk.answers = { ...desk.answers, name_registrations: () => [{ ...row, value: "" }] }
      assert.include((yield* desk.ask({ path: "names" })).body, button)
    }))

  it.live("failed registrations are shown for thirty days, at most ten of them; those under way always", () =>
    Effect.gen(function*() {
      const now = Math.floor(Date.now() / 1000)
      const row = (at: number, step: string, time: number) => ({
        name: hexOf(`d/r${at}`),
        step,
        txid: "ab".repeat(32),
        time
      })
      const rows = [
        ...Array.from({ length: 12 }, (_, at) => row(at, "failed", now - 100 + at)),
        row(12, "failed", now - 31 * 86_400),
        row(13, "maturing", 1_700_000_000)
      ]
      const desk = TestDesk.make({ name_registrations: () => rows })
      yield* desk.login
      const { body } = yield* desk.ask({ path: "names" })
      assert.deepStrictEqual(Array.from(body.matchAll(/>d\/r(\d+)</g), ([, at]) => at), [
        "2",
        "3",
        "4",
        "5",
        "6",
        "7",
        "8",
        "9",
        "10",
        "11",
        "13"
      ])
      assert.include(body, "3 failed registrations not shown")
      desk.answers = { ...desk.answers, name_registrations: () => rows.slice(0, 3) }
      assert.notInclude((yield* desk.ask({ path: "names" })).body, "not shown")
    }))

  it.live("a name whose change waits for a block has no form for another, and no fee is shown that is none", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make({
        name_list: () => [OWN],
        name_pending: () => [{ name: NAME, op: "name_update", txid: "cd".repeat(32) }]
      })
      yield* desk.login
      const sent = { hex: NAME, new: "0", kind: "domain", base: OWN.value, address: "192.0.2.7" }
      for (
        const answer of [
          yield* desk.ask({ path: `edit?hex=${NAME}` }),
          yield* desk.ask({ path: `transfer?hex=${NAME}` }),
          yield* desk.send("write", sent),
          yield* desk.send("transfer", { hex: NAME, address: ADDRESS }),
          yield* desk.send("release", { hex: NAME, empty: "1" })
        ]
      ) {
        assert.deepStrictEqual([answer.status, answer.body.includes("is unconfirmed")], [400, true])
      }
      assert.strictEqual((yield* desk.send("release", { hex: NAME })).status, 303)
      // What the dry run leaves out costs nothing, which is not a fee of a change.
      desk.answers = {
        ...desk.answers,
        name_pending: () => [],
        name_renew: () => ({ names: [], transactions: 0, fee: 0 })
      }
      const page = yield* desk.follow(yield* desk.send("write", sent))
      assert.include(page.body, "unknown until it is sent")
    }))

  it.live("a transfer shows its fee, and says if the address is of the wallet itself", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make({
        name_list: () => [OWN],
        name_renew: () => ({ names: [], transactions: 1, fee: 0.0004 }),
        validateaddress: ([address]) =>
          address === ADDRESS ? { isvalid: true } : { isvalid: false, error: "Invalid checksum." }
      })
      yield* desk.login
      const transfer = (address: string) => desk.send("transfer", { hex: NAME, address })
      const own = yield* desk.follow(yield* transfer(ADDRESS))
      assert.include(own.body, "about 0.0004 NMC")
      assert.include(own.body, "the name stays yours")
      desk.answers = { ...desk.answers, getaddressinfo: () => ({ ismine: false }) }
      const foreign = yield* desk.follow(yield* transfer(ADDRESS))
      assert.include(foreign.body, "A wrong address cannot be corrected")
      assert.notInclude(foreign.body, "stays yours")
      assert.include((yield* transfer(" ")).body, "Enter the address that the new owner gave you.")
      assert.include((yield* transfer("bad")).body, "network: Invalid checksum.<")
    }))

  it.live("a name to register: none, an own one, and one above the host that was written", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make()
      yield* desk.login
      const asked = (name: string, as = "domain") =>
        desk.ask({ path: `register?name=${encodeURIComponent(name)}&as=${as}` })
      for (const as of ["domain", "identity", "other"]) {
        const { body, status } = yield* asked(" ", as)
        assert.deepStrictEqual([status, body.includes("Enter a name.")], [400, true], as)
      }
      const below = yield* asked("sub.shop.bit")
      assert.include(below.body, "sub.shop.bit is below shop.bit, which is the name to register")
      assert.notInclude((yield* asked("Shop.bit")).body, "is below")
      desk.answers = { ...desk.answers, name_show: () => ({ name: NAME, ismine: true }) }
      const own = yield* asked("example")
      assert.strictEqual(own.status, 400)
      assert.match(own.body, new RegExp(`This name is yours: <a href="[^"]*edit\\?hex=${NAME}">change it</a>`))
      desk.answers = { ...desk.answers, name_show: () => ({ name: NAME, ismine: false }) }
      assert.include((yield* asked("example")).body, "is already taken")
    }))

  it.live("no page tells times on regtest, where blocks have none", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make({ name_list: () => [OWN] })
      yield* desk.login
      const { body } = yield* desk.ask({ path: "names" })
      assert.include(body, "30,000 blocks")
      assert.notInclude(body, "months")
      const page = yield* desk.follow((yield* toConfirm(desk)).answer)
      assert.include(page.body, "after twelve blocks.")
    }))

  it.live("markup, hidden and turning characters are spelled out", () =>
    Effect.gen(function*() {
      const evil = "d/<script>\u202e\u0007"
      const desk = TestDesk.make({
        name_list: () => [{ ...OWN, name: hexOf(evil), value: hexOf("{\"txt\":\"</pre><img src=x>\u202e\"}") }],
        name_autoregister: () => new Refused(-4, "<img src=x>\u202e")
      })
      yield* desk.login
      for (
        const path of [
          "names",
          `name?hex=${hexOf(evil)}`,
          `edit?hex=${hexOf(evil)}`,
          `register?name=${encodeURIComponent(evil)}&as=other`
        ]
      ) {
        const { body } = yield* desk.ask({ path })
        assert.deepStrictEqual(body.match(/.{0,40}(?:<img|<script>[^"]|\u202e|\u0007).{0,20}/g) ?? [], [], path)
        assert.match(body, /U\+202E|\\u202e/, path)
      }
      const failed = yield* desk.follow(yield* confirm(desk, (yield* toConfirm(desk)).id))
      assert.notMatch(failed.body, /<img|\u202e/)
    }))

  it.live("pages are small and quick", () =>
    Effect.gen(function*() {
      const many = Array.from({ length: 2_000 }, (_, at) => ({ ...OWN, name: hexOf(`d/name-${at}`) }))
      const desk = TestDesk.make({ name_list: () => many })
      yield* desk.login
      const { body } = yield* desk.ask({ path: "names" })
      assert.isBelow(Buffer.byteLength(body), 60_000)
    }))
})

describe("the renewal of a name", () => {
  it.live("is off for an exception to all names, on its page", () =>
    Effect.gen(function*() {
      const settings = [
        [{ all: true, names: [] }, "Stop renewing it"],
        [{ all: true, names: [], except: [{ name: NAME }] }, "Let the wallet renew it"],
        [{ all: false, names: [{ name: NAME }] }, "Stop renewing it"]
      ] as const
      for (const [setting, button] of settings) {
        const desk = TestDesk.make({ name_list: () => [OWN], name_autorenew: () => setting })
        yield* desk.login
        const { body } = yield* desk.ask({ path: `name?hex=${NAME}` })
        assert.include(body, button)
      }
    }))
})

/** The value of a field in a page, or its text. */
const fieldIn = (body: string, name: string): string => {
  const found = new RegExp(`name="${name}" value="([^"]*)"|name="${name}" rows[^>]*>\n([^<]*)<`).exec(body)
  return (found?.[1] ?? found?.[2] ?? assert.fail(`no field ${name}`)).replaceAll("&quot;", "\"")
}

describe("the form for a value", () => {
  it.live("takes what is typed to JSON and back, with what no field shows, and still knows the value before", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make({ name_list: () => [OWN], name_renew: () => ({ names: [], transactions: 0 }) })
      yield* desk.login
      const opened = yield* desk.ask({ path: `edit?hex=${NAME}` })
      const given = { hex: NAME, new: "0" }
      const base = fieldIn(opened.body, "base")
      const from = fieldIn(opened.body, "from")
      const typed = { kind: "domain", base, from, address: "192.0.2.7", text: "typed" }
      const json = yield* desk.send("write", { ...given, ...typed, other: "1" })
      assert.strictEqual(json.status, 200)
      const text = fieldIn(json.body, "json")
      assert.deepStrictEqual(JSON.parse(text), { ip: "192.0.2.7", x: [1.5], txt: "typed" })
      const more = text.replace("\"typed\"", "\"more\",\"info\":{\"n\":1.50}")
      const asJson = { kind: "json", base: fieldIn(json.body, "base"), from: fieldIn(json.body, "from"), json: more }
      const fields = yield* desk.send("write", { ...given, ...asJson, other: "1" })
      assert.deepStrictEqual(["address", "text"].map((name) => fieldIn(fields.body, name)), ["192.0.2.7", "more"])
      assert.include(fields.body, ">info<")
      const sent = yield* desk.send("write", {
        ...given,
        kind: "domain",
        base: fieldIn(fields.body, "base"),
        from: fieldIn(fields.body, "from"),
        address: "192.0.2.8",
        text: "more"
      })
      const page = yield* desk.follow(sent)
      assert.include(page.body, "192.0.2.8")
      assert.include(page.body, "1.50")
      // The value that the form was opened with is no longer that of the name.
      const late = yield* desk.send("write", { ...given, ...asJson, from: hexOf("{}") })
      assert.include(late.body, "was changed after this form was opened")
    }))

  it.live("stays as it was typed if the other way cannot show it", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make()
      yield* desk.login
      const given = { hex: NAME, new: "1", base: "", from: "", other: "1" }
      const wrong = yield* desk.send("write", { ...given, kind: "domain", subdomain: "nowhere", renew: "1" })
      assert.strictEqual(wrong.status, 400)
      assert.strictEqual(fieldIn(wrong.body, "subdomain"), "nowhere")
      assert.match(wrong.body, /name="renew" value="1" checked/)
      const text = yield* desk.send("write", { ...given, kind: "json", json: "no object" })
      assert.strictEqual(text.status, 400)
      assert.strictEqual(fieldIn(text.body, "json"), "no object")
      assert.include(text.body, "This is not a JSON object")
      assert.notMatch(text.body, /name="renew" value="1" checked/)
      assert.strictEqual((yield* desk.send("write", { ...given, kind: "json", json: "" })).status, 200)
    }))

  it.live("tells how the new name is renewed, and passes it on", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make()
      yield* desk.login
      assert.match((yield* desk.ask({ path: "register?name=example" })).body, /name="renew" value="1" checked/)
      for (const [fields, words] of [[{ renew: "1" }, "By the wallet"], [{}, "By you"]] as const) {
        const { answer, id } = yield* toConfirm(desk, fields)
        assert.include((yield* desk.follow(answer)).body, words)
        yield* confirm(desk, id)
        desk.time++
      }
      const options = desk.called("name_autoregister").map(({ params }) => params[2])
      const hex = { nameEncoding: "hex", valueEncoding: "hex" }
      assert.deepStrictEqual(options, [{ ...hex, autorenew: true }, { ...hex, autorenew: false }])
    }))

  it.live("registers for another owner after a check of the address, and never with a renewal by this wallet", () =>
    Effect.gen(function*() {
      const desk = TestDesk.make({
        validateaddress: ([address]) =>
          address === ADDRESS ? { isvalid: true } : { isvalid: false, error: "Invalid checksum." },
        getaddressinfo: () => ({ ismine: false })
      })
      yield* desk.login
      const form = (yield* desk.ask({ path: "register?name=example" })).body
      assert.match(form, /<details><summary>For another owner<\/summary>.*name="owner"/s)
      const typed = { owner: "<b>N1wrong", address: "192.0.2.9" }
      const wrong = (yield* toConfirm(desk, typed)).answer
      assert.strictEqual(wrong.status, 400)
      assert.match(wrong.body, /<details open><summary>For another owner/)
      assert.include(wrong.body, "This is not an address of this network: Invalid checksum.")
      assert.include(wrong.body, "value=\"&lt;b&gt;N1wrong\"")
      assert.include(wrong.body, "192.0.2.9</textarea>")
      const renewed = (yield* toConfirm(desk, { owner: ADDRESS, renew: "1" })).answer
      assert.strictEqual(renewed.status, 400)
      assert.include(renewed.body, "A wallet renews only its own names")
      const { answer, id } = yield* toConfirm(desk, { owner: ` ${ADDRESS} ` })
      const page = yield* desk.follow(answer)
      assert.match(
        page.body,
        new RegExp(`<dt>Owner</dt><dd><code class="address">${ADDRESS}</code>.*Only this owner`, "s")
      )
      assert.include(page.body, "By the owner, before the name expires")
      assert.deepStrictEqual(desk.called("name_autoregister"), [])
      yield* confirm(desk, id)
      assert.deepStrictEqual(desk.called("name_autoregister").map(({ params }) => params[2]), [
        { nameEncoding: "hex", valueEncoding: "hex", destAddress: ADDRESS }
      ])
      // What is typed goes along to the other way of editing, where nothing is checked yet.
      const other = yield* desk.send("write", {
        hex: NAME,
        new: "1",
        kind: "domain",
        base: "",
        owner: "N1",
        other: "1"
      })
      assert.match(other.body, /name="owner"[^>]* value="N1"/)
      desk.answers = { ...desk.answers, getaddressinfo: () => ({ ismine: true }) }
      desk.time++
      const own = yield* desk.follow((yield* toConfirm(desk, { owner: ADDRESS })).answer)
      assert.include(own.body, "This address belongs to this wallet, so the name will be yours.")
    }))
})
