import * as Effect from "effect/Effect"
import { monotonic, unixTime } from "../base/clock.ts"
import { grouped, quantityOf, sizeText } from "../base/quantities.ts"
import { Chain } from "../chain/Chain.ts"
import { SyncStatus } from "../chain/SyncStatus.ts"
import { SyncReporter } from "../light/SyncReporter.ts"
import { FeeEstimator } from "../mempool/fees/FeeEstimator.ts"
import { Mempool } from "../mempool/Mempool.ts"
import type { PoolEntry } from "../mempool/PoolEntry.ts"
import { newestOperations } from "../names/events/blockOperations.ts"
import { NameDb } from "../names/NameDb.ts"
import type { PeerInfo } from "../network/peerInfo.ts"
import { PeerManager } from "../network/PeerManager.ts"
import { changeText, deedOfChange } from "../protocol/operationWord.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { makeDeeds, type WaitingSetting } from "./deeds.ts"
import { makeBlockReader } from "./explorer/blocksData.ts"
import { ago } from "./format.ts"
import { type Html, html } from "./html.ts"
import type { PageBody } from "./layout.ts"
import { blockLink, nameLink, namesLink, poolLink, transactionLink } from "./links.ts"
import { stripView } from "./overview/blockStrip.ts"
import { makeBlockWeights } from "./overview/blockWeights.ts"
import { dangerLine, makeNamesToLookAfter } from "./overview/dangerLine.ts"
import { dnsView, makeDnsNow } from "./overview/dnsView.ts"
import { feesNow, feesView } from "./overview/fees.ts"
import { peersView } from "./overview/peersView.ts"
import { makeWaitingBlock } from "./overview/waitingBlock.ts"
import { row } from "./parts.ts"
import { blockView } from "./places.ts"
import { largeSearchView } from "./searchField.ts"
import { SyncSpeed } from "./SyncSpeed.ts"
import { statusWords } from "./syncWords.ts"
import { listedName } from "./visible.ts"

/** The section ids tell the script what to replace. */

const BLOCKS = 8
const CHANGES = 8
const PENDING = 3
const PEERS = 16

/** Blocks searched for operations: six hours of a public network. */
const SEARCHED_BLOCKS = 36

/** The newest pending operations that reveal a name, and the total. */
const pendingIn = (
  pool: typeof Mempool.Service
): { readonly newest: ReadonlyArray<PoolEntry>; readonly total: number } => {
  const newest: Array<PoolEntry> = []
  let total = 0
  for (const entry of pool.entries()) {
    const op = entry.name?.script.operation.op
    if (op === undefined || op === "name_new") continue
    total++
    newest.push(entry)
    if (newest.length > PENDING) newest.shift()
  }
  return { newest: newest.reverse(), total }
}

/** Outbound first, then oldest. */
const byStanding = (a: PeerInfo, b: PeerInfo): number =>
  Number(a.peer.inbound) - Number(b.peer.inbound) || a.peer.connectedAt - b.peer.connectedAt || a.peer.id - b.peer.id

/** Remembers heights between requests. */
const makeOverview = Effect.gen(function*() {
  const chain = yield* Chain
  const names = yield* NameDb
  const manager = yield* PeerManager
  const pool = yield* Mempool
  const status = yield* SyncStatus
  const reporter = yield* SyncReporter
  const estimator = yield* FeeEstimator
  const { params } = chain

  const namesToLookAfter = yield* makeNamesToLookAfter
  const deeds = yield* makeDeeds
  const blocksFrom = yield* makeBlockReader
  const weightOf = yield* makeBlockWeights
  const waitingBlock = yield* makeWaitingBlock
  const dnsNow = yield* makeDnsNow
  const speed = new SyncSpeed({ at: monotonic(), height: (yield* chain.tip).height })

  const changes = Effect.gen(function*() {
    const found = yield* names.readLog((log) => newestOperations(log, { blocks: SEARCHED_BLOCKS, limit: CHANGES }))
    return yield* Effect.forEach(found, ({ before, record }) =>
      Effect.map(chain.headerAt(record.height), (info) => ({
        name: record.name,
        word: changeText(deedOfChange({ record, before })),
        height: record.height,
        /** `undefined` if the block was disconnected meanwhile. */
        time: info?.header.time
      })))
  })

  return Effect.gen(function*() {
    const now = yield* unixTime
    const tip = yield* chain.tip
    const best = yield* chain.headerTip
    const { behind, importing } = yield* chain.progress
    const { inbound, outbound } = yield* manager.count
    const all = yield* manager.peers
    const syncing = yield* status.syncing
    const report = yield* reporter.report
    const words = statusWords({
      now,
      height: tip.height,
      headers: best.height,
      tipTime: tip.header.time,
      headerTime: best.header.time,
      syncing,
      loading: yield* status.loading,
      importing,
      peers: inbound + outbound,
      active: yield* manager.active,
      offline: yield* status.offline,
      report,
      speed: speed.note({ at: monotonic(), height: tip.height }),
      spacing: params.targetSpacing,
      onDemand: params.noRetargeting
    })
    const moving = behind || importing !== undefined
    const pending = pendingIn(pool)
    const listed = yield* blocksFrom(tip.height, BLOCKS)
    const blocks = yield* Effect.forEach(listed, (block) =>
      // Not while each block would be read for one page only.
      Effect.map(moving ? Effect.succeed(undefined) : weightOf(block.info), (weight) => ({ ...block, weight })))
    return {
      now,
      words,
      report,
      tip,
      headers: best.height,
      // Not while blocks connect too fast to count names after each.
      names: moving ? undefined : yield* names.stats({ params, tipHeight: tip.height }),
      mempool: pool.info(),
      blocks,
      waiting: moving || report.window !== undefined ? undefined : yield* waitingBlock(tip.height),
      fees: feesNow(estimator, pool),
      changes: yield* changes,
      pending: { newest: yield* deeds.settings(pending.newest), total: pending.total },
      expiring: moving || syncing || report.window !== undefined ? undefined : yield* namesToLookAfter,
      peers: [...all].sort(byStanding).slice(0, PEERS),
      inbound,
      outbound,
      traffic: yield* manager.totals,
      dns: yield* dnsNow
    }
  })
})

type Overview = Effect.Effect.Success<Effect.Effect.Success<typeof makeOverview>>

const hero =
  html`<div class="hero"><h1><label for="q">Look up a name on the Namecoin chain</label></h1>${largeSearchView}</div>`

const peersText = ({ inbound, outbound }: Overview): string => quantityOf(inbound + outbound, "peer")

/** One quiet line if all is well. */
const calm = (overview: Overview): Html => {
  const { now, report: { height, window }, tip, words: { detail, title } } = overview
  return html`<section id="status" class="state good" aria-label="State of the node">
<p><span class="dot" aria-hidden="true"></span><b>${title}</b><span>block ${
    blockView(tip.height, grouped(tip.height))
  }</span><span class="wide">${ago(tip.header.time, { now })}</span>${
    window !== undefined && html`<span>names up to block ${grouped(height)}</span>`
  }<span>${peersText(overview)}</span></p>${window !== undefined && html`<p class="muted">${detail}</p>`}
</section>`
}

const status = (overview: Overview): Html => {
  const { detail, progress, title, tone } = overview.words
  return tone === "good" ?
    calm(overview) :
    html`<section id="status" class="status ${tone}" aria-labelledby="status-title">
<h2 id="status-title"><span class="dot" aria-hidden="true"></span>${title}</h2>
<p>${detail}</p>
${
      progress !== undefined &&
      html`<progress max="${progress.max}" value="${progress.value}" aria-label="Progress">${
        grouped(100 * progress.value / progress.max)
      } %</progress>`
    }
</section>`
}

const namesText = ({ names, report: { proof, window } }: Overview): string => {
  if (window !== undefined) return `${grouped(window.names)} in recent blocks, proof: ${proof}`
  return names === undefined
    ? "counted once synced"
    : `${grouped(names.active)} active, ${grouped(names.names - names.active)} expired`
}

const node = (overview: Overview): Html => {
  const { headers, inbound, mempool, outbound, tip, traffic } = overview
  return html`<section id="facts" class="card" aria-labelledby="facts-title">
<h2 id="facts-title">This node</h2>
<dl class="record">${
    row("Height", html`${grouped(tip.height)}${headers > tip.height && ` of ${quantityOf(headers, "header")}`}`)
  }${row("Names", html`<a href="${namesLink()}">${namesText(overview)}</a>`)}${
    row(
      "Mempool",
      html`<a href="${poolLink()}">${quantityOf(mempool.size, "transaction")}</a>${
        mempool.size > 0 && `, ${sizeText(mempool.bytes)}`
      }`
    )
  }${row("Peers", html`${grouped(outbound)} outbound, ${grouped(inbound)} inbound`)}${
    traffic.received + traffic.sent > 0 &&
    row("Traffic", html`${sizeText(traffic.received)} received, ${sizeText(traffic.sent)} sent`)
  }</dl>
</section>`
}

const change = (now: number, { height, name, time, word }: Overview["changes"][number]): Html =>
  html`<li><a href="${nameLink(name)}">${listedName(name)}</a><span class="what">${word}</span><span class="when">${
    time === undefined ? blockView(height) : html`<a href="${blockLink(height)}">${ago(time, { now })}</a>`
  }</span></li>`

const pendingChange = (
  now: number,
  { entry: { time, transaction }, operation: { name }, word }: WaitingSetting
): Html =>
  html`<li><a href="${nameLink(name)}">${
    listedName(name)
  }</a><span class="what"><span class="badge busy">pending</span> ${word}</span><span class="when"><a href="${
    transactionLink(transaction.txid)
  }">${ago(time, { now })}</a></span></li>`

const changes = ({ changes, now, pending }: Overview): Html => {
  const hidden = pending.total - pending.newest.length
  return html`<section id="operations" class="card" aria-labelledby="operations-title">
<div class="section-head"><h2 id="operations-title">Name operations</h2><a href="${
    namesLink({ order: "changed" })
  }">All names</a></div>
${
    pending.total + changes.length === 0
      ? html`<p class="empty">No names were registered or updated in recent blocks.</p>`
      : html`<ul class="operations timed">${pending.newest.map((each) => pendingChange(now, each))}${
        hidden > 0 && html`<li><a href="${poolLink({ names: true })}">${grouped(hidden)} more pending</a></li>`
      }${changes.map((each) => change(now, each))}</ul>`
  }
</section>`
}

const peers = ({ inbound, now, outbound, peers }: Overview): Html =>
  peersView({ now, peers, more: inbound + outbound - peers.length })

const overviewView = (overview: Overview): Html =>
  html`${hero}${status(overview)}${dangerLine(overview.expiring)}${stripView(overview)}${
    feesView(overview.fees)
  }<div class="columns uneven">${changes(overview)}<div class="side">${node(overview)}${
    overview.dns !== undefined && dnsView(overview.dns, overview.now)
  }${peers(overview)}</div></div>`

/** With and without wallets. One overview serves all requests of some milliseconds. */
export const makeOverviewPage = (overviewMs: number) =>
  Effect.gen(function*() {
    const gather = yield* makeOverview
    const alone = yield* Effect.makeSemaphore(1)
    let kept: { readonly until: number; readonly whole: PageBody; readonly others: PageBody } | undefined

    const shown = (overview: Overview): PageBody => ({
      status: 200,
      title: overview.words.title,
      now: overview.now,
      live: true,
      largeSearch: true,
      // While many blocks come, each second would have its event.
      events: overview.words.tone === "good" ? "./events" : undefined,
      main: overviewView(overview)
    })

    // Requests that arrive meanwhile wait for it.
    const overview = alone.withPermits(1)(Effect.suspend(() => {
      if (kept !== undefined && monotonic() < kept.until) return Effect.succeed(kept)
      return Effect.map(gather, (found) => {
        const whole = shown(found)
        const others = found.expiring === undefined ? whole : shown({ ...found, expiring: undefined })
        return kept = { until: monotonic() + overviewMs, whole, others }
      })
    }))

    return ({ seesWallets }: { readonly seesWallets: boolean }): Effect.Effect<PageBody, StorageFailure> =>
      Effect.map(overview, ({ others, whole }) => seesWallets ? whole : others)
  })
