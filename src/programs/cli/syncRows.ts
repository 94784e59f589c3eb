import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { barLine } from "../../base/progressBar.ts"
import { grouped, quantityOf } from "../../base/quantities.ts"
import { progressText, SYNC_PHASES, type SyncPhase } from "../../light/syncReport.ts"
import type { Json } from "../../rpc/json/json.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { ask } from "./ask.ts"
import type { Daemon } from "./daemon.ts"
import { at, numberAt, textAt } from "./jsonText.ts"
import type { CliInput, Screen } from "./outcome.ts"
import type { Colour } from "./table.ts"
import { waitingOn } from "./waiting.ts"

/** Sync progress, from `getsyncstatus`, which only svcd has. */

type Answer = Json | undefined

interface Doing {
  readonly phase: SyncPhase
  readonly percent: number
  readonly secondsLeft: number | undefined
}

const doingOf = (sync: Answer): Doing | undefined => {
  const phase = SYNC_PHASES.find((known) => known === textAt(sync, "phase"))
  const percent = numberAt(sync, "percent")
  return phase === undefined || percent === undefined
    ? undefined
    : { phase, percent, secondsLeft: numberAt(sync, "secondsleft") }
}

const BAR_COLUMNS = 100
const LABEL = 12

const progressOf = ({ percent, ...doing }: Doing, { columns = BAR_COLUMNS, terminal }: Screen): string => {
  const facts = progressText({ ...doing, percent })
  return terminal ? barLine({ facts, share: percent / 100 }, columns - LABEL) : facts
}

const PROVED: ReadonlyMap<string, string> = new Map([
  ["work", "from recent blocks (work)"],
  ["signatures", "from recent blocks with checked signatures (signatures)"]
])

export const syncRows = (
  sync: Answer,
  screen: Screen
): ReadonlyArray<readonly [label: string, value: string, colour?: Colour | undefined]> => {
  const doing = doingOf(sync)
  if (doing === undefined) return []
  const proved = PROVED.get(textAt(sync, "proof") ?? "")
  const height = grouped(numberAt(sync, "height") ?? 0)
  const unchecked = numberAt(at(sync, "window"), "unchecked") ?? 0
  const left = unchecked > 0 ? `, ${quantityOf(unchecked, "signature")} to check` : ""
  const isKnown = at(sync, "synced") === true
  const answers = isKnown ? `up to block ${height}, ${proved ?? ""}${left}` : "not all names are known yet"
  return [
    ...(doing.phase === "ready" ? [] : [["Sync", progressOf(doing, screen), "yellow"] as const]),
    ...(proved === undefined ? [] : [["Answers", answers, isKnown ? "green" : "yellow"] as const])
  ]
}

export const scanOf = (wallet: Answer): { readonly share: number; readonly facts: string } | undefined => {
  const share = numberAt(wallet, "scanning", "progress")
  return share === undefined
    ? undefined
    : { share, facts: `scanning the chain for the wallet's keys: ${Math.floor(share * 100)} % done` }
}

export const scanRows = (
  wallet: Answer,
  { columns = BAR_COLUMNS, terminal }: Screen
): ReadonlyArray<readonly [label: string, value: string, colour?: Colour | undefined]> => {
  const scan = scanOf(wallet)
  return scan === undefined
    ? []
    : [["Rescan", terminal ? barLine(scan, columns - LABEL) : scan.facts, "yellow"]]
}

/** Changes at most once per whole percent. */
export const changeLine = (chain: Json, sync: Answer): string => {
  const [blocks = 0, headers = 0] = [numberAt(chain, "blocks"), numberAt(chain, "headers")]
  const doing = doingOf(sync)
  const state = hasChain(chain, sync)
    ? "synced"
    : doing === undefined
    ? "syncing"
    : progressText({ ...doing, secondsLeft: undefined })
  return `height ${grouped(blocks)} of ${grouped(Math.max(blocks, headers))}, ${state}`
}

/** Milliseconds between polls. */
const INTERVAL = 500

/** Other daemons tell only whether their chain is complete. */
const look = (daemon: Daemon): Effect.Effect<{ readonly done: boolean; readonly doing: Doing }, RpcClientError> =>
  Effect.gen(function*() {
    const sync = yield* ask(daemon, "getsyncstatus")
    const doing = doingOf(sync)
    if (doing !== undefined) return { done: at(sync, "synced") === true, doing }
    const chain = yield* daemon.ask("getblockchaininfo")
    return {
      done: isSynced(chain),
      doing: {
        phase: "blocks",
        percent: 100 * (numberAt(chain, "verificationprogress") ?? 0),
        secondsLeft: undefined
      }
    }
  })

/** Every known block is connected, and the node takes these for all blocks. */
const isSynced = (chain: Json): boolean =>
  at(chain, "initialblockdownload") === false && numberAt(chain, "blocks") === numberAt(chain, "headers")

export const isOffline = (sync: Answer): boolean => at(sync, "offline") === true

export const NO_PEERS_WANTED = "turned off (-maxpeers 0)"

/** Names are answered from the last blocks. */
const hasWindow = (sync: Answer): boolean => (at(sync, "window") ?? null) !== null

/** Only the last blocks, without wanting others. */
export const hasLastBlocksAlone = (sync: Answer): boolean => hasWindow(sync) && textAt(sync, "phase") === "ready"

export const hasChain = (chain: Json, sync: Answer): boolean => {
  const phase = textAt(sync, "phase")
  return phase === undefined ? isSynced(chain) : phase === "ready" && !hasWindow(sync)
}

/** All names are known up to the tip, as in svcd's `/ready?names`. */
export const isReady = (chain: Json, sync: Answer): boolean => {
  const phase = textAt(sync, "phase")
  return hasWindow(sync) ? phase !== "headers" && phase !== "window" : hasChain(chain, sync)
}

/** For a reader of lines: one line per tenth. */
const tenthOf = ({ percent, phase }: Doing): string =>
  progressText({ phase, percent: 10 * Math.floor(percent / 10), secondsLeft: undefined })

export const waitForNames = (
  daemon: Daemon,
  input: Pick<CliInput, "note" | "progress">
): Effect.Effect<void, RpcClientError> =>
  Effect.gen(function*() {
    const waiting = waitingOn(input)
    yield* Effect.addFinalizer(() => waiting.end)
    for (;;) {
      const { doing, done } = yield* look(daemon)
      if (done) return
      waiting.show({ facts: progressText(doing), share: doing.percent / 100, state: tenthOf(doing) })
      yield* Clock.sleep(INTERVAL)
    }
  }).pipe(Effect.scoped)

/** Shows a wallet's scan until interrupted; nothing without a terminal. */
export const drawScan = (daemon: Daemon, { progress }: Pick<CliInput, "progress">): Effect.Effect<void> =>
  Effect.gen(function*() {
    if (progress === undefined) return
    const waiting = waitingOn({ progress, note: () => {} })
    yield* Effect.addFinalizer(() => waiting.end)
    for (;;) {
      yield* Clock.sleep(INTERVAL)
      const scan = scanOf(yield* ask(daemon, "getwalletinfo"))
      if (scan !== undefined) waiting.show(scan)
    }
  }).pipe(Effect.scoped, Effect.ignore)
