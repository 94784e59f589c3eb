import { execFileSync, spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { CHILD_WILDCARD, INSECURE_CHILD, SECURE_CHILD } from "./generatedNames.ts"
import { nsdConf } from "./nsdConf.ts"
import { programOf } from "./resolvers.ts"

// NSD as the server of two delegated names, one signed by ldns. It needs port 53, as resolvers ask no other.

/** Of this process alone, as port 53 is given: another run beside it has other keys. */
const ADDRESS = `127.${1 + (process.pid >> 16 & 63)}.${process.pid >> 8 & 255}.${process.pid & 255}`

const RECORDS = `$TTL 300
@ IN SOA ns hostmaster 1 600 600 7200 60
@ IN NS ns
@ IN A 192.0.2.201
ns IN A ${ADDRESS}
www IN A 192.0.2.202
mail IN A 192.0.2.203
real IN TXT "of the child"
*.${CHILD_WILDCARD} IN TXT "wild"
leaf.deep IN AAAA 2001:db8::9
c IN CNAME www
x IN MX 10 mail
`

export interface RunningChild {
  readonly address: string
  readonly ds: readonly [number, number, number, string]
  readonly stop: () => void
}

/** `undefined` where a tool is missing. */
export const startChild = (directory: string): RunningChild | undefined => {
  const [nsd, keygen, signzone, toDs] = ["nsd", "ldns-keygen", "ldns-signzone", "ldns-key2ds"].map(programOf)
  if (nsd === undefined || keygen === undefined || signzone === undefined || toDs === undefined) return undefined
  mkdirSync(directory, { recursive: true })
  const within = { cwd: directory, encoding: "utf8" } as const
  const zones = [SECURE_CHILD, INSECURE_CHILD].map((label) => {
    const zone = `${label}.bit`
    writeFileSync(join(directory, zone), `$ORIGIN ${zone}.\n${RECORDS}`)
    return zone
  })
  const [secure = ""] = zones
  const key = execFileSync(keygen, ["-a", "ECDSAP256SHA256", "-k", secure], within).trim()
  execFileSync(signzone, ["-f", `${secure}.signed`, secure, key], within)
  const [, fields = ""] =
    / DS (.*)/.exec(execFileSync(toDs, ["-n", "-2", `${key}.key`], within).replaceAll("\t", " ")) ?? []
  const [tag, algorithm, kind, ...digest] = fields.trim().split(/\s+/)
  const files = Object.fromEntries(zones.map((zone) => [zone, zone === secure ? `${zone}.signed` : zone]))
  writeFileSync(join(directory, "nsd.conf"), nsdConf({ directory, address: ADDRESS, zones: files }))
  const child = spawn(nsd, ["-d", "-c", join(directory, "nsd.conf")], { stdio: "ignore" })
  const base64 = Buffer.from(digest.join(""), "hex").toString("base64")
  return {
    address: ADDRESS,
    ds: [Number(tag), Number(algorithm), Number(kind), base64],
    stop: () => void child.kill()
  }
}
