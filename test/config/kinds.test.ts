import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Either, FastCheck, ParseResult, Redacted, Schema } from "effect"
import * as ChainKinds from "../../src/config/chainKinds.ts"
import * as Kinds from "../../src/config/kinds.ts"
import { displayHash } from "../../src/protocol/bytes.ts"

const decode = <A>(kind: Kinds.OptionKind<A>, text: string): Either.Either<A, string> =>
  Either.mapLeft(
    Schema.decodeEither(kind.schema())(text),
    (error) => ParseResult.ArrayFormatter.formatErrorSync(error).map(({ message }) => message).join()
  )

const refusal = <A>(kind: Kinds.OptionKind<A>, text: string): string =>
  Either.match(decode(kind, text), { onLeft: (message) => message, onRight: () => "accepted" })

const value = <A>(kind: Kinds.OptionKind<A>, text: string): A => Either.getOrThrow(decode(kind, text))

describe("integer", () => {
  const kind = Kinds.integerKind({ min: -1, max: 10 })

  it.each([["-1", -1], ["0", 0], ["10", 10], ["+7", 7], ["007", 7]] as const)("reads %s", (text, expected) => {
    assert.strictEqual(value(kind, text), expected)
  })

  it.each(["-2", "11", "1.5", "", " 1", "1e1", "0x1", "ten", "99999999999999999999", "NaN"])("refuses %s", (text) => {
    assert.strictEqual(refusal(kind, text), `"${text}" is not a whole number from -1 to 10`)
  })
})

describe("pageSize", () => {
  it.each([512, 1024, 4096, 16_384, 65_536])("takes %s", (size) => {
    assert.strictEqual(value(Kinds.pageSizeKind, `${size}`), size)
  })

  it.each(["0", "256", "511", "513", "5000", "131072", "-4096", "4096.5"])("refuses %s", (text) => {
    assert.include(refusal(Kinds.pageSizeKind, text), "power of two from 512 to 65536")
  })
})

describe("onOff", () => {
  it.each([["1", true], ["true", true], ["0", false], ["false", false]] as const)("reads %s", (text, expected) => {
    assert.strictEqual(value(Kinds.onOffKind, text), expected)
  })

  it.each(["", "yes", "TRUE", "2"])("refuses %s", (text) => {
    assert.include(refusal(Kinds.onOffKind, text), "0, 1, true, false")
  })
})

describe("choice", () => {
  it("names the words that are allowed", () => {
    const kind = Kinds.choiceKind(["debug", "info"])
    assert.strictEqual(value(kind, "info"), "info")
    assert.strictEqual(refusal(kind, "loud"), "\"loud\" is not one of debug, info")
    assert.strictEqual(refusal(kind, "INFO"), "\"INFO\" is not one of debug, info")
  })
})

describe("text, path, userName, secret", () => {
  it("refuse what cannot be one, and nothing else", () => {
    assert.strictEqual(value(Kinds.textKind("X"), "a = b"), "a = b")
    assert.strictEqual(refusal(Kinds.textKind("X"), ""), "must not be empty")
    assert.strictEqual(refusal(Kinds.pathKind, ""), "must not be empty")
    assert.include(refusal(Kinds.pathKind, "a\0b"), "is not a path")
    assert.strictEqual(value(Kinds.userNameKind, "a=b ü"), "a=b ü")
    assert.include(refusal(Kinds.userNameKind, "a:b"), "colon")
    assert.strictEqual(Redacted.value(value(Kinds.secretKind, "a:b \"ü\"")), "a:b \"ü\"")
  })
})

describe("optional and commaSeparated", () => {
  it("take an empty text as nothing", () => {
    assert.isUndefined(value(Kinds.optionalKind(Kinds.addressKind("required")), ""))
    assert.deepStrictEqual(value(Kinds.commaSeparatedKind(Kinds.choiceKind(["rpc", "network"])), ""), [])
  })

  it("judge what is there as their kind does", () => {
    const parts = Kinds.commaSeparatedKind(Kinds.choiceKind(["rpc", "network"]))
    assert.deepStrictEqual(value(parts, " network,rpc ,"), ["network", "rpc"])
    assert.strictEqual(refusal(parts, "rpc,disc"), "\"disc\" is not one of rpc, network")
    assert.include(refusal(Kinds.optionalKind(Kinds.addressKind("required")), "x"), "host:port")
  })
})

describe("assumeValid", () => {
  const hash = "46c38b14b25fef782cc454cac284b720f58ad414d2c323a980ede420da6affcf"

  it("reads a hash as it is displayed, 0 and nothing", () => {
    const bytes = value(ChainKinds.assumeValid, hash)
    assert.isTrue(bytes instanceof Uint8Array && displayHash(bytes) === hash)
    assert.deepStrictEqual(value(ChainKinds.assumeValid, hash.toUpperCase()), bytes)
    assert.strictEqual(value(ChainKinds.assumeValid, "0"), "none")
    assert.strictEqual(value(ChainKinds.assumeValid, ""), "default")
  })

  it.each([hash.slice(1), `${hash}0`, hash.replace("4", "g"), "1", "none"])("refuses %s", (text) => {
    assert.include(refusal(ChainKinds.assumeValid, text), "64 hexadecimal digits")
  })
})

describe("activationHeight", () => {
  it.each(
    [
      ["bip16@1000000", "bip16", 1_000_000],
      ["bip34@1", "bip34", 1],
      ["dersig@0", "bip66", 0],
      ["cltv@5", "bip65", 5],
      ["csv@6", "csv", 6],
      ["segwit@2147483646", "segwit", 2_147_483_646]
    ] as const
  )("reads %s", (text, rule, height) => {
    assert.deepStrictEqual(value(ChainKinds.activationHeight, text), { rule, height })
  })

  it.each(["segwit", "segwit@", "segwit@-1", "segwit@2147483647", "segwit@x", "taproot@1", "@1", "", "segwit@1@2"])(
    "refuses %s",
    (text) => assert.include(refusal(ChainKinds.activationHeight, text), `"${text}"`)
  )
})

describe("versionBits", () => {
  it.each([
    { text: "taproot:1:1", height: Infinity, why: "the window closes as it opens" },
    { text: "taproot:5:4", height: Infinity, why: "it closes before it opens" },
    { text: "taproot:-2:0", height: Infinity, why: "-2 is upstream's never" },
    { text: "taproot:-1:9223372036854775807", height: 0, why: "-1 is upstream's always" },
    { text: "taproot:-1:0:150", height: 0, why: "a lowest height has no effect on always" }
  ])("reads $text as $height: $why", ({ height, text }) => {
    assert.deepStrictEqual(value(ChainKinds.versionBits, text), { rule: "taproot", height })
  })

  it.each(
    [
      ["taproot:0:9223372036854775807", /signals/],
      ["taproot:1:2", /signals/],
      ["taproot:-3:0", /signals/],
      ["testdummy:1:1", /for taproot/],
      ["taproot:1", /deployment:start:end/],
      ["taproot:1:1:1:1", /deployment:start:end/],
      ["taproot:1:x", /deployment:start:end/],
      ["taproot:1:1:", /deployment:start:end/],
      ["taproot:1:9223372036854775808", /deployment:start:end/],
      ["", /deployment:start:end/]
    ] as const
  )("refuses %s", (text, says) => {
    assert.match(refusal(ChainKinds.versionBits, text), says)
  })
})

describe("amount", () => {
  it.each(
    [["0.001", 100_000], ["0", 0], ["21", 2_100_000_000], ["0.00000001", 1], ["1.5", 150_000_000]] as const
  )("reads %s", (text, smallest) => assert.strictEqual(value(Kinds.amountKind, text), smallest))

  it.each(["", "-1", "1.", ".5", "1e3", "0.000000001", "123456789", "1,5"])("refuses %o", (text) => {
    assert.match(refusal(Kinds.amountKind, text), /amount with up to eight decimals/)
  })
})

describe("comment", () => {
  it.each(["a/b", "(x)", "é", "a\nb"])("refuses %o", (text) => {
    assert.match(refusal(Kinds.commentKind, text), /^User Agent comment \(.*\) contains unsafe characters\.$/)
  })
})

const roundTrips = <A>(kind: Kinds.OptionKind<A>, values: FastCheck.Arbitrary<A>) =>
  FastCheck.assert(FastCheck.property(values, (given) => {
    const text = Schema.encodeSync(kind.schema())(given)
    assert.deepStrictEqual(Schema.encodeSync(kind.schema())(value(kind, text)), text)
    assert.deepStrictEqual(value(kind, text), given)
  }))

describe("every kind", () => {
  it("reads back what it writes", () => {
    const address = FastCheck.record({ host: FastCheck.ipV6(), port: FastCheck.integer({ min: 1, max: 65_535 }) })
    roundTrips(Kinds.integerKind({ min: -5, max: 2 ** 40 }), FastCheck.integer({ min: -5, max: 2 ** 40 }))
    roundTrips(Kinds.onOffKind, FastCheck.boolean())
    roundTrips(Kinds.choiceKind(["a", "b"]), Arbitrary.make(Schema.Literal("a", "b")))
    roundTrips(Kinds.addressKind("required"), address)
    roundTrips(Kinds.optionalKind(Kinds.addressKind("required")), FastCheck.option(address, { nil: undefined }))
    roundTrips(
      Kinds.commaSeparatedKind(Kinds.choiceKind(["a", "b"])),
      FastCheck.array(Arbitrary.make(Schema.Literal("a", "b")))
    )
    roundTrips(Kinds.amountKind, FastCheck.integer({ min: 0, max: 99_999_999 * 100_000_000 }))
    roundTrips(Kinds.commentKind, FastCheck.stringMatching(/^[A-Za-z0-9 .,;_?@-]{1,100}$/))
    roundTrips(Kinds.pageSizeKind, FastCheck.constantFrom(512, 4096, 65_536))
    roundTrips(
      ChainKinds.activationHeight,
      FastCheck.record({
        rule: FastCheck.constantFrom("bip16" as const, "bip65" as const, "bip66" as const, "segwit" as const),
        height: FastCheck.integer({ min: 0, max: 0x7ffffffe })
      })
    )
    roundTrips(
      ChainKinds.versionBits,
      FastCheck.constantFrom(
        { rule: "taproot" as const, height: 0 },
        { rule: "taproot" as const, height: Infinity }
      )
    )
    roundTrips(
      ChainKinds.assumeValid,
      FastCheck.oneof(
        FastCheck.constantFrom("default" as const, "none" as const),
        FastCheck.uint8Array({ minLength: 32, maxLength: 32 })
      )
    )
  })
})
