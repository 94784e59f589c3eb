import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc, Redacted, Schema } from "effect"
import { dnsForwardKind, dnsNotifyKind, dnsTransferKind, hostKind, tsigKind } from "../../src/config/dnsKinds.ts"
import { servesDns } from "../../src/config/dnsSettings.ts"
import type { OptionKind } from "../../src/config/kinds.ts"
import { problemsOf, settingsOf } from "./input.ts"

const decode = <A>(kind: OptionKind<A>, text: string): A => Schema.decodeSync(kind.schema())(text)

const refuses = <A>(kind: OptionKind<A>, text: string): string => {
  const result = Schema.decodeEither(kind.schema())(text)
  return result._tag === "Left" ? result.left.message : assert.fail(`${text} is accepted`)
}

const SECRET = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

describe("the options of DNS", () => {
  it("listen nowhere by default", () => {
    const { dns } = settingsOf([])
    assert.isFalse(servesDns(dns))
    assert.deepInclude(dns, { dnssec: false, requireProof: "work", ttl: 600, rate: undefined, forward: [] })
  })

  it("come from flags and the file", () => {
    const { dns } = settingsOf([
      "-dns=127.0.0.1:5391",
      "-dns=[::1]:5391",
      "-dnsns=NS1.example.net.",
      "-dnssuffix=example.org",
      "-dnsid=ns1 of two",
      "-dnscert=c.pem",
      "-dnskey=/k.pem",
      "-dnstls=:853",
      "-dnsrate=0"
    ])
    assert.isTrue(servesDns(dns))
    assert.deepInclude(dns, {
      listen: [{ host: "127.0.0.1", port: 5391 }, { host: "::1", port: 5391 }],
      servers: ["ns1.example.net."],
      suffixes: ["example.org."],
      id: "ns1 of two",
      certificate: "/place/c.pem",
      key: "/k.pem",
      tls: [{ host: "", port: 853 }],
      rate: 0
    })
  })

  it.each([
    ["-dns=nowhere", ["-dns", "\"nowhere\""]],
    ["-dns=127.0.0.1", ["-dns", "127.0.0.1"]],
    ["-dnsns=a..b", ["-dnsns", "a..b"]],
    ["-dnsforward=dns.example.org", ["-dnsforward", "dns.example.org"]],
    ["-dnsallow=10.0.0.0/33", ["-dnsallow", "10.0.0.0/33"]],
    ["-dnstransfer=secondary", ["-dnstransfer", "secondary"]],
    ["-dnsttl=604801", ["-dnsttl", "604801"]],
    ["-dnsid=näme", ["-dnsid", "\"näme\"", "1 to 64"]],
    ["-dnsid= ns1", ["-dnsid", "\" ns1\""]],
    [`-dnsid=${"n".repeat(65)}`, ["-dnsid", "1 to 64 printable"]]
  ])("%s is refused with its value", (flag, parts) => {
    const problems = problemsOf([flag]).join("\n")
    for (const part of parts) assert.include(problems, part)
  })

  it.each([
    [["-dnstls=:853"], "-dnstls", "dnscert and dnskey"],
    [["-dnscert=/c", "-dnshttps=:443"], "-dnscert", "without dnskey"],
    [["-dnsforward=192.0.2.1"], "-dnsforward", "set dns"],
    [["-dnssec"], "-dnssec", "set dns"],
    [["-dns=:5391", "-dnstls=127.0.0.1:5391", "-dnscert=/c", "-dnskey=/k"], "-dnstls", "taken by dns :5391"],
    [["-dns=127.0.0.1:8336"], "-dns", "taken by rpcaddr"],
    [["-dns=:5391", "-dnsforward=127.0.0.1:5391"], "-dnsforward", "this node itself"],
    [["-dns=:5391", "-dnstransfer=key:a"], "-dnstransfer", "key a"],
    [["-dns=:5391", `-dnstsig=a:hmac-sha256:${SECRET}`, `-dnstsig=A.:hmac-sha512:${SECRET}`], "-dnstsig", "same name"]
  ])("%j contradict each other", (flags, name, part) => {
    const [problem = "", ...more] = problemsOf(flags)
    assert.deepStrictEqual([problem.startsWith(name), problem.includes(part), more], [true, true, []], problem)
  })

  it("forward for this machine alone unless told otherwise, wherever the node listens", () => {
    const { dns } = settingsOf(["-dns=:5391", "-dnsforward=192.0.2.1"])
    assert.deepStrictEqual([dns.allow, dns.forward.map(({ address }) => address)], [[], [{
      host: "192.0.2.1",
      port: 53
    }]])
  })
})

describe("the resolver to forward to", () => {
  it.each([
    ["192.0.2.1", { address: { host: "192.0.2.1", port: 53 }, tlsName: undefined }],
    ["[2001:db8::1]:54", { address: { host: "2001:db8::1", port: 54 }, tlsName: undefined }],
    ["2001:db8::1", { address: { host: "2001:db8::1", port: 53 }, tlsName: undefined }],
    ["tls://192.0.2.1#Dns.example.org", { address: { host: "192.0.2.1", port: 853 }, tlsName: "dns.example.org" }],
    ["tls://[2001:db8::1]", { address: { host: "2001:db8::1", port: 853 }, tlsName: "2001:db8::1" }],
    ["tls://192.0.2.1:8853", { address: { host: "192.0.2.1", port: 8853 }, tlsName: "192.0.2.1" }]
  ])("%s", (text, target) => {
    assert.deepStrictEqual(decode(dnsForwardKind, text), target)
    const { schema } = dnsForwardKind
    assert.deepStrictEqual(decode(dnsForwardKind, Schema.encodeSync(schema())(target)), target)
  })

  it.each(["", "tls://", "tls://192.0.2.1#", "https://192.0.2.1", "[192.0.2.1]", "192.0.2.1:0"])(
    "%j is refused",
    (text) => assert.include(refuses(dnsForwardKind, text), JSON.stringify(text))
  )
})

describe("texts of options", () => {
  it("hosts get a dot and small letters, and come back", () => {
    const label = fc.stringMatching(/^[a-z0-9]{1,20}$/)
    fc.assert(fc.property(fc.array(label, { minLength: 1, maxLength: 5 }), (labels) => {
      const host = decode(hostKind, labels.join(".").toUpperCase())
      assert.strictEqual(host, `${labels.join(".")}.`)
      assert.strictEqual(decode(hostKind, Schema.encodeSync(hostKind.schema())(host)), host)
    }))
    for (const text of ["", ".", "-a.b", "a b", `${"a".repeat(64)}.b`]) refuses(hostKind, text)
  })

  it("secondaries have port 53 if none is given", () => {
    assert.deepStrictEqual(decode(dnsNotifyKind, "::1"), { address: { host: "::1", port: 53 }, key: undefined })
    assert.deepStrictEqual(decode(dnsNotifyKind, "192.0.2.7:5353#Transfer.example"), {
      address: { host: "192.0.2.7", port: 5353 },
      key: "transfer.example."
    })
    for (const wrong of ["ns2.example.org", "192.0.2.7#", "192.0.2.7#a#b", "#key"]) refuses(dnsNotifyKind, wrong)
  })

  it("who may transfer is a network or a key", () => {
    assert.deepStrictEqual(decode(dnsTransferKind, "192.0.2.0/24"), { address: "192.0.2.0", prefix: 24 })
    assert.deepStrictEqual(decode(dnsTransferKind, "key:Secondary"), { key: "secondary." })
    refuses(dnsTransferKind, "key:")
  })

  it("keys are read, and no message shows them", () => {
    const key = decode(tsigKind, `second.example:HMAC-SHA512:${SECRET}`)
    assert.deepInclude(key, { name: "second.example.", algorithm: "hmac-sha512" })
    assert.strictEqual(Redacted.value(key.secret).length, 32)
    for (const text of ["a", `a:hmac-md5:${SECRET}`, "a:hmac-sha256:AAEC", `a:hmac-sha256:${SECRET}:x`]) {
      assert.notInclude(refuses(tsigKind, text), text.split(":")[2] ?? text.repeat(3))
    }
    assert.notInclude(problemsOf([`-dnstsig=a:hmac-md5:${SECRET}`]).join(""), SECRET)
  })
})
