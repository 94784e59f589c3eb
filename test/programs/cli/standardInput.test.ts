import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { Readable } from "node:stream"
import { readCliCommandLine } from "../../../src/programs/cli/flags.ts"
import { readStandardInput } from "../../../src/programs/cli/standardInput.ts"
import { requestedValue } from "../../../src/programs/cli/valueFlags.ts"
import { runAlone } from "./commandRun.ts"

const streamOf = (...chunks: ReadonlyArray<string | Uint8Array>) =>
  Readable.from(chunks.map((chunk) => Buffer.from(chunk)), { objectMode: false })

const read = (...chunks: ReadonlyArray<string | Uint8Array>) => readStandardInput(streamOf(...chunks))

const BAD = Uint8Array.of(...Buffer.from("{\"txt\":\""), 0xff, 0xfe, ...Buffer.from("\"}"))

const alone = (argv: ReadonlyArray<string>, input: Uint8Array) => runAlone(argv, read(input))

describe("readStandardInput", () => {
  it.effect("reads the whole text, even of a character in two chunks, without a byte order mark", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* read(), "")
      assert.strictEqual(yield* read("a\n", Uint8Array.of(0xc3), Uint8Array.of(0xbc)), "a\nü")
      assert.strictEqual(yield* read("\ufeff{}\ufeff"), "{}\ufeff")
      assert.strictEqual(yield* readStandardInput(streamOf("abc"), 3), "abc")
    }))

  it.effect("fails for other bytes, for too many, and for an input that breaks off", () =>
    Effect.gen(function*() {
      const failure = (reading: ReturnType<typeof read>) => Effect.map(Effect.flip(reading), ({ message }) => message)
      assert.strictEqual(yield* failure(read(BAD)), "standard input is not UTF-8")
      assert.strictEqual(yield* failure(read("a", Uint8Array.of(0xc3))), "standard input is not UTF-8")
      assert.strictEqual(
        yield* failure(readStandardInput(streamOf("ab", "cd", "ef"), 3)),
        "standard input is longer than 3 bytes"
      )
      const broken = new Readable({
        read() {
          this.destroy(Object.assign(new Error("read"), { code: "EISDIR" }))
        }
      })
      assert.strictEqual(yield* failure(readStandardInput(broken)), "standard input cannot be read (EISDIR)")
    }))

  it.effect.each([
    { argv: ["lint", "d/example", "-"] },
    { argv: ["rpcauth", "alice", "-"] },
    { argv: ["-stdin", "name_update", "d/example"] },
    { argv: ["-stdinrpcpass", "names"] }
  ])("ends $argv where it is not UTF-8", ({ argv }) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* alone(argv, BAD), {
        code: 1,
        stdout: "",
        stderr: "error: standard input is not UTF-8\n"
      })
    }))

  it.effect.each(
    [{ argv: ["update", "d/example", "-file", "-"] }, { argv: ["register", "d/example", "-value", "-"] }]
  )("makes no value for $argv where it is not UTF-8", ({ argv }) =>
    Effect.gen(function*() {
      const requested = requestedValue({
        name: "d/example",
        before: "",
        line: readCliCommandLine(argv),
        input: { readStdin: read(BAD), readFile: () => Either.right(undefined) }
      })
      assert.strictEqual((yield* Effect.flip(requested)).message, "standard input is not UTF-8")
    }))
})
