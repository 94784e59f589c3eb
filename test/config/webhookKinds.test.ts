import { assert, describe, it } from "@effect/vitest"
import { Either, Redacted } from "effect"
import { readArgv } from "../../src/config/argv.ts"
import { fromFile } from "../../src/config/configFile.ts"
import { valuesDecoder } from "../../src/config/decode.ts"
import { decodeSettings } from "../../src/config/decodeSettings.ts"
import { gather } from "../../src/config/gather.ts"
import { OPTIONS } from "../../src/config/options.ts"
import { printConfig } from "../../src/config/printConfig.ts"
import { readHookSecret, readHookUrl } from "../../src/config/webhookKinds.ts"
import { DEFAULT_FILE, inputOf } from "./input.ts"

const SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"

const read = (text: string) => Either.flatMap(fromFile({ text, file: "/d/svcd.conf" }), valuesDecoder(OPTIONS))

/** The messages with which a file is refused. */
const refusal = (text: string): string => {
  const result = read(text)
  if (Either.isRight(result)) return assert.fail("is accepted")
  return Array.isArray(result.left) ? result.left.join("\n") : String(result.left)
}

const hook = (more: string, url = "https://example.com/hook"): string =>
  `[[webhook]]\nurl = "${url}"\nsecret = "${SECRET}"\n${more}\n`

describe("[[webhook]]", () => {
  it("has a URL, a secret, and a filter with one text or several", () => {
    const { webhook } = Either.getOrThrow(read(
      hook("name = \"d/a\"\nprefix = [\"d/\", \"id/\"]\ntypes = \"registered, updated\"\nfrom = \"0\"") +
        hook("from = \"now\"\ntypes = [\"expired\"]", "http://127.0.0.1:9/x")
    ))
    assert.deepStrictEqual(webhook.map(({ filter, from, url }) => ({ url, filter, from })), [
      {
        url: "https://example.com/hook",
        filter: { names: ["d/a"], prefixes: ["d/", "id/"], owners: [], types: ["registered", "updated"] },
        from: "0"
      },
      {
        url: "http://127.0.0.1:9/x",
        filter: { names: [], prefixes: [], owners: [], types: ["expired"] },
        from: undefined
      }
    ])
    assert.strictEqual(webhook[0] === undefined ? "" : Redacted.value(webhook[0].secret), SECRET)
  })

  it.each([
    { text: hook("colour = 1"), says: "\"colour\" is not one of url, secret, name, prefix, owner, types, from" },
    { text: hook("name = 1"), says: "name: expected a text in quotes, or texts in quotes between brackets" },
    { text: hook("types = [\"a\", 1]"), says: "types: expected a text in quotes, or texts" },
    { text: hook("from = 5"), says: "from: expected a text in quotes" },
    { text: "[[webhook]]\nurl = \"https://example.com/\"", says: "secret: is missing" },
    { text: `[[webhook]]\nsecret = "${SECRET}"`, says: "url: is missing" },
    { text: hook("", "ftp://example.com/"), says: "url: begins with \"ftp:\"; only https: and http: are possible" },
    { text: "[webhook]\nurl = \"https://example.com/\"", says: "expected tables, each with its name in two pairs" },
    { text: "webhook = \"https://example.com/\"", says: "expected tables, each with its name in two pairs" }
  ])("is refused with $says", ({ says, text }) => assert.include(refusal(text), says))

  it("shows no secret and no path of a URL, whatever is wrong", () => {
    const short = "whsec_c2hvcnQ="
    const texts = [
      hook("colour = 1", "https://example.com/token-in-path"),
      hook("").replace(SECRET, short),
      hook("", "https://me:hidden@example.com/token-in-path"),
      `webhook = "https://example.com/token-in-path"`,
      `[webhook]\nsecret = "${SECRET}"`
    ]
    for (const text of texts) {
      for (const hidden of [SECRET, short, "token-in-path", "hidden"]) assert.notInclude(refusal(text), hidden)
    }
  })

  it("is not printed by -printconfig, and no flag", () => {
    const file = hook("", "https://example.com/token-in-path")
    const asked = inputOf(["-printconfig"], { files: { [DEFAULT_FILE]: file } })
    const { given } = readArgv(asked.argv, OPTIONS)
    const printed = printConfig(Either.getOrThrow(gather(OPTIONS, given, asked)), asked)
    assert.include(printed, "# webhook is set, and not shown  # /")
    assert.notInclude(printed, "token-in-path")
    assert.notInclude(printed, SECRET)
    assert.isTrue(Either.isLeft(decodeSettings(inputOf(["-webhook=x"]))))
  })
})

describe("readHookUrl", () => {
  it.each([
    { text: "https://EXAMPLE.com", url: "https://example.com/" },
    { text: "http://2130706433/x#part", url: "http://127.0.0.1/x" },
    { text: "http://[::FFFF:127.0.0.1]:81/", url: "http://[::ffff:7f00:1]:81/" }
  ])("writes $text as $url", ({ text, url }) => assert.deepStrictEqual(readHookUrl(text), Either.right(url)))

  it.each(["", "example.com", "http://", "javascript:alert(1)", "file:///etc/passwd", "http://a:b@example.com/"])(
    "refuses %j",
    (text) => assert.isTrue(Either.isLeft(readHookUrl(text)))
  )

  it("refuses a longer one than 2,048 characters", () => {
    const longest = `https://example.com/${"a".repeat(2_028)}`
    assert.isTrue(Either.isRight(readHookUrl(longest)))
    assert.isTrue(Either.isLeft(readHookUrl(`${longest}a`)))
  })
})

describe("readHookSecret", () => {
  const secretOf = (bytes: number): string => `whsec_${Buffer.alloc(bytes, 7).toString("base64")}`

  it.each([{ bytes: 23, ok: false }, { bytes: 24, ok: true }, { bytes: 64, ok: true }, { bytes: 65, ok: false }])(
    "takes a key of $bytes bytes: $ok",
    ({ bytes, ok }) => assert.strictEqual(Either.isRight(readHookSecret(secretOf(bytes))), ok)
  )

  it.each(["", "whsec_", SECRET.slice(6), `${SECRET}!`, SECRET.replace("whsec", "WHSEC")])(
    "refuses %j without repeating it",
    (text) => {
      const result = readHookSecret(text)
      if (Either.isRight(result)) return assert.fail("is accepted")
      if (text.length > 6) assert.notInclude(result.left, text)
    }
  )
})
