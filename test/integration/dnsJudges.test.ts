import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { generatedNames } from "../../scripts/dns/generatedNames.ts"
import { memoryResponder, newSigner } from "../../scripts/dns/memoryNode.ts"
import { seeded } from "../../scripts/dns/random.ts"
import { anchorOf, freeDnsPort, programOf } from "../../scripts/dns/resolvers.ts"
import type { RecordSet } from "../../src/dns/records.ts"
import { dnsRecordText } from "../../src/dns/recordText.ts"
import { wordOfType } from "../../src/dns/recordTypes.ts"
import { makeServer } from "../../src/dns/serve/DnsServer.ts"
import { domainOf, setsOfTree } from "../../src/dns/transfer/zoneState.ts"
import { compareWireNames, isAtOrBelow, type WireName, wireNameOfHost, wireNameText } from "../../src/dns/wire/name.ts"
import { apexSets, makeApex } from "../../src/dns/zone/apex.ts"
import type { Bytes } from "../../src/protocol/bytes.ts"
import { TYPE_NUMBERS } from "../../src/values/records.ts"
import { domainZone, zoneFrom } from "../../src/values/zone.ts"
import { certificateFiles } from "../dns/serve/liveServer.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { runCommand } from "../support/daemon.ts"

/** Programs that judge zones and answers of DNS, each where it is installed. */

const { DS, NS, NSEC } = TYPE_NUMBERS

const BIT = wireNameOfHost("bit.")

const EXAMPLE = {
  ip: "192.0.2.7",
  map: { www: { alias: "" }, deep: { map: { ent: "192.0.2.8" } }, "*": { txt: "wild" } }
}

const NAMES: Readonly<Record<string, string>> = {
  "d/example": JSON.stringify(EXAMPLE),
  "d/old": JSON.stringify({ translate: "example.bit." }),
  "d/cut": JSON.stringify({ ns: ["ns1.@"], map: { ns1: "192.0.2.53" } })
}

/** A signed zone at free ports of loopback. */
const server = Effect.gen(function*() {
  const { key, signer } = newSigner()
  const free = Effect.map(Effect.promise(freeDnsPort), (port) => [{ host: "127.0.0.1", port }])
  const listen = { listen: yield* free, tls: yield* free, https: yield* free, http: [], rate: 0 }
  const node = memoryResponder({ valueOf: (name) => NAMES[name], signer })
  const { addresses } = yield* Effect.provide(makeServer({ ...listen, ...yield* certificateFiles }), node)
  const portOf = (list: ReadonlyArray<{ readonly port: number }>): string => String(list[0]?.port ?? 0)
  const { dns, https, tls } = addresses
  return { anchor: anchorOf(key), dns: portOf(dns), tls: portOf(tls), https: portOf(https) }
})

const written = (name: string, content: string) =>
  Effect.map(temporaryDirectory, (directory) => {
    const file = join(directory, name)
    writeFileSync(file, content)
    return file
  })

const GENERATED = generatedNames(seeded(1), 500, {
  address: "192.0.2.53",
  ds: [12_345, 13, 2, Buffer.alloc(32, 5).toString("base64")]
})

const valueOf = (name: string): Bytes | undefined => {
  const value = GENERATED.get(name)
  return value === undefined ? undefined : Buffer.from(value, "latin1")
}

const setsOf = (name: string, value: string): ReadonlyArray<RecordSet> => {
  const domain = domainOf(Buffer.from(name, "latin1"), Buffer.from(value, "latin1"))
  if (domain === undefined) return []
  const { top } = zoneFrom(domainZone(domain), (imported) => valueOf(Buffer.from(imported).toString("latin1")))
  return setsOfTree(wireNameOfHost(domain.host), top, 600)
}

/** The NSEC record of each name, as a zone that is signed as a whole has it: svcd makes others, for each question. */
const chainOf = (types: ReadonlyMap<WireName, ReadonlyArray<number>>): ReadonlyArray<RecordSet> => {
  const owners = [...types.keys()].toSorted(compareWireNames)
  return owners.map((owner, i) => ({
    owner,
    type: NSEC,
    ttl: 60,
    records: [{
      type: "NSEC",
      next: owners[i + 1] ?? BIT,
      types: [...types.get(owner) ?? [], TYPE_NUMBERS.RRSIG, NSEC].toSorted((a, b) => a - b)
    }],
    signs: true
  }))
}

/** A zone file of the generated names, each set signed by svcd's signer. */
const signedZone = (): string => {
  const { signer } = newSigner()
  const apex = makeApex({ origin: BIT, servers: [wireNameOfHost("ns1.example.org.")], ttl: 600 })(1, signer.keys())
  const sets = [...apexSets(apex), ...[...GENERATED].flatMap(([name, value]) => setsOf(name, value))]
  const cuts = sets.filter(({ owner, type }) => type === NS && owner !== BIT).map(({ owner }) => owner)
  const isGlue = ({ owner, type }: RecordSet): boolean =>
    cuts.some((cut) => isAtOrBelow(owner, cut) && (owner !== cut || ![NS, DS, NSEC].some((each) => each === type)))
  const isSigned = (set: RecordSet): boolean => !isGlue(set) && (set.type !== NS || set.owner === BIT)
  const types = new Map<WireName, ReadonlyArray<number>>()
  for (const set of sets) if (!isGlue(set)) types.set(set.owner, [...types.get(set.owner) ?? [], set.type])
  const all = [...sets, ...chainOf(types)]
  return [...all, ...all.filter(isSigned).map(signer.signatures)].flatMap(({ owner, records, ttl, type }) =>
    records.map((record) => `${wireNameText(owner)} ${ttl} IN ${wordOfType(type)} ${dnsRecordText(record)}\n`)
  ).join("")
}

describe.skipIf(programOf("ldns-verify-zone") === undefined)("ldns-verify-zone", () => {
  it.scopedLive("verifies a zone with svcd's records, texts, order of names and signatures", () =>
    Effect.gen(function*() {
      const zone = yield* written("bit.zone", signedZone())
      const { code, stderr, stdout } = yield* runCommand(programOf("ldns-verify-zone") ?? "", zone)
      assert.strictEqual(code, 0, (stdout + stderr).slice(-2_000))
      assert.include(stdout, "Zone is verified and complete")
    }))
})

const JUDGED = [
  ["example.bit", "A", "; fully validated"],
  ["www.example.bit", "A", "; fully validated"],
  ["any.example.bit", "TXT", "; fully validated"],
  ["any.example.bit", "A", "; negative response, fully validated"],
  ["deep.example.bit", "A", "; negative response, fully validated"],
  ["x.deep.example.bit", "A", "; negative response, fully validated"],
  ["www.old.bit", "A", "; fully validated"],
  ["cut.bit", "DS", "; negative response, fully validated"],
  ["missing.bit", "A", "; negative response, fully validated"],
  ["bit", "DNSKEY", "; fully validated"]
] as const

describe.skipIf(programOf("delv") === undefined)("delv", () => {
  it.scopedLive("validates each kind of answer", () =>
    Effect.gen(function*() {
      const { anchor, dns } = yield* server
      const anchors = yield* written("anchors", `trust-anchors { bit. static-key 257 3 13 "${anchor.key}"; };\n`)
      for (const [name, type, verdict] of JUDGED) {
        const args = ["@127.0.0.1", "-p", dns, "-a", anchors, "+root=bit.", name, type]
        const { stderr, stdout } = yield* runCommand("delv", ...args)
        assert.include(stdout.split("\n"), verdict, `${name} ${type}: ${stdout}${stderr}`)
      }
    }))
})

describe.skipIf(programOf("kdig") === undefined)("kdig", () => {
  it.scopedLive("has the same signed answer over UDP, TCP, TLS and HTTPS", () =>
    Effect.gen(function*() {
      const { dns, https, tls } = yield* server
      const ways = [[dns], [dns, "+tcp"], [tls, "+tls"], [https, "+https"], [https, "+https-get"]] as const
      const answers = yield* Effect.forEach(ways, ([port, ...way]) =>
        Effect.map(
          runCommand("kdig", "@127.0.0.1", "-p", port, "+dnssec", "+noall", "+answer", ...way, "www.example.bit", "A"),
          ({ stderr, stdout }) => {
            assert.include(stdout, "192.0.2.7", `${way.join()}: ${stdout}${stderr}`)
            return stdout.split("\n").filter((line) => !line.startsWith(";") && line !== "").toSorted()
          }
        ))
      assert.lengthOf(answers[0] ?? [], 4)
      for (const answer of answers) assert.deepStrictEqual(answer, answers[0])
    }))
})

describe.skipIf(programOf("dig") === undefined)("dig", () => {
  it.scopedLive("gets a cookie, and a short answer that sends it to TCP", () =>
    Effect.gen(function*() {
      const { dns } = yield* server
      const args = ["@127.0.0.1", "-p", dns, "+norec", "+cookie", "+bufsize=512", "+dnssec", "missing.bit", "A"]
      const { stdout } = yield* runCommand("dig", ...args)
      assert.match(stdout, /; COOKIE: [0-9a-f]{48} \(good\)/)
      assert.include(stdout, "status: NXDOMAIN")
      const cut = yield* runCommand("dig", ...args, "+ignore", "+bufsize=200")
      assert.match(cut.stdout, /flags: qr aa tc;.* ANSWER: 0, AUTHORITY: 0/, cut.stdout)
    }))
})

const DNSVIZ = programOf("dnsviz")

/** Prints what DNSViz finds. Version 0.9 asks PyGraphviz for its version, in a way that Debian's does not know. */
const GROK = `
import sys, types, pygraphviz
pygraphviz.release = types.SimpleNamespace(version="1.7")
from dnsviz.commands.grok import main
main(sys.argv)
`

/** All values of a key, however deep. */
const valuesOf = (json: unknown, wanted: string): ReadonlyArray<unknown> =>
  typeof json !== "object" || json === null ? [] : Object.entries(json).flatMap(([key, value]) => [
    ...key === wanted ? [value] : [],
    ...valuesOf(value, wanted)
  ])

/** The Python of DNSViz, which has its modules. */
const pythonOf = (program: string): string => readFileSync(program, "utf8").split("\n")[0]?.slice(2).trim() ?? ""

describe.skipIf(DNSVIZ === undefined)("DNSViz", () => {
  it.scopedLive("finds every answer secure, without an error or a warning", () =>
    Effect.gen(function*() {
      const { anchor, dns } = yield* server
      const trusted = yield* written("bit.key", `${anchor.dnskey}\n`)
      const probe = yield* written("probe.json", "")
      // svcd in the place of the root, too, as DNSViz looks for the addresses of name servers there.
      const servers = [".", "bit+"].flatMap((zone) => ["-x", `${zone}:ns.example=127.0.0.1:${dns}`])
      const names = ["bit.", "any.example.bit.", "deep.example.bit.", "missing.bit."]
      const asked = yield* runCommand(
        DNSVIZ ?? "",
        "probe",
        "-4",
        "-A",
        "-a",
        "bit.",
        ...servers,
        "-o",
        probe,
        ...names
      )
      assert.strictEqual(asked.code, 0, asked.stderr)
      const args = ["-c", GROK, "-t", trusted, "-l", "warning", "-r", probe]
      const { code, stderr, stdout } = yield* runCommand(pythonOf(DNSVIZ ?? ""), ...args)
      assert.strictEqual(code, 0, stderr)
      assert.strictEqual(stdout.trim(), "", "errors and warnings")
      const full = yield* runCommand(pythonOf(DNSVIZ ?? ""), ...args, "-l", "info")
      const statuses = new Set(valuesOf(JSON.parse(full.stdout), "status"))
      assert.deepStrictEqual([...statuses].toSorted(), ["NOERROR", "NXDOMAIN", "SECURE", "VALID"])
    }))
})
