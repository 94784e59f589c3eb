import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import type { AnswerMemory } from "../../src/rpc/CallerMemory.ts"
import { Amount, encodeJson, type JsonValue, lazily, LazyArray, LazyMap } from "../../src/rpc/json/encodeJson.ts"
import { LongText } from "../../src/rpc/json/LongText.ts"
import { encodeLong, isLong, PieceWriter } from "../../src/rpc/longAnswer.ts"

/** Memory with a limit, and the number of bytes in use. */
const memoryOf = (limit: number) => {
  let held = 0
  const memory: AnswerMemory = {
    limit,
    take: (bytes) => {
      if (held + bytes > limit) return false
      held += bytes
      return true
    },
    give: (bytes) => void (held -= bytes),
    isLost: () => false
  }
  return { memory, held: () => held }
}

const numbers = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, at) => at)

const scalar: FastCheck.Arbitrary<JsonValue> = FastCheck.oneof(
  FastCheck.integer(),
  FastCheck.boolean(),
  FastCheck.constant(null),
  FastCheck.string({ unit: "grapheme" }),
  FastCheck.integer().map((units) => new Amount(units))
)

/** Values with long parts at different depths, written from memory and made lazily. */
const pair = FastCheck.array(FastCheck.record({ a: scalar, b: FastCheck.option(scalar, { nil: undefined }) }), {
  minLength: 250,
  maxLength: 300
}).chain((items) =>
  FastCheck.constantFrom<ReadonlyArray<readonly [JsonValue, JsonValue]>[number]>(
    [items, new LazyArray(lazily(items, (item) => item))],
    [{ x: 1, tx: items, y: undefined }, { x: 1, tx: new LazyArray(items), y: undefined }],
    [
      { in: { deep: new Map(items.map((item, at) => [`"${at}`, item])) } },
      { in: { deep: new LazyMap(items.map((item, at) => [`"${at}`, item] as const)) } }
    ]
  )
)

describe("a long answer", () => {
  it("is distinguished from a short one by its parts", () => {
    for (
      const value of [null, 1, "x".repeat(65_536), { a: 1, b: [1, 2] }, numbers(256), new Amount(1), { a: { b: "" } }]
    ) {
      assert.isFalse(isLong(value))
    }
    const long = [numbers(257), new LazyArray([]), new LazyMap([]), new Map(numbers(257).map((at) => [`${at}`, at]))]
    for (const value of [...long, { tx: numbers(257) }, { a: { b: numbers(257) } }, ["x".repeat(65_537)]]) {
      assert.isTrue(isLong(value))
    }
  })

  it.effect("has the same text as in one piece", () =>
    Effect.promise(() =>
      FastCheck.assert(
        FastCheck.asyncProperty(pair, async ([plain, lazy]) => {
          const text = encodeJson(plain)
          assert.strictEqual(encodeJson(lazy), text)
          for (const value of [plain, lazy]) {
            assert.strictEqual(String(await Effect.runPromise(encodeLong(value))), text)
          }
        }),
        { numRuns: 30 }
      )
    ))

  it.effect("has a long text in pieces, which split no character and no escape", () =>
    Effect.gen(function*() {
      for (const unit of ["a", "\n", "\u00e4", "\u{1f600}", "\"", "\u007f"]) {
        for (const before of ["", "a"]) {
          const text = before + unit.repeat(70_000)
          assert.strictEqual(String(yield* encodeLong({ text })), encodeJson({ text }))
        }
      }
    }))

  it.live("is made with turns of the event loop between", () =>
    Effect.gen(function*() {
      let turns = 0
      const timer = setInterval(() => turns++, 1)
      const slow = new LazyArray(lazily(numbers(200), () => {
        const since = performance.now()
        while (performance.now() - since < 1);
        return "x"
      }))
      const text = yield* encodeLong(slow)
      clearInterval(timer)
      assert.strictEqual(String(text).length, 801)
      assert.isAbove(turns, 10)
    }))

  it.effect("is counted piece by piece, and stops at the memory limit", () =>
    Effect.gen(function*() {
      const { held, memory } = memoryOf(500_000)
      const fits = yield* encodeLong(numbers(50_000), memory)
      assert.instanceOf(fits, LongText)
      assert.strictEqual(held(), fits instanceof LongText ? fits.length : 0)
      let made = 0
      const endless = new LazyArray(lazily(numbers(1_000_000), () => `${made++}`.padEnd(100)))
      const error = yield* Effect.flip(encodeLong(endless, memory))
      assert.strictEqual(error.code, -7)
      assert.match(error.message, /request less at once/)
      assert.isBelow(made, 4_000)
      assert.strictEqual(held(), fits instanceof LongText ? fits.length : 0, "the pieces that were made are given back")
    }))

  it.effect("releases its memory when making it fails", () =>
    Effect.gen(function*() {
      const { held, memory } = memoryOf(1_000_000)
      const broken = new LazyArray(lazily(numbers(30_000), (at) => at === 29_999 ? Number.NaN : at))
      assert.strictEqual((yield* Effect.exit(encodeLong(broken, memory)))._tag, "Failure")
      assert.strictEqual(held(), 0)
    }))

  it("is written in pieces only if it is long", () => {
    const { held, memory } = memoryOf(1_000_000)
    const short = new PieceWriter(memory)
    assert.isTrue(short.add("abc"))
    assert.strictEqual(short.end(), "abc")
    assert.strictEqual(held(), 0)
    const writer = new PieceWriter(memory)
    assert.isTrue(writer.add("ä".repeat(100_000)))
    assert.isTrue(writer.append(new LongText([Buffer.from("x")])))
    assert.isTrue(writer.add("y"))
    assert.strictEqual(String(writer.end()), `${"ä".repeat(100_000)}xy`)
  })
})
