import * as Effect from "effect/Effect"
import { unixTime } from "../../base/clock.ts"
import { quantityOf, spanText } from "../../base/quantities.ts"
import type { Json } from "../../rpc/json/json.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { askEach } from "./ask.ts"
import type { Daemon } from "./daemon.ts"
import { type Check, fail, ok, warn } from "./doctorCheck.ts"
import { at, numberAt, objectsOf, textAt, textsOf } from "./jsonText.ts"
import { NAME } from "./outcome.ts"
import { changeLine, hasChain, isOffline, isReady, NO_PEERS_WANTED } from "./syncRows.ts"

type Answer = Json | undefined

export interface NodeAnswers {
  readonly chain: Json
  readonly sync: Answer
  readonly network: Answer
  readonly peers: Answer
  readonly checks: Answer
  readonly webhooks: Answer
  readonly now: number
}

export const askNode = (daemon: Daemon): Effect.Effect<NodeAnswers, RpcClientError> =>
  Effect.gen(function*() {
    const chain = yield* daemon.ask("getblockchaininfo")
    const [sync, network, peers, checks, webhooks] = yield* askEach(daemon, [
      ["getsyncstatus"],
      ["getnetworkinfo"],
      ["getpeerinfo"],
      ["getcheckinfo"],
      ["listwebhooks"]
    ])
    return { chain, sync, network, peers, checks, webhooks, now: yield* unixTime }
  })

const versionCheck = ({ network }: NodeAnswers, version: string): Check => {
  const agent = textAt(network, "subversion") ?? ""
  const [, program = "", other = ""] = /^\/([^:/]*):([^/(]*)/.exec(agent) ?? []
  if (program !== "svcd") {
    return warn("version", {
      text: `the daemon is ${program === "" ? "unknown" : program}, not svcd`,
      remedy: "some commands need svcd"
    })
  }
  return other === version ? ok({ check: "version", text: `svcd ${other}` }) : warn("version", {
    text: `svcd is version ${other}, and ${NAME} is ${version}`,
    remedy: "restart svcd after an upgrade, or upgrade both"
  })
}

/** Tolerance in seconds: blocks more than two hours in the future are refused. */
const WRONG_CLOCK = 3_600
const SLOPPY_CLOCK = 60

const ENOUGH_CLOCKS = 3

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

const clockChecks = ({ peers }: NodeAnswers): ReadonlyArray<Check> => {
  const offsets = objectsOf(peers).flatMap((peer) => numberAt(peer, "timeoffset") ?? [])
  if (offsets.length < ENOUGH_CLOCKS) return []
  const offset = median(offsets)
  const text = `the clock of this machine is ${spanText(Math.abs(offset))} ${
    offset > 0 ? "behind" : "ahead of"
  } those of the peers`
  const remedy = "set the clock and enable time synchronization: timedatectl set-ntp true"
  if (Math.abs(offset) >= WRONG_CLOCK) return [fail("clock", { text, remedy })]
  return [
    Math.abs(offset) >= SLOPPY_CLOCK
      ? warn("clock", { text, remedy })
      : ok({ check: "clock", text: "the clock agrees with the peers" })
  ]
}

const peerChecks = ({ chain, network, sync }: NodeAnswers): ReadonlyArray<Check> => {
  const count = numberAt(network, "connections")
  if (count === undefined) return []
  if (count === 0 && isOffline(sync)) return [ok({ check: "peers", text: NO_PEERS_WANTED })]
  if (at(network, "networkactive") === false) {
    return [fail("peers", {
      text: "networking is turned off",
      remedy: `"${NAME} setnetworkactive true" turns it on`
    })]
  }
  if (count > 0 || textAt(chain, "chain") === "regtest") {
    return [ok({ check: "peers", text: quantityOf(count, "peer") })]
  }
  return [fail("peers", {
    text: "no peers are connected, so no new blocks arrive",
    remedy: "check the network and the firewall, and -proxy, -onlynet and -addpeer; -maxpeers 0 keeps the node offline"
  })]
}

/** Seconds without a block that are unusual. */
const LATE_BLOCK = 4 * 3_600

const syncChecks = ({ chain, now, sync }: NodeAnswers): ReadonlyArray<Check> => {
  if (!isReady(chain, sync)) {
    return [warn("sync", {
      text: `not all names are known yet: ${changeLine(chain, sync)}`,
      remedy: isOffline(sync)
        ? "no blocks arrive from peers: start svcd without -maxpeers 0, or import blocks with -loadblock"
        : `"${NAME} status -wait" waits, and "${NAME} status -watch" shows its progress`
    })]
  }
  const age = now - (numberAt(chain, "time") ?? now)
  if (age > LATE_BLOCK && textAt(chain, "chain") !== "regtest" && hasChain(chain, sync) && !isOffline(sync)) {
    return [warn("sync", {
      text: `the last block is ${spanText(age)} old`,
      remedy: `check "${NAME} peers": the node may be cut off from the network`
    })]
  }
  return [ok({ check: "sync", text: changeLine(chain, sync) })]
}

const dataChecks = ({ chain, checks, network }: NodeAnswers): ReadonlyArray<Check> => {
  const missing = numberAt(checks, "missing_blocks") ?? 0
  const reasonOf = (each: Json): string => `${textAt(each, "what") ?? ""}: ${textAt(each, "reason") ?? ""}`
  const notices = objectsOf(at(checks, "notices")).map(reasonOf)
  const warnings = new Set([...textsOf(at(chain, "warnings")), ...textsOf(at(network, "warnings"))])
  const found = [
    ...objectsOf(at(checks, "doubts")).map((each) =>
      fail("data", {
        text: reasonOf(each),
        remedy: `see docs/data-directory.md; "${NAME} getcheckinfo" has the details`
      })
    ),
    ...notices.map((text) => warn("data", { text, remedy: `"${NAME} getcheckinfo" has the details` })),
    ...(missing === 0
      ? []
      : [warn("data", {
        text: `${quantityOf(missing, "block")} of the chain ${missing === 1 ? "is" : "are"} missing`,
        remedy: "the node fetches them from its peers automatically"
      })]),
    // The warnings include the notices.
    ...[...warnings].filter((text) => !notices.includes(text)).map((text) =>
      warn("warning", { text, remedy: "this warning comes from svcd; its log may have more" })
    )
  ]
  return found.length > 0
    ? found
    : checks === undefined
    ? []
    : [ok({ check: "data", text: "the data on disk has no known damage" })]
}

const BROKEN: ReadonlySet<string> = new Set(["dead", "gone", "cursor"])

const webhookChecks = ({ webhooks }: NodeAnswers): ReadonlyArray<Check> => {
  const hooks = objectsOf(webhooks)
  const broken = hooks.filter((hook) => BROKEN.has(textAt(hook, "state") ?? ""))
  if (hooks.length === 0) return []
  return broken.length === 0
    ? [ok({ check: "webhooks", text: `${quantityOf(hooks.length, "webhook")}, all working` })]
    : broken.map((hook) =>
      fail("webhooks", {
        text: `the webhook ${textAt(hook, "id") ?? ""} no longer delivers anything`,
        remedy: textAt(hook, "remedy") ?? `"${NAME} webhooks" shows the reason`
      })
    )
}

export const nodeChecks = (answers: NodeAnswers, version: string): ReadonlyArray<Check> => [
  versionCheck(answers, version),
  ...clockChecks(answers),
  ...peerChecks(answers),
  ...syncChecks(answers),
  ...dataChecks(answers),
  ...webhookChecks(answers)
]
