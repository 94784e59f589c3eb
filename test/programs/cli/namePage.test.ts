import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { RpcFailure } from "../../../src/rpc/RpcClient.ts"
import { runWith } from "./commandRun.ts"
import { hex } from "./fakeDaemon.ts"

const record = (value: string, more: object = {}) => ({
  name: "d/example",
  value: hex(value),
  txid: "ab".repeat(32),
  vout: 1,
  address: "N1owner",
  height: 700_000,
  expires_in: 20_000,
  ismine: true,
  ...more
})

const ANSWERS = {
  getblockchaininfo: { chain: "main", blocks: 716_000 },
  name_show: record("{\"ip\":\"192.0.2.1\"}"),
  name_history: [
    record("{}", { height: 600_000, address: "N1first" }),
    record("{\"ip\":\"192.0.2.1\"}", { height: 650_000 }),
    record("{\"ip\":\"192.0.2.1\"}")
  ],
  name_pending: [
    { name: hex("d/example"), value: hex("\u202enew"), op: "name_update", txid: "cd".repeat(32), address: "N1next" },
    { name: hex("d/other"), value: "", op: "name_update", txid: "ef".repeat(32) }
  ],
  name_registrations: [],
  name_autorenew: { all: false, names: [] }
}

describe("svcd-cli name", () => {
  it.effect("shows owner, value, what it resolves to, expiry, renewal, operations and history", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_800_000_000_000)
      const { run, sent } = runWith(ANSWERS)
      const { code, stdout } = yield* run("name", "Example.BIT", "-last", "2")
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(sent("name_show"), [
        ["d/example", { nameEncoding: "utf8", valueEncoding: "hex", allowExpired: true }]
      ])
      assert.strictEqual(
        stdout,
        `d/example, the domain example.bit

Expires  in 20,000 blocks at block 736,000 (about 2027-06-03)
Owner    N1owner (this wallet)
Renewal  by hand; "svcd-cli autorenew d/example on" turns automatic renewal on
Value    18 of 520 bytes
  {"ip":"192.0.2.1"}
DNS
  example.bit. A 192.0.2.1

Pending
OPERATION                          ADDRESS  TRANSACTION                                                       VALUE
transfer to N1next, value changed  N1next   ${"cd".repeat(32)}  \\u202enew

History, the last 2 of 3
  BLOCK  CHANGE         OWNER    VALUE
700,000  renewed        N1owner  {"ip":"192.0.2.1"}
650,000  value changed  N1owner  {"ip":"192.0.2.1"}
`
      )
    }))

  it.effect.each<readonly [word: string, name: string]>([
    ["zürich.bit", "d/xn--zrich-kva"],
    ["www.example.bit", "d/example"],
    ["d/zürich", "d/xn--zrich-kva"],
    ["'id/alice'", "id/alice"],
    ["id/alice", "id/alice"]
  ])("looks up what %s means", ([word, name]) =>
    Effect.gen(function*() {
      const { run, sent } = runWith(ANSWERS)
      yield* run("name", word)
      assert.deepStrictEqual(sent("name_show").map((params) => Array.isArray(params) ? String(params[0]) : ""), [name])
    }))

  it.effect("ends with status 1 for a name that is free or has expired", () =>
    Effect.gen(function*() {
      const free = runWith({ ...ANSWERS, name_show: new RpcFailure({ code: -4, message: "never existed" }) })
      const { code, stdout } = yield* free.run("name", "d/free")
      assert.deepStrictEqual(
        [code, stdout],
        [1, "d/free is not registered; \"svcd-cli register d/free\" registers it.\n"]
      )
      const json = JSON.parse((yield* free.run("name", "d/free", "-json")).stdout)
      assert.deepInclude(json, { name: "d/free", state: "free", domain: "free.bit", pending: [], registration: null })
      const late = runWith({ ...ANSWERS, name_show: record("{\"ip\":\"192.0.2.1\"}", { expires_in: -5 }) })
      const expired = yield* late.run("name", "d/example")
      assert.strictEqual(expired.code, 1)
      assert.match(
        expired.stdout,
        /Expired +5 blocks ago[^]*Programs +see nothing[^]*Last owner +N1owner[^]*Last value[^]*Anyone can register it now/
      )
      assert.notMatch(expired.stdout, /^DNS$|example\.bit\. A/m)
      assert.deepInclude(JSON.parse((yield* late.run("name", "d/example", "-json")).stdout), { programs: [] })
    }))

  it.effect("advises to register no namespace alone and no invalid domain, and quotes for the shell", () =>
    Effect.gen(function*() {
      const cases = [
        ["d/<b>x", "no domain can have this name"],
        ["d/x y", "no domain can have this name"],
        ["id/x y", "no identity can have this name"],
        ["dd/x y", "\"svcd-cli register 'dd/x y'\" registers it"]
      ] as const
      for (const [name, advice] of cases) {
        const { run } = runWith({ ...ANSWERS, name_show: new RpcFailure({ code: -4, message: "never existed" }) })
        assert.strictEqual((yield* run("name", name)).stdout, `${name} is not registered; ${advice}.\n`)
      }
    }))

  it.effect("shows the registration that is under way", () =>
    Effect.gen(function*() {
      const { run } = runWith({
        ...ANSWERS,
        name_show: new RpcFailure({ code: -4, message: "never existed" }),
        name_registrations: [{ name: hex("d/new"), step: "maturing", note: "block 5 can hold it" }]
      })
      assert.match((yield* run("name", "d/new")).stdout, /Under way {2}maturing, block 5 can hold it/)
      const begun = runWith({
        ...ANSWERS,
        name_show: new RpcFailure({ code: -4, message: "never existed" }),
        name_registrations: [{ name: hex("d/new"), step: "committed" }]
      })
      assert.match(
        (yield* begun.run("name", "d/new")).stdout,
        /Under way {2}committed, step 1 of 3: the commitment, which hides the name, is unconfirmed$/m
      )
    }))

  it.effect("turns nothing with JSON, on a terminal and in a pipe, and JSON keeps its meaning", () =>
    Effect.gen(function*() {
      const free = { ...ANSWERS, name_show: new RpcFailure({ code: -4, message: "never existed" }) }
      const shown = yield* runWith(free, { columns: 80 }).run("name", "d/\u202ex", "-json")
      assert.include(shown.stdout, "\"name\": \"d/\\u202ex\"")
      assert.strictEqual(JSON.parse(shown.stdout).name, "d/\u202ex")
      assert.include((yield* runWith(free).run("name", "d/\u202ex", "-json")).stdout, "\"d/\\u202ex\"")
    }))

  it.effect("prints JSON with findings and history", () =>
    Effect.gen(function*() {
      const { run } = runWith({ ...ANSWERS, name_show: record("{\"ip\":\"300.1.1.1\"}", { ismine: undefined }) })
      const json = JSON.parse((yield* run("name", "d/example", "-json")).stdout)
      assert.deepInclude(json, { state: "registered", expires_in: 20_000, expires_at: 736_000, bytes: 18 })
      assert.strictEqual(json.errors[0].code, "invalid")
      assert.lengthOf(json.history, 3)
      assert.isFalse("autorenew" in json)
    }))

  it.effect("says in words what the daemon answers, with the remedy", () =>
    Effect.gen(function*() {
      const { run } = runWith({
        name_show: new RpcFailure({ code: -10, message: "Namecoin is downloading blocks..." })
      })
      const { code, stderr } = yield* run("name", "d/example")
      assert.deepStrictEqual(
        [code, stderr],
        [
          10,
          "error: Namecoin is downloading blocks...\n\"svcd-cli status -wait\" waits until the node knows all names.\n"
        ]
      )
    }))
})

describe("svcd-cli peers and registrations", () => {
  it.effect("lists peers, and JSON with the fields that stay", () =>
    Effect.gen(function*() {
      const { run } = runWith({
        getpeerinfo: [
          {
            id: 1,
            addr: "203.0.113.7:8334",
            inbound: false,
            synced_headers: 5,
            synced_blocks: 4,
            pingtime: 0.0421,
            bytesrecv: 1_500_000,
            bytessent: 900,
            subver: "/x\u001b:1/"
          }
        ]
      })
      assert.strictEqual(
        (yield* run("peers")).stdout,
        "ADDRESS           WAY  HEIGHT   PING  RECEIVED   SENT  PROGRAM\n" +
          "203.0.113.7:8334  out       5  42 ms    1.5 MB  900 B  /x\\u001b:1/\n"
      )
      assert.deepInclude(JSON.parse((yield* run("peers", "-json")).stdout).peers[0], { id: 1, pingtime: 0.0421 })
      assert.match((yield* runWith({ getpeerinfo: [] }).run("peers")).stdout, /^No peers are connected\./)
    }))

  it.effect("shows the blocks until the next step of a registration, and what a name_new by hand waits for", () =>
    Effect.gen(function*() {
      const LONG_AGO = -31 * 86_400
      const name_registrations = [
        { name: hex("d/a"), value: hex("v"), step: "committed", time: 1, blocks_left: 1 },
        { name: hex("d/b"), value: hex("v"), step: "maturing", note: "waits", time: 1, blocks_left: 11 },
        { name: hex("d/c"), step: "maturing", time: 1, blocks_left: 0 },
        { name: hex("d/e"), step: "failed", note: "taken", time: LONG_AGO }
      ]
      const table = (chain: string) =>
        Effect.map(
          runWith({ name_registrations, getblockchaininfo: { chain } }).run("registrations"),
          ({ stdout }) => stdout.split("\n")
        )
      const [head = "", a = "", b = "", c = "", ...rest] = yield* table("main")
      assert.match(head, /^NAME +STEP +NEXT STEP IN +NOTE/)
      assert.match(a, /committed {2}1 block, about 10 minutes +step 1 of 3/)
      assert.match(b, /maturing +11 blocks, about 1 hour 50 minutes {2}waits +v/)
      assert.match(
        c,
        /maturing +now +waits for your name_firstupdate; "svcd-cli register NAME" uses it too, once the name is free/
      )
      assert.deepStrictEqual(rest, [""])
      assert.match((yield* table("regtest"))[2] ?? "", /maturing +11 blocks +waits +v/)
      const json = yield* runWith({ name_registrations }).run("registrations", "-json")
      assert.deepInclude(JSON.parse(json.stdout).registrations[1], { name: "d/b", blocks_left: 11, note: "waits" })
    }))

  it.effect("lists registrations under way; with -all the others too", () =>
    Effect.gen(function*() {
      const { run } = runWith({
        name_registrations: [
          { name: hex("d/a"), value: hex("v"), step: "maturing", note: "block 7 can hold it", time: 1 },
          { name: hex("d/b"), value: hex("v"), step: "done", time: 1 }
        ]
      })
      const all = (yield* run("registrations", "-all")).stdout
      const some = (yield* run("registrations")).stdout
      assert.match(all, /d\/a[^]*d\/b/)
      assert.notInclude(some, "d/b")
      assert.lengthOf(JSON.parse((yield* run("registrations", "-json")).stdout).registrations, 1)
      assert.match(
        (yield* runWith({ name_registrations: [] }).run("registrations")).stdout,
        /^No registrations are in progress/
      )
    }))
})
