import { assert, describe, it } from "@effect/vitest"
import { Either, Schema } from "effect"
import { toHex } from "../../../src/protocol/bytes.ts"
import {
  type Descriptor,
  descriptorText,
  faultless,
  publicDescriptor,
  shownDescriptor
} from "../../../src/wallet/keys/descriptors.ts"
import { expandDescriptor } from "../../../src/wallet/keys/expandDescriptor.ts"
import { parseDescriptors } from "../../../src/wallet/keys/parseDescriptor.ts"
import { bitcoinNetworks } from "../../support/bitcoinNetworks.ts"
import { fixtureBytes } from "../../support/fixtures.ts"

const texts = Schema.Array(Schema.String)

const Vectors = Schema.parseJson(Schema.Struct({
  valid: Schema.Array(Schema.Struct({
    private: Schema.String,
    public: Schema.String,
    normal: Schema.String,
    scripts: Schema.Array(texts)
  })),
  invalid: Schema.Array(Schema.Struct({ text: Schema.String, error: Schema.String })),
  multipath: Schema.Array(Schema.Struct({
    private: Schema.String,
    public: Schema.String,
    privates: texts,
    publics: texts,
    normal: texts
  }))
}))

const vectors = Schema.decodeUnknownSync(Vectors)(fixtureBytes("descriptors/vectors.json").toString())

const { main } = bitcoinNetworks

const bare = (text: string): string => text.replace(/#.*$/, "")

const parse = (text: string): ReadonlyArray<Descriptor> =>
  Either.getOrElse(parseDescriptors(main, text, "optional"), ({ reason }) => assert.fail(`${text}: ${reason}`))

const written = (descriptor: Descriptor): string => bare(descriptorText(main, descriptor))

/** The normal form. */
const normal = (descriptor: Descriptor): string | undefined =>
  Either.getOrUndefined(Either.map(faultless(() => publicDescriptor(descriptor)), written))

describe("descriptors of upstream's tests", () => {
  it.each(vectors.valid)("$public", ({ normal: expected, private: text, public: shown, scripts }) => {
    const [descriptor] = parse(text)
    if (descriptor === undefined) return assert.fail("no descriptor")
    assert.strictEqual(written(descriptor), bare(text))
    assert.strictEqual(written(shownDescriptor(descriptor)), bare(shown))
    assert.deepStrictEqual(parse(shown).map(written), [bare(shown)])
    assert.strictEqual(normal(descriptor), bare(expected))
    const expand = expandDescriptor(descriptor)
    assert.deepStrictEqual(scripts.map((_, index) => expand(index).map(({ script }) => toHex(script))), scripts)
  })

  it.each(vectors.multipath)("$public", ({ normal: expected, private: text, privates, public: shown, publics }) => {
    assert.deepStrictEqual(parse(text).map(written), privates)
    assert.deepStrictEqual(parse(shown).map(written), publics)
    assert.deepStrictEqual(parse(text).map(normal), [...expected])
  })

  it.each(vectors.invalid)("$error", ({ error, text }) => {
    const parsed = parseDescriptors(main, text, "optional")
    // svcd leaves private keys out of errors.
    const expected = error.replace(/(?:[5KL]|xprv)[1-9A-HJ-NP-Za-km-z]{50,}/g, "…")
    assert.strictEqual(Either.isLeft(parsed) ? parsed.left.reason : "", expected)
  })
})
