import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck } from "effect"
import { type MailValue, MAX_BACKUPS, MAX_MAIL_VALUE, readValue, writeValue } from "../../src/mail/forwarding.ts"
import { lint } from "../../src/values/lint.ts"

const PLAIN: MailValue = { email: "alice@example.org", backup: [], pubkey: "" }

const written = (value: Partial<MailValue>) => writeValue({ ...PLAIN, ...value })

const text = (value: Partial<MailValue>): string =>
  Either.getOrThrowWith(written(value), (problems) => new Error(JSON.stringify(problems)))

const problems = (value: Partial<MailValue>) =>
  Either.match(written(value), { onLeft: (found) => found, onRight: () => [] })

describe("writeValue", () => {
  it("writes the three fields of the specification, in their order", () => {
    assert.strictEqual(text({}), "{\"email\":\"alice@example.org\",\"backup\":[],\"pubkey\":\"\"}")
    assert.strictEqual(
      text({ backup: ["b@example.net", "c@example.net"], pubkey: "AAEC" }),
      "{\"email\":\"alice@example.org\",\"backup\":[\"b@example.net\",\"c@example.net\"],\"pubkey\":\"AAEC\"}"
    )
  })

  it("writes ASCII, so that every node shows the value unchanged", () => {
    assert.strictEqual(
      text({ email: "zoë@bücher.example" }),
      "{\"email\":\"zo\\u00eb@xn--bcher-kva.example\",\"backup\":[],\"pubkey\":\"\"}"
    )
    assert.match(text({ email: "\u{1f600}@example.org" }), /^[ -~]+$/)
  })

  it("keeps the addresses for other purposes", () => {
    const present = { email: { default: "old@example.org", work: "w@example.org" }, info: "x" }
    const value = Either.getOrThrow(writeValue(PLAIN, present))
    assert.deepStrictEqual(JSON.parse(value), {
      email: { default: "alice@example.org", work: "w@example.org" },
      info: "x",
      backup: [],
      pubkey: ""
    })
    assert.strictEqual(readValue(value)?.email, PLAIN.email)
  })

  it("reports what is wrong with every field", () => {
    const found = problems({ email: "nowhere", backup: ["ok@example.org", "@@"], pubkey: "not base64" })
    assert.deepStrictEqual(found.map(({ field }) => field), ["email", "backup", "pubkey"])
    assert.match(found[0]?.reason ?? "", /^"nowhere" is not an e-mail address/)
    assert.match(found[1]?.reason ?? "", /^"@@" is not/)
    assert.match(found[2]?.reason ?? "", /is not base64/)
  })

  it("accepts the highest number of backup addresses and no more", () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => `b${i}@example.org`)
    assert.deepStrictEqual(problems({ backup: many(MAX_BACKUPS) }), [])
    assert.deepStrictEqual(problems({ backup: many(MAX_BACKUPS + 1) }).map(({ field }) => field), ["backup"])
  })

  it("limits the value to what a name can hold", () => {
    const room = MAX_MAIL_VALUE - text({}).length
    const key = "A".repeat(room - room % 4)
    assert.deepStrictEqual(problems({ pubkey: key }), [])
    const [problem] = problems({ pubkey: `${key}AAAA` })
    assert.strictEqual(problem?.field, "value")
    assert.match(
      problem?.reason ?? "",
      new RegExp(`takes ${text({}).length + key.length + 4} bytes.* ${MAX_MAIL_VALUE}`)
    )
  })
})

describe("readValue", () => {
  it("reads what writeValue wrote", () => {
    const part = FastCheck.stringMatching(/^[a-z0-9#$&'*+/=?^_{}~é][a-z0-9#$&'*+/=?^_{}~é-]{0,11}$/)
    const email = FastCheck.tuple(part, FastCheck.stringMatching(/^[a-z0-9]{1,9}$/)).map(([local, domain]) =>
      `${local.normalize("NFC")}@${domain}.example`
    )
    const value = FastCheck.record({
      email,
      backup: FastCheck.uniqueArray(email, { maxLength: 4 }),
      pubkey: FastCheck.uint8Array({ maxLength: 33 }).map((bytes) => Buffer.from(bytes).toString("base64"))
    }).filter(({ backup, email }) => !backup.includes(email))
    FastCheck.assert(FastCheck.property(value, (given) => {
      const json = text(given)
      assert.deepStrictEqual(readValue(json), given)
      assert.deepStrictEqual(JSON.parse(json), given)
    }))
  })

  it.each([
    ["{\"email\":\"a@b.example\"}", "a@b.example", []],
    // An identity has more fields.
    ["{\"name\":\"A\",\"email\":\"a@b.example\",\"bitcoin\":{\"address\":\"x\"}}", "a@b.example", []],
    ["{\"email\":\"a@b.example\",\"backup\":null,\"pubkey\":null}", "a@b.example", []],
    ["{\"email\":\"a@b.example\",\"backup\":[\"c@d.example\",\"c@d.example\",\"a@B.example\"]}", "a@b.example", [
      "c@d.example"
    ]],
    ["{\"email\":\"a@b.example\",\"backup\":[\"nowhere\",\"c@d.example\"]}", "a@b.example", ["c@d.example"]],
    [" {\"email\":\"zo\\u00eb@B.example\"}\n", "zoë@b.example", []]
  ])("%s", (value, email, backup) => {
    const found = readValue(value)
    assert.deepStrictEqual([found?.email, found?.backup], [email, backup])
  })

  it.each([
    "",
    "this is not JSON",
    "null",
    "[]",
    "\"a@b.example\"",
    "{}",
    "{\"name\":\"no mail here\"}",
    "{\"email\":null}",
    "{\"email\":\"\"}",
    "{\"email\":\"nowhere\"}",
    "{\"email\":\"a@b.example\\r\\nBcc: c@d.example\"}",
    "{\"email\":\"a@b.example\",\"backup\":\"c@d.example\"}",
    "{\"email\":\"a@b.example\",\"backup\":[1]}",
    "{\"email\":\"a@b.example\",\"pubkey\":7}",
    "{\"email\":\"a@b.example\"",
    `{"email":"a@b.example","x":"${"x".repeat(1100)}"}`
  ])("nothing in %s", (value) => {
    assert.strictEqual(readValue(value), undefined)
  })

  it.each([
    { email: ["a@one.example", "b@two.example"], found: ["a@one.example", "b@two.example", "c@three.example"] },
    { email: ["nowhere", "b@two.example"], found: ["b@two.example", "c@three.example"] },
    { email: { default: "a@one.example", work: "w@four.example" }, found: ["a@one.example", "c@three.example"] },
    {
      email: { default: ["a@one.example", "b@two.example"] },
      found: ["a@one.example", "b@two.example", "c@three.example"]
    },
    { email: { work: "w@four.example" }, found: undefined },
    { email: [], found: undefined },
    { email: [1], found: undefined },
    { email: {}, found: undefined }
  ])("reads $email, and sees what lint says about it", ({ email, found }) => {
    const value = JSON.stringify({ email, backup: ["c@three.example"] })
    const read = readValue(value)
    assert.deepStrictEqual(read === undefined ? undefined : [read.email, ...read.backup], found)
    const seen = lint(Buffer.from("id/alice"), Buffer.from(value)).programs.flatMap(({ program, sees }) =>
      program === "svcd-mail" ? sees : []
    )
    assert.deepStrictEqual(seen, [
      found === undefined
        ? "refuses mail for alice: email is not an address"
        : `forwards mail for alice to ${found[0]}, else to ${found.slice(1).join(", ")}`
    ])
  })

  it("takes the first backup addresses if there are too many", () => {
    const backup = Array.from({ length: MAX_BACKUPS + 3 }, (_, i) => `b${i}@example.org`)
    assert.deepStrictEqual(
      readValue(JSON.stringify({ email: "a@b.example", backup }))?.backup,
      backup.slice(0, MAX_BACKUPS)
    )
  })

  it("never throws", () => {
    const field = FastCheck.oneof(
      FastCheck.constantFrom("@", "a@b.example", "\ud800", "\0"),
      FastCheck.jsonValue({ maxDepth: 1 })
    )
    const value = FastCheck.record({
      email: field,
      backup: FastCheck.oneof(field, FastCheck.array(field)),
      pubkey: field
    })
    FastCheck.assert(FastCheck.property(value, FastCheck.nat({ max: 99 }), (given, missing) => {
      const text = JSON.stringify(given)
      readValue(text)
      readValue(text.slice(missing))
      readValue(text.slice(0, text.length - missing))
    }))
  })
})
