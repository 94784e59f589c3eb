import { type ChildProcess, spawn } from "node:child_process"
import { createSocket } from "node:dgram"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { delimiter, dirname, join } from "node:path"
import process from "node:process"
import { dnskeyOf, dsOf, type ZoneKey } from "../../src/dns/sign/zoneKey.ts"
import { wireNameOfHost } from "../../src/dns/wire/name.ts"
import { toHex } from "../../src/protocol/bytes.ts"
import { recipe } from "./recipes.ts"

// Resolvers of this machine in front of a zone, each with the recipe of docs/dns.md.

/** Where a program is; `undefined` if it is not installed. */
export const programOf = (name: string): string | undefined =>
  [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"]
    .map((folder) => join(folder, name)).find((file) => existsSync(file))

export interface FrontOptions {
  /** An empty directory for its files. */
  readonly directory: string
  /** Its own port, and that of the zone. */
  readonly port: number
  readonly zonePort: number
  /** The trust anchor in the forms of the page: a DS record and a DNSKEY record. */
  readonly anchor: Anchor
}

export interface Anchor {
  readonly ds: string
  readonly dnskey: string
  /** The key alone, in base64. */
  readonly key: string
}

export interface Front {
  readonly program: string
  /** What else it needs. */
  readonly canRun?: () => boolean
  readonly validates: boolean
  readonly argumentsFor: (options: FrontOptions) => ReadonlyArray<string>
}

const withPorts = (text: string, { directory, zonePort }: FrontOptions): string =>
  text.replaceAll("5391", String(zonePort)).replaceAll(/\/var\/lib\/[a-z-]+\//g, `${directory}/`)

const unbound: Front = {
  program: "unbound",
  validates: true,
  argumentsFor: (options) => {
    const { anchor, directory, port } = options
    writeFileSync(join(directory, "bit.ds"), `${anchor.ds}\n`)
    const own = [
      "server:",
      `interface: 127.0.0.1@${port}`,
      "do-ip6: no",
      "chroot: \"\"",
      "username: \"\"",
      `directory: "${directory}"`,
      `pidfile: "${directory}/pid"`,
      "use-syslog: no",
      "val-log-level: 2",
      "module-config: \"validator iterator\"",
      "aggressive-nsec: yes",
      "ede: yes",
      "remote-control:",
      "control-enable: no"
    ]
    writeFileSync(join(directory, "unbound.conf"), `${own.join("\n")}\n${withPorts(recipe("Unbound"), options)}`)
    return ["-d", "-c", join(directory, "unbound.conf")]
  }
}

const knot: Front = {
  program: "kresd",
  validates: true,
  argumentsFor: (options) => {
    const { anchor, directory, port } = options
    writeFileSync(join(directory, "bit.key"), `${anchor.dnskey}\n`)
    const own = [
      `net.listen('127.0.0.1', ${port}, { kind = 'dns' })`,
      "cache.size = 20 * MB",
      "trust_anchors.remove('.')"
    ]
    writeFileSync(join(directory, "kresd.conf"), `${own.join("\n")}\n${withPorts(recipe("Knot Resolver"), options)}`)
    return ["-n", "-c", join(directory, "kresd.conf"), directory]
  }
}

const bind: Front = {
  program: "named",
  validates: true,
  argumentsFor: (options) => {
    const { anchor, directory, port } = options
    const own = [
      "options {",
      `directory "${directory}"; pid-file "${directory}/pid"; session-keyfile "${directory}/session.key";`,
      `listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; recursion yes; dnssec-validation yes;`,
      "};",
      "controls { };"
    ]
    const text = withPorts(recipe("BIND"), options).replace("KEY", anchor.key)
    writeFileSync(join(directory, "named.conf"), `${own.join("\n")}\n${text}`)
    return ["-g", "-c", join(directory, "named.conf")]
  }
}

const dnsmasq: Front = {
  program: "dnsmasq",
  validates: false,
  argumentsFor: (options) => {
    const { directory, port } = options
    const own = [
      `port=${port}`,
      "listen-address=127.0.0.1",
      "bind-interfaces",
      "no-resolv",
      "no-hosts",
      "user=root",
      `pid-file=${directory}/pid`
    ]
    writeFileSync(join(directory, "dnsmasq.conf"), `${own.join("\n")}\n${withPorts(recipe("dnsmasq"), options)}`)
    return ["-k", "-C", join(directory, "dnsmasq.conf")]
  }
}

const RESOLVED = "/usr/lib/systemd/systemd-resolved"

/** Reads its files at their paths alone: it sees an /etc of its own, in which they lie over those of the machine. */
const resolved: Front = {
  program: "unshare",
  canRun: () => existsSync(RESOLVED) && process.getuid?.() === 0,
  validates: true,
  argumentsFor: (options) => {
    const { anchor, directory, port } = options
    const own = [
      "[Resolve]",
      "DNSStubListener=no",
      `DNSStubListenerExtra=127.0.0.1:${port}`,
      "LLMNR=no",
      "MulticastDNS=no"
    ]
    const files = {
      "etc/systemd/resolved.conf.d/own.conf": `${own.join("\n")}\n`,
      "etc/systemd/resolved.conf.d/bit.conf": withPorts(recipe("systemd-resolved"), options),
      "etc/dnssec-trust-anchors.d/bit.positive": `${anchor.ds}\n`
    }
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, file)), { recursive: true })
      writeFileSync(join(directory, file), text)
    }
    mkdirSync(join(directory, "work"))
    const script = [
      "set -e",
      "mount -t overlay overlay -o lowerdir=/etc,upperdir=$0/etc,workdir=$0/work /etc",
      "mkdir -p /run/systemd",
      "mount -t tmpfs none /run/systemd",
      "install -d -o systemd-resolve -g systemd-resolve /run/systemd/resolve",
      `exec env SYSTEMD_LOG_TARGET=console ${RESOLVED}`
    ]
    return ["--mount", "sh", "-c", script.join("\n"), directory]
  }
}

export const FRONTS = { unbound, knot, bind, dnsmasq, resolved } as const

export type FrontName = keyof typeof FRONTS

export const isInstalled = (name: FrontName): boolean => {
  const { canRun, program }: Front = FRONTS[name]
  return programOf(program) !== undefined && canRun?.() !== false
}

export interface RunningFront {
  readonly process: ChildProcess
  /** What it has written, at most the last 64 kB. */
  readonly output: () => string
}

const KEPT_OUTPUT = 65_536

export const startFront = (name: FrontName, options: FrontOptions): RunningFront => {
  mkdirSync(options.directory, { recursive: true })
  const front = FRONTS[name]
  const child = spawn(programOf(front.program) ?? front.program, front.argumentsFor(options), {
    cwd: options.directory,
    stdio: ["ignore", "pipe", "pipe"]
  })
  let output = ""
  const take = (chunk: Buffer): void => {
    output = (output + chunk.toString("utf8")).slice(-KEPT_OUTPUT)
  }
  child.stdout.on("data", take)
  child.stderr.on("data", take)
  return { process: child, output: () => output }
}

/** The anchor of a key of the zone. */
export const anchorOf = (key: ZoneKey): Anchor => {
  const record = dnskeyOf(key)
  const { algorithm, digest, digestType, keyTag } = dsOf(wireNameOfHost("bit."), record)
  const base64 = Buffer.from(record.key).toString("base64")
  return {
    ds: `bit. IN DS ${keyTag} ${algorithm} ${digestType} ${toHex(digest)}`,
    dnskey: `bit. IN DNSKEY ${record.flags} 3 ${record.algorithm} ${base64}`,
    key: base64
  }
}

/** Listens for TCP at a port for a moment, to see whether it is free. */
const isFreeForTcp = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once("error", () => resolve(false))
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)))
  })

const freeUdpPort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const socket = createSocket("udp4")
    socket.once("error", reject)
    socket.bind(0, "127.0.0.1", () => {
      const { port } = socket.address()
      socket.close(() => resolve(port))
    })
  })

/** A free port of UDP and TCP on loopback: the system chooses one of UDP, which a connection may have. */
export const freeDnsPort = async (): Promise<number> => {
  let port = await freeUdpPort()
  while (!await isFreeForTcp(port)) port = await freeUdpPort()
  return port
}
