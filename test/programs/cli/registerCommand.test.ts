import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import { RpcFailure, RpcUnreachable } from "../../../src/rpc/RpcClient.ts"
import { asleepFor } from "../../support/eventually.ts"
import { answering, runWith } from "./commandRun.ts"
import { hex } from "./fakeDaemon.ts"
import { FREE, OWNER, record, TXID } from "./someNames.ts"

describe("svcd-cli register", () => {
  it.effect("shows value and cost, asks, and begins", () =>
    Effect.gen(function*() {
      const prompt = answering("yes")
      const { run, sent } = runWith(FREE, { prompt })
      const { code, stderr, stdout } = yield* run("register", "example.bit", "-ip", "192.0.2.1", "-ip6", "2001:db8::1")
      assert.deepStrictEqual([code, stderr], [0, ""])
      const value = "{\"ip\":\"192.0.2.1\",\"ip6\":\"2001:db8::1\"}"
      assert.deepStrictEqual(sent("name_autoregister"), [
        ["d/example", hex(value), { nameEncoding: "utf8", valueEncoding: "hex", autorenew: true }]
      ])
      const [question = ""] = prompt.asked
      for (
        const part of [value, "38 of 520 bytes", "example.bit. AAAA 2001:db8::1", "0.01 NMC locked", "about 0.0007 NMC"]
      ) {
        assert.include(question, part)
      }
      assert.match(question, /Register it\? \[y\/N\] $/)
      assert.match(stdout, /^The registration of d\/example has started\./)
    }))

  it.effect("promises no hours on regtest", () =>
    Effect.gen(function*() {
      const begun = (chain: string) =>
        Effect.map(
          runWith({ ...FREE, getblockchaininfo: { chain } }).run("register", "d/example", "-yes"),
          ({ stdout }) => stdout
        )
      assert.include(yield* begun("main"), "It takes 13 blocks, about two hours,")
      assert.include(yield* begun("regtest"), "It takes 13 blocks,")
    }))

  it.effect("says that the registration waits where no transaction is sent yet", () =>
    Effect.gen(function*() {
      const queued = { ...FREE, name_autoregister: { txid: "0".repeat(64), step: "committed", autorenew: true } }
      const { stdout } = yield* runWith(queued).run("register", "d/example", "-yes")
      assert.match(stdout, /The registration of d\/example waits for a block, .*Then it takes 13 blocks/)
      const json = JSON.parse((yield* runWith(queued).run("register", "d/example", "-yes", "-json")).stdout)
      assert.isUndefined(json.txid)
    }))

  it.effect.each(["no", "", "yesterday"])("does nothing after the answer %j", (answer) =>
    Effect.gen(function*() {
      const { run, sent } = runWith(FREE, { prompt: answering(answer) })
      const expected = { code: 1, stdout: "", stderr: "error: nothing was done\n" }
      assert.deepStrictEqual(yield* run("register", "d/example"), expected)
      assert.lengthOf(sent("name_autoregister"), 0)
    }))

  it.effect("does nothing without a terminal and -yes", () =>
    Effect.gen(function*() {
      const { run, sent } = runWith(FREE)
      const { stderr } = yield* run("register", "d/example")
      assert.match(
        stderr,
        /there was no answer \(-yes does not ask\)\. This would be done:\nRegister +d\/example\n/
      )
      assert.lengthOf(sent("name_autoregister"), 0)
    }))

  it.effect("passes on owner and renewal, reads a file, and prints JSON", () =>
    Effect.gen(function*() {
      const { run, sent } = runWith(FREE, { files: { "value.json": "{}\n" } })
      const { stdout } = yield* run(
        "register",
        "d/example",
        "-file",
        "value.json",
        "-owner",
        OWNER,
        "-norenew",
        "-yes",
        "-json"
      )
      assert.deepStrictEqual(sent("name_autoregister"), [
        ["d/example", hex("{}"), { nameEncoding: "utf8", valueEncoding: "hex", destAddress: OWNER }]
      ])
      assert.deepInclude(JSON.parse(stdout), { name: "d/example", value: "{}", txid: TXID, step: "committed" })
      yield* run("register", "d/example", "-norenew", "-yes")
      assert.deepStrictEqual(sent("name_autoregister").slice(1), [
        ["d/example", "", { nameEncoding: "utf8", valueEncoding: "hex", autorenew: false }]
      ])
      const { code, stderr } = yield* run("register", "d/example", "-owner", OWNER, "-renew", "-yes")
      assert.deepStrictEqual([code, stderr.split(":")[1]], [1, " -renew cannot be combined with -owner"])
      assert.lengthOf(sent("name_autoregister"), 2)
    }))

  it.effect("refuses a name that is taken, and a cost above the balance, without a question", () =>
    Effect.gen(function*() {
      const taken = runWith({ ...FREE, name_show: record("", { ismine: false }) })
      assert.match((yield* taken.run("register", "d/example", "-yes")).stderr, /registered already, and another owner/)
      const waiting = runWith({ ...FREE, name_pending: [{ op: "name_firstupdate", ismine: false }] })
      assert.match(
        (yield* waiting.run("register", "d/example", "-yes")).stderr,
        /another registration of d\/example waits/
      )
      assert.lengthOf(waiting.sent("name_autoregister"), 0)
      const poor = runWith({ ...FREE, getbalances: "{\"mine\":{\"trusted\":0.00100000}}" })
      assert.match((yield* poor.run("register", "d/example", "-yes")).stderr, /can spend 0\.001 NMC.*svcd-cli receive/)
      assert.lengthOf([...taken.sent("name_autoregister"), ...poor.sent("name_autoregister")], 0)
    }))

  it.effect("ends with status 1 for a name that is under way already, or has another case than its namespace", () =>
    Effect.gen(function*() {
      const refused = new RpcFailure({ code: -25, message: "this name is already being registered" })
      const told = (name: string, step: string, said: object = { value: "v", value_encoding: "ascii" }) =>
        Effect.map(
          runWith({ ...FREE, name_autoregister: refused, name_registrations: [{ name: "d/example", step, ...said }] })
            .run("register", name, "-yes"),
          ({ code, stderr }) => [code, stderr]
        )
      assert.deepStrictEqual(yield* told("d/example", "maturing"), [
        1,
        "error: d/example is already being registered\n\"svcd-cli registrations\" shows its progress\n"
      ])
      // A commitment by hand: another owner registers the name now.
      assert.deepStrictEqual(yield* told("d/example", "maturing", {}), [
        25,
        "error: this name is already being registered\n"
      ])
      assert.deepStrictEqual(yield* told("d/example", "failed"), [25, "error: this name is already being registered\n"])
      assert.deepStrictEqual(yield* told("D/Example", "done"), [
        1,
        "error: Names are case-sensitive. Programs look up d/example, never D/Example. Nothing was done\n" +
        "give exactly d/example if you mean this name\n"
      ])
    }))

  it.effect("waits with -wait until the name is registered", () =>
    Effect.gen(function*() {
      const steps = ["committed", "maturing", "revealed", "done"]
      const { notes, run, sent } = runWith({
        ...FREE,
        name_registrations: () => [{ txid: TXID, step: steps.shift() }],
        gettransaction: { confirmations: 3 }
      })
      const waiting = yield* Effect.fork(run("register", "d/example", "-yes", "-wait"))
      yield* TestClock.adjust("7 seconds")
      assert.match((yield* Fiber.join(waiting)).stdout, /d\/example is registered\.\n$/)
      assert.lengthOf(sent("name_registrations"), 4)
      // Without a terminal: a line for each state, once.
      assert.deepStrictEqual(notes, [
        "block 3 of 12 before the name can be shown",
        "waits for the block of the name"
      ])
      const failed = runWith({ ...FREE, name_registrations: [{ txid: TXID, step: "failed", note: "too late" }] })
      assert.match((yield* failed.run("register", "d/example", "-yes", "-wait")).stderr, /has failed: too late/)
    }))

  it.effect("says with -wait that the wallet has to be unlocked", () =>
    Effect.gen(function*() {
      const steps = ["maturing", "done"]
      const written: Array<string> = []
      const { run } = runWith({
        ...FREE,
        name_registrations: () => [{ txid: TXID, step: steps.shift(), note: "waits until the wallet is unlocked" }],
        gettransaction: { confirmations: 12 }
      }, { progress: { columns: 80, write: (text) => void written.push(text) } })
      const waiting = yield* Effect.fork(run("register", "d/example", "-yes", "-wait"))
      yield* asleepFor("2 seconds")
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(waiting)
      assert.match(written[0] ?? "", /waits until the wallet is unlocked$/)
    }))

  it.effect("goes on waiting while the daemon restarts", () =>
    Effect.gen(function*() {
      const away = new RpcUnreachable({ address: "127.0.0.1:8336", code: "ECONNREFUSED", wasSent: false })
      const steps = ["committed", undefined, undefined, "done"]
      const { run, sent } = runWith({
        ...FREE,
        name_registrations: () => {
          const step = steps.shift()
          return step === undefined ? away : [{ txid: TXID, step }]
        },
        gettransaction: away
      })
      const waiting = yield* Effect.fork(run("register", "d/example", "-yes", "-wait"))
      yield* TestClock.adjust("7 seconds")
      assert.match((yield* Fiber.join(waiting)).stdout, /d\/example is registered\.\n$/)
      assert.lengthOf(sent("name_registrations"), 4)
    }))

  it.effect("sends a value with an error only after a question, or with -force", () =>
    Effect.gen(function*() {
      const bad = ["register", "d/example", "no JSON"]
      const refused = runWith(FREE)
      const { code, stderr } = yield* refused.run(...bad, "-yes")
      assert.strictEqual(code, 1)
      assert.match(
        stderr,
        /the value has an error: .*not valid JSON.* Nothing was done; -force sends it anyway/
      )
      assert.lengthOf(refused.sent("name_autoregister"), 0)
      const prompt = answering("y")
      const asked = runWith(FREE, { prompt })
      yield* asked.run(...bad)
      assert.match(prompt.asked[0] ?? "", /error: .*not valid JSON/)
      const forced = runWith(FREE)
      yield* forced.run(...bad, "-yes", "-force")
      assert.deepStrictEqual([asked, forced].map(({ sent }) => sent("name_autoregister").length), [1, 1])
    }))

  it.effect("refuses a value that seems to have a secret before it shows it, unless -force insists", () =>
    Effect.gen(function*() {
      for (
        const secret of [
          "legal winner thank year wave sausage worth useful legal winner thank yellow",
          "[\"legal\",\"winner\",\"thank\",\"year\",\"wave\",\"sausage\",\"worth\",\"useful\",\"legal\",\"winner\",\"thank\",\"yellow\"]",
          "L1aW4aubDFB7yfras2S1mN3bqg9nwySY8nkoLmJebSLD5BWv3ENZ"
        ]
      ) {
        const prompt = answering("y")
        const refused = runWith(FREE, { prompt })
        for (const value of [secret, `{"info":${JSON.stringify(secret)}}`]) {
          for (const more of [[], ["-yes"], ["-yes", "-json"]]) {
            const { code, stderr, stdout } = yield* refused.run("register", "d/example", value, ...more)
            assert.strictEqual(code, 1)
            assert.match(stderr, /to contain a seed phrase or a private key.*-force/s)
            assert.notMatch(`${stderr}${stdout}`, /winner|L1aW/)
          }
        }
        assert.deepStrictEqual([prompt.asked.length, refused.sent("name_autoregister").length], [0, 0])
        const forced = runWith(FREE)
        yield* forced.run("register", "d/example", secret, "-yes", "-force")
        assert.lengthOf(forced.sent("name_autoregister"), 1)
      }
    }))
})
