import { type ChildProcess, fork, spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { DnsAsker } from "../dns/dnsClient.ts"
import type { RandomQuestion } from "../dns/generatedNames.ts"
import { nsdConf } from "../dns/nsdConf.ts"
import { freeDnsPort, programOf } from "../dns/resolvers.ts"
import { BOUNDS } from "./chain.ts"
import { cpuSecondsOf, readProc } from "./cpuTime.ts"
import { nextMessage } from "./nodeProcess.ts"

/** Seconds for NSD to read its zone. */
const PATIENCE = 60

/** A server to ask. */
export interface RunningServer {
  readonly port: number
  /** Seconds of processor time so far, of all its processes. */
  readonly cpuSeconds: () => number
  readonly stop: () => Promise<void>
}

const ended = (child: ChildProcess): Promise<unknown> => new Promise((resolve) => child.once("exit", resolve))

/** `execArgv`: options for Node.js. */
const startOwn = async (
  script: string,
  { args, execArgv }: { readonly args: ReadonlyArray<string>; readonly execArgv: ReadonlyArray<string> }
): Promise<RunningServer> => {
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), args, { execArgv: [...execArgv] })
  const port = await nextMessage<number>(child, script)
  return {
    port,
    cpuSeconds: () => cpuSecondsOf(child.pid),
    stop: async () => {
      const end = ended(child)
      child.disconnect()
      await end
    }
  }
}

/** svcd's DNS server over a names.db, with the heap of a node. */
export const startSvcd = (names: string): Promise<RunningServer> =>
  startOwn("./dnsServer.js", { args: [names], execArgv: BOUNDS })

/** The same answer to each question: what node:dgram costs; with a names.db, one SELECT for each besides. */
export const startFloor = (names?: string): Promise<RunningServer> =>
  startOwn("./dnsFloor.js", { args: names === undefined ? [] : [names], execArgv: [] })

/** The process and those below it. */
const treeOf = (pid: number): ReadonlyArray<number> => {
  const children = readProc(`${pid}/task/${pid}/children`).trim()
  return [pid, ...children === "" ? [] : children.split(" ").flatMap((child) => treeOf(Number(child)))]
}

export interface NsdOptions {
  readonly directory: string
  /** Lines of the zone file below the SOA record. */
  readonly records: Iterable<string>
  /** A question that the zone answers. */
  readonly known: RandomQuestion
}

const zoneOf = (records: Iterable<string>): string =>
  [
    "$ORIGIN bit.",
    "$TTL 600",
    "@ IN SOA this.x--nmc hostmaster.x--nmc 1 600 600 7200 60",
    "@ IN NS this.x--nmc",
    ...records,
    ""
  ]
    .join("\n")

/** NSD with one process that answers; `undefined` where it is not installed. */
export const startNsd = async ({ directory, known, records }: NsdOptions): Promise<RunningServer | undefined> => {
  const program = programOf("nsd")
  if (program === undefined) return undefined
  mkdirSync(directory, { recursive: true })
  const port = await freeDnsPort()
  writeFileSync(join(directory, "bit.zone"), zoneOf(records))
  const conf = nsdConf({ directory, address: `127.0.0.1@${port}`, zones: { bit: "bit.zone" } })
  writeFileSync(join(directory, "nsd.conf"), conf)
  const child = spawn(program, ["-d", "-c", join(directory, "nsd.conf")], { stdio: "ignore" })
  const { pid } = child
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null) return
    const end = ended(child)
    child.kill()
    await end
  }
  const asker = new DnsAsker(port)
  const until = performance.now() + 1_000 * PATIENCE
  let answers = false
  while (!answers && child.exitCode === null && performance.now() < until) {
    answers = (await asker.ask(known))?.rcode === 0
  }
  asker.close()
  if (!answers || pid === undefined) {
    await stop()
    throw new Error("NSD does not answer: `nsd -d -c nsd.conf` in its directory says why")
  }
  return {
    port,
    cpuSeconds: () => treeOf(pid).reduce((sum, each) => sum + cpuSecondsOf(each), 0),
    stop
  }
}
