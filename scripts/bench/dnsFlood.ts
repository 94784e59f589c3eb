import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freeDnsPort } from "../dns/resolvers.ts"
import { type Load as CallerLoad, load as callerLoad } from "./callerLoad.ts"
import { cpuSecondsOf } from "./cpuTime.ts"
import { hasDnsperf, load } from "./dnsperf.ts"
import { NodeProcess, pause } from "./nodeProcess.ts"
import { someName } from "./rpc.ts"

/** Questions a second, all for one name, from as many networks of this machine. */
const FLOOD = 100_000
const NETWORKS = 20

/** Seconds of the RPC load, without the flood and with it. */
const SECONDS = 8

/** Seconds of the flood before the load begins, and after it. */
const MARGIN = 1

/** Questions under way of one network, and seconds until one counts as lost: most get no answer. */
const WAITING = ["-c", "1", "-q", "20000", "-t", "1"]

interface Flood {
  readonly port: number
  readonly file: string
}

/** Each network is a /24 of its own, as the rate limit counts them. */
const flood = async ({ file, port }: Flood) => {
  const sources = Array.from({ length: NETWORKS }, (_, i) => `127.77.${i}.1`)
  const each = { port, file, seconds: SECONDS + 2 * MARGIN, rate: FLOOD / NETWORKS }
  const sent = await Promise.all(sources.map((source) => load({ ...each, line: ["-a", source, ...WAITING] })))
  const asked = sent.reduce((sum, figures) => sum + figures.asked, 0)
  const lost = sent.reduce((sum, figures) => sum + figures.lost, 0)
  return { perSecond: Math.round(asked / each.seconds), answeredShare: Math.round(1000 * (1 - lost / asked)) / 1000 }
}

const times = ({ max, p50, p99, perSecond }: CallerLoad) => ({ perSecond, p50, p99, max })

/**
 * `name_show` over HTTP while a flood of DNS questions arrives at the same node: the rate limit answers few of them, and
 * callers of RPC keep their time. `file` has the blocks of the load chain, `last` is the height of its last one.
 */
export const benchDnsFlood = async (
  { file, last }: { readonly file: string; readonly last: number }
): Promise<object> => {
  if (!hasDnsperf()) return { skipped: "dnsperf is not installed" }
  const directory = mkdtempSync(join(tmpdir(), "svcd-bench-flood-"))
  const port = await freeDnsPort()
  // Without -dnsrate, nothing limits this machine.
  const dns = ["-dns", `127.0.0.1:${port}`, "-dnssec", "-dnsrate", "20"]
  const node = await NodeProcess.start({ args: ["-maxpeers", "0", "-allowexpired", "-loadblock", file, ...dns] })
  try {
    await node.until("getblockcount", (count) => count === last)
    const name = await someName(node.rpcPort)
    const questions = join(directory, "questions")
    writeFileSync(questions, `${name.slice(2)}.bit A\n`)
    const body = JSON.stringify({ id: 1, method: "name_show", params: [name] })
    await callerLoad(node.rpcPort, body)
    const without = await callerLoad(node.rpcPort, body, SECONDS)
    const flooding = flood({ port, file: questions })
    await pause(1_000 * MARGIN)
    const cpuBefore = cpuSecondsOf(node.child.pid)
    const during = await callerLoad(node.rpcPort, body, SECONDS)
    const cores = (cpuSecondsOf(node.child.pid) - cpuBefore) / SECONDS
    return {
      what: "name_show over HTTP, milliseconds, without and with a flood of DNS questions for one name",
      without: times(without),
      during: times(during),
      flood: await flooding,
      nodeCores: Math.round(100 * cores) / 100
    }
  } finally {
    await node.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}
