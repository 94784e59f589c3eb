import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { RpcFailure } from "../../../src/rpc/RpcClient.ts"
import { answering, runWith } from "./commandRun.ts"
import { hex } from "./fakeDaemon.ts"
import { FREE, OWNED, OWNER, record } from "./someNames.ts"

/** A daemon that knows these names, all of the wallet, with this value. */
const knowing = (value: string, ...names: ReadonlyArray<string>) => ({
  ...OWNED,
  name_show: ([name]: ReadonlyArray<unknown>) =>
    names.some((each) => each === name)
      ? record(value, { name })
      : new RpcFailure({ code: -4, message: "never existed" })
})

const WHERE = ["-ip", "192.0.2.1"]

/** The name and the value that a command sends. */
const sentOf = (params: unknown): ReadonlyArray<string> => {
  const [name, value] = Array.isArray(params) ? params : []
  return [String(name), Buffer.from(String(value), "hex").toString()]
}

describe("a name as people type it", () => {
  it.effect.each([
    ["example.bit"],
    ["Example.BIT"],
    [" example.bit. "],
    ["https://example.bit/path"],
    ["d/example.bit"],
    ["0x642f6578616d706c65"]
  ])("%j is registered as the domain that it names, without a question", ([word = ""]) =>
    Effect.gen(function*() {
      const { run, sent } = runWith(FREE)
      const { code, stderr } = yield* run("register", word, ...WHERE, "-yes")
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.deepStrictEqual(sent("name_autoregister").map(sentOf), [["d/example", "{\"ip\":\"192.0.2.1\"}"]])
    }))

  it.effect.each<readonly [word: string, name: string, note: string]>([
    ["example", "d/example", "example has no namespace"],
    ["d/Example", "d/example", "Programs look up d/example, never d/Example"],
    ["D/example", "d/example", "never D/example"],
    ["exa\u200bmple.bit", "d/example", "an invisible character"],
    ["www.example.bit", "d/example", "The name d/example is for the whole domain"],
    ["two words", "two words", "has no namespace"],
    ["example.com", "example.com", "does not end in .bit. The name d/example is for example.bit"],
    ["nft/x", "nft/x", "no application is known to read"],
    ["d/a_b", "d/a_b", "is not a domain"]
  ])("%j costs money only after a question that says what surprises", ([word, name, note]) =>
    Effect.gen(function*() {
      const silent = runWith(FREE)
      const refused = yield* silent.run("register", word, "-yes")
      assert.strictEqual(refused.code, 1)
      assert.include(refused.stderr, note)
      assert.include(refused.stderr, "Nothing was done")
      assert.lengthOf(silent.sent("name_autoregister"), 0)
      const prompt = answering("y")
      const asked = runWith(FREE, { prompt })
      yield* asked.run("register", word)
      assert.match(prompt.asked[0] ?? "", new RegExp(`^Register +${name}\n[^]*Note +.*${note}`))
      assert.deepStrictEqual(asked.sent("name_autoregister").map(sentOf), [[name, ""]])
      const forced = runWith(FREE)
      yield* forced.run("register", word, "-yes", "-force")
      assert.lengthOf(forced.sent("name_autoregister"), 1)
    }))

  it.effect.each([
    ["register", "d/"],
    ["register", "a..bit"],
    ["update", "user@example.bit"],
    ["transfer", "\u202eexample.bit"],
    ["renew", "x".repeat(300)],
    ["name", "0xff00"]
  ])(
    "svcd-cli %s refuses %j, which is not a name, and asks no daemon",
    ([command = "", word = ""]) =>
      Effect.gen(function*() {
        const { daemon, run } = runWith(FREE)
        const more = command === "transfer" ? [OWNER] : []
        const { code, stderr } = yield* run(command, word, ...more)
        assert.strictEqual(code, 1)
        assert.match(stderr, /^error: [ -~]+\n/)
        assert.lengthOf(daemon.calls, 0)
      })
  )

  it.effect("a name in use that is spelled exactly wins over a reading that is not in use", () =>
    Effect.gen(function*() {
      for (const [names, expected] of [[["d/Old", "d/old"], "d/old"], [["d/Old"], "d/Old"]] as const) {
        const { run, sent } = runWith(knowing("v", ...names), { prompt: answering("y") })
        yield* run("transfer", "d/Old", OWNER)
        assert.deepStrictEqual(sent("name_update").map(sentOf), [[expected, "v"]])
      }
      const bare = runWith(knowing("v", "plain"))
      assert.strictEqual((yield* bare.run("transfer", "plain", OWNER, "-yes")).code, 0)
      assert.deepStrictEqual(bare.sent("name_update").map(sentOf), [["plain", "v"]])
    }))

  it.effect("svcd-cli name says beside its answer how it reads the text", () =>
    Effect.gen(function*() {
      const { run } = runWith(knowing("{}", "d/example"))
      const { code, stderr, stdout } = yield* run("name", "Example")
      assert.strictEqual(code, 0)
      assert.match(stdout, /^d\/example, the domain example\.bit\n/)
      assert.match(stderr, /^svcd-cli: note: Example has no namespace\. It is read as the domain example\.bit/)
      assert.strictEqual((yield* run("name", "example.bit")).stderr, "")
      const { name } = JSON.parse((yield* run("name", "D/EXAMPLE", "-json")).stdout)
      assert.strictEqual(name, "d/example")
    }))

  it.effect.each([["renew", "www.example.bit"], ["transfer", "www.example.bit", OWNER]])(
    "%s of a host below a domain asks, because it is done to the whole domain",
    (argv) =>
      Effect.gen(function*() {
        const answers = {
          ...knowing("{}", "d/example"),
          name_renew: { names: [{ name: hex("d/example"), state: "waiting", fee: 0.001 }], transactions: 1, fee: 0.001 }
        }
        const silent = yield* runWith(answers).run(...argv, "-yes")
        assert.strictEqual(silent.code, 1)
        assert.include(silent.stderr, "www.example.bit is a subdomain of example.bit")
        const prompt = answering("n")
        yield* runWith(answers, { prompt }).run(...argv)
        assert.include(prompt.asked[0] ?? "", "www.example.bit is a subdomain of example.bit")
      })
  )
})

describe("a host below a domain", () => {
  const registered = (...argv: ReadonlyArray<string>) =>
    Effect.gen(function*() {
      const { run, sent } = runWith(FREE)
      const { stderr } = yield* run("register", ...argv, "-yes")
      return [stderr, ...sent("name_autoregister").map(sentOf)]
    })

  it.effect("gets what the flags say, and not the domain itself", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* registered("www.example.bit", ...WHERE, "-text", "hello there"), [
        "",
        ["d/example", "{\"map\":{\"www\":{\"ip\":\"192.0.2.1\",\"txt\":\"hello there\"}}}"]
      ])
    }))

  it.effect.each<readonly [argv: ReadonlyArray<string>, expected: string]>([
    [["www.example.bit", "-mail", "10 mail.example.net"], "-mail is for example.bit, not for www.example.bit"],
    [["www.example.bit", "-email", "a@example.org"], "-email: is an item of an identity"],
    [["a.b.example.bit", ...WHERE], "a.b.example.bit is more than one level below example.bit"],
    [["www.example.bit", "-ip", "2001:db8::1"], "is not an IPv4 address"],
    [["www.example.bit", "-value", "{}"], "www.example.bit is a subdomain of example.bit"],
    [["_tcp.example.bit", ...WHERE], "cannot be the label of a sub-domain"]
  ])("is refused with %j", ([argv, expected]) =>
    Effect.gen(function*() {
      const outcome = yield* registered(...argv)
      assert.lengthOf(outcome, 1)
      assert.include(outcome[0], expected)
    }))

  it.effect("is changed alone by an update, in either form of its address", () =>
    Effect.gen(function*() {
      const updated = (before: string, ...argv: ReadonlyArray<string>) =>
        Effect.gen(function*() {
          const { run, sent } = runWith(knowing(before, "d/example"))
          const { stderr } = yield* run("update", "www.example.bit", ...argv, "-yes")
          return [stderr, ...sent("name_update").map((params) => sentOf(params)[1])]
        })
      const before =
        "{\"ip\":\"192.0.2.9\",\"map\":{\"www\":{\"ip\":\"192.0.2.8\",\"txt\":\"t\"},\"ftp\":{\"ip\":\"192.0.2.7\"}}}"
      assert.deepStrictEqual(yield* updated(before, ...WHERE), ["", before.replace("192.0.2.8", "192.0.2.1")])
      assert.deepStrictEqual(yield* updated(before, "-remove", "text"), ["", before.replace(",\"txt\":\"t\"", "")])
      const short = yield* updated("{\"map\":{\"www\":\"192.0.2.8\"}}", ...WHERE)
      assert.include(short[1], "192.0.2.1")
      assert.notInclude(short[1], "192.0.2.8")
      assert.include((yield* updated(before, "-remove", "ns"))[0], "-remove: www.example.bit has no item \"ns\"")
    }))
})
