import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { readCliCommandLine } from "../../../src/programs/cli/flags.ts"
import { requestedValue } from "../../../src/programs/cli/valueFlags.ts"

const FILES: Readonly<Record<string, string>> = { "value.json": "{\"ip\":\"192.0.2.7\"}\n" }

const wanted = (before: string | undefined, name: string, ...flags: ReadonlyArray<string>) =>
  requestedValue({
    name,
    before,
    line: readCliCommandLine(["update", name, ...flags]),
    input: {
      readFile: (path) =>
        path === "secret"
          ? Either.left({ why: "cannot be read (EACCES)", isForbidden: true })
          : Either.right(FILES[path]),
      readStdin: Effect.succeed("from standard input\n")
    }
  })

/** A value with items that no flag knows. */
const RICH = "{\"ip\":[\"192.0.2.1\",\"192.0.2.2\"],\"ip6\":\"2001:db8::1\",\"x\":{\"deep\":[1e3,\"\\u00e9\"]}," +
  "\"map\":{\"www\":{\"alias\":\"\"},\"_tcp\":{\"map\":{\"_443\":{\"tls\":[[3,1,1,\"qrs=\"]]}}}}}"

describe("requestedValue", () => {
  it.effect.each<readonly [name: string, flags: ReadonlyArray<string>, before: string, value: string | undefined]>([
    ["d/x", [], RICH, undefined],
    ["d/x", ["-value", "anything"], RICH, "anything"],
    ["d/x", ["-value", ""], RICH, ""],
    ["d/x", ["-value", "-"], "", "from standard input"],
    ["d/x", ["-file", "-"], "", "from standard input"],
    ["d/x", ["-file", "value.json"], "", "{\"ip\":\"192.0.2.7\"}"],
    ["d/x", ["{\"ip\":\"192.0.2.8\"}"], RICH, "{\"ip\":\"192.0.2.8\"}"],
    ["d/x", ["-ip", "192.0.2.1", "-ip", "192.0.2.2"], "", "{\"ip\":[\"192.0.2.1\",\"192.0.2.2\"]}"],
    ["d/x", ["-ns", "ns1.example.net"], "{}", "{\"ns\":\"ns1.example.net.\"}"],
    ["d/x", ["-ip", "192.0.2.9"], RICH, RICH.replace("[\"192.0.2.1\",\"192.0.2.2\"]", "[\"192.0.2.9\"]")],
    ["d/x", ["-remove", "ip"], RICH, RICH.replace("\"ip\":[\"192.0.2.1\",\"192.0.2.2\"],", "")],
    ["d/x", ["-remove", "ip6", "-remove", "x"], "{\"ip6\":\"2001:db8::1\",\"x\":1,\"y\":2}", "{\"y\":2}"],
    // Flags for one label, or one port, leave the others alone.
    [
      "d/x",
      ["-sub", "www 192.0.2.9", "-sub", "new 192.0.2.10"],
      "{\"map\":{\"www\":{\"ip\":\"192.0.2.1\",\"txt\":\"a\"},\"ftp\":{\"ip\":\"192.0.2.2\"},\"a\":\"192.0.2.3\"}}",
      "{\"map\":{\"www\":{\"ip\":\"192.0.2.9\",\"txt\":\"a\"},\"ftp\":{\"ip\":\"192.0.2.2\"},\"a\":\"192.0.2.3\"," +
      "\"new\":{\"ip\":\"192.0.2.10\"}}}"
    ],
    [
      "d/x",
      ["-tls", "853 3 1 1 abcd"],
      "{\"map\":{\"_tcp\":{\"map\":{\"_443\":{\"tls\":[[3,1,1,\"qrs=\"]]},\"_853\":{\"tls\":[[3,1,1,\"qrs=\"]]}}}}}",
      "{\"map\":{\"_tcp\":{\"map\":{\"_443\":{\"tls\":[[3,1,1,\"qrs=\"]]},\"_853\":{\"tls\":[[3,1,1,\"q80=\"]]}}}}}"
    ],
    [
      "d/x",
      ["-remove", "sub"],
      "{\"ip\":\"192.0.2.1\",\"map\":{\"www\":{\"ip\":\"192.0.2.1\"}}}",
      "{\"ip\":\"192.0.2.1\"}"
    ],
    [
      "d/x",
      ["-remove", "map.www"],
      "{\"map\":{\"www\":{\"ip\":\"192.0.2.1\"},\"a\":\"192.0.2.3\"}}",
      "{\"map\":{\"a\":\"192.0.2.3\"}}"
    ],
    [
      "d/x",
      ["-remove", "ns", "-ip", "192.0.2.1"],
      "{\"ns\":[[\"unknown\"]],\"x\":1}",
      "{\"x\":1,\"ip\":\"192.0.2.1\"}"
    ],
    [
      "dd/x",
      ["-tls", "443 3 1 1 abcd"],
      "{}",
      "{\"map\":{\"_tcp\":{\"map\":{\"_443\":{\"tls\":[[3,1,1,\"q80=\"]]}}}}}"
    ],
    ["id/x", ["-email", "a@example.org", "-backup", "b@example.org"], "{\"z\":1}", undefined]
  ])("makes the value of %s with %j from %s", ([name, flags, before, value]) =>
    Effect.gen(function*() {
      const made = yield* wanted(before, name, ...flags)
      if (name === "id/x") {
        assert.deepStrictEqual(JSON.parse(made ?? ""), { z: 1, email: "a@example.org", backup: ["b@example.org"] })
      } else assert.strictEqual(made, value)
    }))

  it.effect.each<readonly [name: string, flags: ReadonlyArray<string>, before: string | undefined, message: string]>([
    ["d/x", ["-value", "a", "-ip", "192.0.2.1"], "", "-value and -ip cannot be combined"],
    ["d/x", ["a", "-file", "value.json"], "", "a value and -file cannot be combined"],
    ["d/x", ["-value", "é".repeat(261)], "", "the value has 522 bytes, more than the limit of 520"],
    ["d/x", ["-file", "missing"], "", "missing does not exist"],
    ["d/x", ["-file", "secret"], "", "secret cannot be read (EACCES)"],
    ["d/x", ["-ip", "300.1.1.1"], "", "-ip: \"300.1.1.1\" is not an IPv4 address"],
    ["d/x", ["-ip6", "192.0.2.1"], "", "-ip6: \"192.0.2.1\" is not an IPv6 address"],
    ["d/x", ["-ds", "nonsense"], "", "-ds, entry 1: has to be four parts"],
    ["d/x", ["-sub", "a.b 192.0.2.1"], "", "-sub, entry 1: "],
    ["d/x", ["-email", "a@example.org"], "", "-email: is an item of an identity, and this is a domain"],
    ["id/x", ["-ip", "192.0.2.1"], "", "-ip: is an item of a domain, and this is an identity"],
    ["x/y", ["-ip", "192.0.2.1"], "", "give the whole value with -value"],
    ["d/x", ["-ip", "192.0.2.1"], "no JSON", "the value is not a JSON object"],
    ["d/x", ["-ip", "192.0.2.1"], undefined, "the value is not a JSON object"],
    ["d/x", ["-ip", "192.0.2.1", "-remove", "tpyo"], "{}", "-remove: the value has no item \"tpyo\""],
    ["d/x", ["-ip", "192.0.2.1", "-remove", "ip"], "{}", "-remove ip cannot be combined with -ip"]
  ])("refuses %s with %j", ([name, flags, before, message]) =>
    Effect.gen(function*() {
      assert.include((yield* Effect.flip(wanted(before, name, ...flags))).message, message)
    }))
})
