// Attacks a node with a small heap by scripted hostile peers and callers, and reports what honest ones noticed.
// `npm run attack -- [--short] [--only NAME] [--heap MB] [--json FILE] [--ping MS] [--nameshow MS] [--list]`

import { type ChildProcess, fork } from "node:child_process"
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { cpuSecondsOf } from "../bench/cpuTime.ts"
import { pause } from "../bench/nodeProcess.ts"
import { type Attack, ATTACKS } from "./catalogue.ts"
import { BASELINE, type Figures, judge, latency } from "./figures.ts"
import type { AttackerNews, AttackerOrder, ProberNews, ProberOrder } from "./observed.ts"
import { type Options, readOptions } from "./options.ts"
import { busySeconds } from "./processes.ts"
import { head, line } from "./report.ts"
import { TargetNode, Template } from "./Target.ts"

/** Seconds of each attack in the short form. */
const SHORT_SECONDS = 4

/** Milliseconds after which something that should answer at once counts as hanging. */
const PATIENCE = 30_000

/** Milliseconds that the node has to end after the order to stop. */
const STOPPING = 20_000

/** Milliseconds between the start of an attack and of the measurement: a hundred peers shake hands in that time. */
const SETTLING = 500

/** Sends an order to a process. */
const order = (child: ChildProcess, what: ProberOrder | AttackerOrder): void => void child.send(what)

type News = ProberNews | AttackerNews
type NewsOf<T extends News["type"]> = Extract<News, { readonly type: T }>

const isOf = <T extends News["type"]>(message: News, type: T): message is NewsOf<T> => message.type === type

/** Waits for a message of a type. */
const news = <T extends News["type"]>(child: ChildProcess, type: T): Promise<NewsOf<T>> =>
  new Promise((resolve, reject) => {
    const give = (why: string): void => reject(new Error(`${child.spawnfile}: no "${type}": ${why}`))
    const timer = setTimeout(() => give("it took too long"), PATIENCE)
    const gone = (): void => give("the process ended")
    child.once("exit", gone)
    const hear = (message: News): void => {
      if (!isOf(message, type)) return
      clearTimeout(timer)
      child.off("message", hear).off("exit", gone)
      resolve(message)
    }
    child.on("message", hear)
  })

const start = (script: string): ChildProcess => fork(fileURLToPath(new URL(script, import.meta.url)))

/** Stops a node; returns how it ended where it did so badly. */
const stop = async (target: TargetNode): Promise<string | undefined> => {
  if (target.ending !== undefined) return target.ending
  target.node.child.kill()
  for (const until = performance.now() + STOPPING; performance.now() < until; await pause(20)) {
    if (target.ending !== undefined) return target.ending === "exit code 0" ? undefined : target.ending
  }
  target.node.child.kill("SIGKILL")
  return `it did not stop within ${STOPPING / 1000} s`
}

/** Waits until a node that has just started answers with its last block. */
const untilOpen = async (target: TargetNode): Promise<void> => {
  const { height } = target.target.tip
  for (const until = performance.now() + PATIENCE; performance.now() < until; await pause(50)) {
    // Sent without credentials, as RPC may require none.
    const answer = await fetch(`http://127.0.0.1:${target.node.rpcPort}/health`).catch(() => undefined)
    if (answer?.status === 200 && (await answer.text()).includes(`"block_height":${height},`)) return
    if (target.ending !== undefined) break
  }
  throw new Error(`the node did not start: ${target.ending ?? "it still runs"}\n${target.logged}`)
}

/** Runs one attack, or none for the baseline, against a node of its own. */
const measure = async (attack: Attack | undefined, template: Template, options: Options): Promise<Figures> => {
  const name = attack?.name ?? BASELINE
  const seconds = options.short ? SHORT_SECONDS : attack?.seconds ?? SHORT_SECONDS
  const prober = start("./prober.js")
  const attacker = attack === undefined ? undefined : start("./attacker.js")
  let node: TargetNode | undefined
  try {
    const { port } = await news(prober, "listening")
    const { heap, program, runtime } = options
    const [user, password] = attack?.authorization?.split(":") ?? []
    const credentials = user === undefined || password === undefined ? [] : ["-rpcuser", user, "-rpcpassword", password]
    node = await TargetNode.start(template, { heapMB: heap, program, runtime }, port, credentials)
    const { target } = node
    await untilOpen(node)
    order(prober, { type: "begin", target, authorization: attack?.authorization })
    const ready = news(prober, "ready")
    if (attacker !== undefined) {
      order(attacker, { type: "prepare", attack: name, target })
      await news(attacker, "prepared")
    }
    await ready
    if (attacker !== undefined) order(attacker, { type: "begin" })
    order(prober, { type: "measure" })
    const own = [node.node.child, prober, ...(attacker === undefined ? [] : [attacker]), process]
    const ownSeconds = () => own.reduce((sum, each) => sum + cpuSecondsOf(each.pid), 0)
    const [cpu, busy, ours] = [node.cpuSeconds, busySeconds(), ownSeconds()]
    let [used, foreign, peakMB] = [0, 0, 0]
    for (const until = performance.now() + SETTLING + seconds * 1000; performance.now() < until;) {
      await pause(50)
      if (node.ending !== undefined) break
      // A process that has ended has no figures any more.
      used = Math.max(used, node.cpuSeconds - cpu)
      foreign = Math.max(foreign, busySeconds() - busy - (ownSeconds() - ours))
      peakMB = Math.max(peakMB, node.node.peakMemoryMB)
    }
    const told = news(prober, "observed")
    order(prober, { type: "tell" })
    const observed = await told
    const effort = attacker === undefined ? undefined : news(attacker, "effort")
    if (attacker !== undefined) order(attacker, { type: "stop" })
    const { bytes, connections } = await effort ?? { bytes: 0, connections: 0 }
    const ending = await stop(node)
    return {
      attack: name,
      seconds,
      ending,
      complaints: ending === undefined ? observed.complaints.map(([what, times]) => `${times} x ${what}`) : [],
      ping: latency(observed.pings),
      nameShow: latency(observed.calls),
      newCaller: latency(observed.newCalls),
      cpuSeconds: used,
      foreignCpuSeconds: foreign,
      peakMB,
      connections,
      sentMB: bytes / 1e6
    }
  } finally {
    prober.kill()
    attacker?.kill()
    if (node !== undefined) {
      await stop(node)
      if (options.logs !== undefined && existsSync(node.log)) {
        mkdirSync(options.logs, { recursive: true })
        copyFileSync(node.log, join(options.logs, `${name.replaceAll(/[^a-z0-9]+/g, "-")}.log`))
      }
      node.remove()
    }
  }
}

const say = (text: string): void => void process.stdout.write(`${text}\n`)

const run = async (options: Options): Promise<boolean> => {
  const chosen = ATTACKS.filter(({ name, short }) =>
    (options.only.length === 0 || options.only.some((start) => name.startsWith(start))) &&
    (!options.short || short === true || options.only.length > 0)
  )
  if (chosen.length === 0) throw new RangeError(`no attack is called ${options.only.join(" or ")}; --list shows all`)
  const template = await Template.make(options)
  const results: Array<Figures> = []
  try {
    say(head())
    for (const attack of [undefined, ...chosen]) {
      const figures = await measure(attack, template, options)
      results.push(figures)
      say(line(figures, options.limits))
    }
  } finally {
    template.remove()
  }
  const judged = results.map((figures) => ({ ...figures, faults: judge(figures, options.limits) }))
  const failed = judged.filter(({ faults }) => faults.length > 0)
  if (options.json !== undefined) {
    const { heap, limits } = options
    writeFileSync(options.json, `${JSON.stringify({ heapMB: heap, limits, results: judged }, undefined, 2)}\n`)
  }
  say(`\n${judged.length - failed.length} held, ${failed.length} failed`)
  return failed.length === 0
}

const options = readOptions(process.argv.slice(2))
if (options.list) { for (const { name, short } of ATTACKS) say(short === true ? `${name} (short form)` : name) }
else process.exitCode = await run(options) ? 0 : 1
