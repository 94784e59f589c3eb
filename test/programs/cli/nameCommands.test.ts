import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { blocksWithin } from "../../../src/programs/cli/renew.ts"
import { answering, runAlone, runWith } from "./commandRun.ts"
import { hex } from "./fakeDaemon.ts"
import { FREE, OWNED, OWNER, record, TXID, unknownName } from "./someNames.ts"

const KEY = "L1aW4aubDFB7yfras2S1mN3bqg9nwySY8nkoLmJebSLD5BWv3ENZ"
const HEX_KEY = "7e".repeat(32)
const WORDS = `${"abandon ".repeat(11)}about`

describe("the name of a command", () => {
  it.effect.each([
    ["register", ""],
    ["register", " "],
    ["register", "d/"],
    ["register", "''"],
    ["update", ""],
    ["transfer", ""],
    ["renew", ""],
    ["name", ""]
  ])("svcd-cli %s refuses the name %j and asks no daemon", ([command = "", name = ""]) =>
    Effect.gen(function*() {
      const { daemon, run } = runWith({ ...OWNED, name_show: unknownName })
      const more = command === "transfer" ? [OWNER] : command === "update" ? ["{}"] : []
      const yes = command === "name" ? [] : ["-yes"]
      const { code, stderr, stdout } = yield* run(command, name, ...more, ...yes)
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(stderr, /^error: .*as d\/example\n$/)
      assert.lengthOf(daemon.calls, 0)
    }))

  it.effect("a free name outside every namespace leads to its domain, not to its registration", () =>
    Effect.gen(function*() {
      const { run } = runWith(FREE)
      assert.notInclude((yield* run("update", "example.com", "{}")).stderr, "register ")
      assert.strictEqual(
        (yield* run("name", "example.com")).stdout,
        "example.com is not registered; a domain begins with d/: \"svcd-cli name d/example\" shows one.\n"
      )
    }))
})

describe("svcd-cli update", () => {
  it.effect("changes only what the flags name, and shows before and after", () =>
    Effect.gen(function*() {
      const prompt = answering("y")
      const { run, sent } = runWith(OWNED, { prompt })
      const { stdout } = yield* run("update", "d/example", "-ip", "192.0.2.9")
      const value = "{\"ip\":\"192.0.2.9\",\"x\":[1.0,2]}"
      assert.deepStrictEqual(sent("name_update"), [
        ["d/example", hex(value), { nameEncoding: "utf8", valueEncoding: "hex", psbt: false }]
      ])
      assert.match(prompt.asked[0] ?? "", /Before\s+\{"ip":"192\.0\.2\.1",[^]*After[^]*\{"ip":"192\.0\.2\.9",/)
      assert.include(stdout, `Sent with the transaction ${TXID}`)
    }))

  it.effect.each(
    [
      [["update", "d/example"], "there is no new value"],
      [["update", "d/example", "-ip", "192.0.2.1"], "the value is unchanged"],
      [["update", "d/example", "-ip", "2001:db8::1"], "-ip: \"2001:db8::1\" is not an IPv4 address"],
      [["transfer", "d/example", "N1bad\u001b"], "is not an address of this network"]
    ] as const
  )("refuses %j", ([argv, expected]) =>
    Effect.gen(function*() {
      const { run, sent } = runWith({ ...OWNED, validateaddress: { isvalid: false } })
      const { code, stderr } = yield* run(...argv, "-yes")
      assert.strictEqual(code, 1)
      assert.include(stderr, expected)
      assert.notInclude(stderr, "\u001b")
      assert.lengthOf(sent("name_update"), 0)
    }))

  it.effect.each(
    [
      [{ name_show: unknownName }, "is not registered"],
      [{ name_show: record("", { expires_in: 0 }) }, "has expired"],
      [{ name_show: record("", { ismine: false }) }, "belongs to another owner"],
      [{ name_pending: [{ op: "name_update" }] }, "waits for a block"]
    ] as const
  )("refuses a name that cannot be updated: %j", ([answers, expected]) =>
    Effect.gen(function*() {
      const { run } = runWith({ ...OWNED, ...answers })
      assert.include((yield* run("update", "d/example", "-value", "{}", "-yes")).stderr, expected)
    }))
})

describe("a value that changes while a question waits for its answer", () => {
  it.effect.each(
    [["update", "d/example", "-ip", "192.0.2.9"], ["transfer", "d/example", "N1other"]] as const
  )("is not overwritten: %j", (argv) =>
    Effect.gen(function*() {
      const values = ["{\"ip\":\"192.0.2.1\"}", "{\"ip\":\"192.0.2.2\"}"]
      const { run, sent } = runWith({ ...OWNED, name_show: () => record(values.shift() ?? "") }, {
        prompt: answering("y")
      })
      assert.match((yield* run(...argv)).stderr, /has changed in the meantime/)
      assert.lengthOf(sent("name_update"), 0)
    }))
})

describe("svcd-cli transfer", () => {
  it.effect("gives a name with its value to an address after a question", () =>
    Effect.gen(function*() {
      const prompt = answering("y")
      const { run, sent } = runWith(OWNED, { prompt })
      yield* run("transfer", "example.bit", "N1other")
      assert.deepStrictEqual(sent("name_update"), [[
        "d/example",
        hex("{\"ip\":\"192.0.2.1\",\"x\":[1.0,2]}"),
        { nameEncoding: "utf8", valueEncoding: "hex", psbt: false, destAddress: "N1other" }
      ]])
      assert.match(prompt.asked[0] ?? "", /N1other[^]*lost for good/)
    }))
})

describe("svcd-cli renew", () => {
  const draft = {
    names: [{ name: hex("d/example"), state: "waiting", expires_in: 500, fee: 0.0005 }],
    transactions: 1,
    fee: 0.0005
  }
  const done = [{ name: hex("d/example"), state: "sent", txid: TXID }]
  const answers = {
    name_renew: (params: ReadonlyArray<unknown>) => JSON.stringify(params[1]).includes("dryrun") ? draft : done
  }

  it.effect("shows no time for a name that is not registered", () =>
    Effect.gen(function*() {
      const names = [{ name: hex("d/nix"), state: "skipped", expires_in: 0, note: "the name is not registered" }]
      const { run } = runWith({ name_renew: { names, transactions: 0 } })
      assert.match((yield* run("renew", "d/nix")).stdout, /\nd\/nix +– +the name is not registered\n/)
    }))

  it.effect.each(
    [
      [["renew", "example.bit"], [hex("d/example")]],
      [["renew", "-all"], "all"],
      [["renew", "-within", "4w"], 4_032]
    ] as const
  )("asks with the cost, and renews: %j", ([argv, names]) =>
    Effect.gen(function*() {
      const prompt = answering("y")
      const { run, sent } = runWith(answers, { prompt })
      const { stdout } = yield* run(...argv)
      assert.deepStrictEqual(sent("name_renew"), [
        [names, { nameEncoding: "hex", dryrun: true }],
        // The names that were shown, even if others are due by then.
        [[hex("d/example")], { nameEncoding: "hex" }]
      ])
      assert.match(prompt.asked[0] ?? "", /d\/example\s+500 blocks\s+0\.0005[^]*1 transaction, 0\.0005 NMC/)
      assert.match(stdout, /^1 renewal is sent\./)
    }))

  it.effect("asks nothing where there is nothing to renew", () =>
    Effect.gen(function*() {
      const { run } = runWith({ name_renew: { names: [], transactions: 0 } })
      assert.deepStrictEqual(yield* run("renew", "-all"), {
        code: 0,
        stdout: "There is nothing to renew.\n",
        stderr: ""
      })
      assert.match((yield* run("renew")).stderr, /give names, or -all, or -within/)
      assert.match((yield* run("renew", "-all", "d/example")).stderr, /give names, or -all, or -within/)
    }))

  it.effect("says how many names it leaves out", () =>
    Effect.gen(function*() {
      const prompt = answering("y")
      const { run } = runWith({
        name_renew: (params: ReadonlyArray<unknown>) =>
          JSON.stringify(params[1]).includes("dryrun") ? { ...draft, left_out: 2 } : done
      }, { prompt })
      yield* run("renew", "-all")
      assert.include(prompt.asked[0] ?? "", "\n2 names are left out: renewal is turned off for them.\n")
      assert.strictEqual(JSON.parse((yield* run("renew", "-all", "-yes", "-json")).stdout).left_out, 2)
      const none = runWith({ name_renew: { names: [], transactions: 0, left_out: 1 } })
      assert.strictEqual(
        (yield* none.run("renew", "-all")).stdout,
        "1 name is left out: renewal is turned off for it.\n" +
          "There is nothing else to renew. \"svcd-cli renew NAME\" renews a left-out name once.\n"
      )
      // For a script, too, names that are left out are not a failure, and a name that was given and is not renewed is one.
      for (const json of [[], ["-json"]]) {
        assert.strictEqual((yield* none.run("renew", "-within", "4w", ...json)).code, 0)
        assert.strictEqual((yield* none.run("renew", "d/example", ...json)).code, 1)
      }
    }))

  it("reads times", () => {
    assert.deepStrictEqual(["4w", "10d", "12h", "7", "0", "", "36001", "4y"].map(blocksWithin), [
      4_032,
      1_440,
      72,
      7,
      undefined,
      undefined,
      undefined,
      undefined
    ])
  })
})

describe("a private key in a wrong place", () => {
  it.effect.each([
    ["pay", "1.5", KEY, "-yes"],
    ["pay", KEY, KEY],
    ["pay", OWNER, KEY],
    ["transfer", KEY, "d/example"],
    ["update", KEY, "{}"],
    ["name", KEY],
    ["register", KEY],
    ["renew", KEY],
    ["renew", "-within", KEY],
    ["update", "d/example", "-ip", KEY],
    ["update", "d/example", "-ip6", HEX_KEY],
    ["update", "d/example", "-alias", `${KEY} `],
    ["update", "d/example", "-ns", WORDS],
    ["update", "d/example", "-file", KEY],
    ["update", "d/example", "-remove", KEY],
    ["update", "d/example", "-remove", WORDS]
  ])("is not repeated, and no daemon gets it: svcd-cli %s", (words) =>
    Effect.gen(function*() {
      const { daemon, run } = runWith(OWNED)
      const { code, stderr, stdout } = yield* run(...words)
      assert.notStrictEqual(code, 0)
      for (const secret of [KEY, HEX_KEY, WORDS]) {
        assert.notInclude((stderr + stdout).toLowerCase(), secret.slice(0, 8).toLowerCase())
        assert.notInclude(JSON.stringify(daemon), secret.slice(0, 8))
      }
    }))

  it.effect.each([
    [`-json=${KEY}`, "names"],
    [`-stdinrpcpass=${KEY}`, "getinfo"],
    ["-completions", KEY]
  ])("is not repeated where no daemon is asked: svcd-cli %s", (words) =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* runAlone(words)
      assert.notStrictEqual(code, 0)
      assert.notInclude(stderr + stdout, KEY.slice(0, 8))
    }))
})
